"""Loops, couplings, drives, home and base of MJCF files, against MuJoCo itself."""

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError
from surefoot.robot.read_mjcf import mjcf_links, read_mjcf, with_base
from tests.robot.mjcf_files import INERTIAL, TWO, assert_same_as_mujoco, robot_with, whole


def test_joint_equality_is_a_coupling_about_the_reference(tmp_path):
    after = '<equality><joint name="c" joint1="jb" joint2="ja" polycoef="0.3 -2 0 0 0"/></equality>'
    robot = robot_with(tmp_path, after)
    (coupling,) = robot.couplings
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    data.qpos[0] = 0.77
    data.qpos[1] = coupling.offset + coupling.ratio * data.qpos[0]
    mujoco.mj_forward(model, data)
    assert data.ne == 1
    assert abs(data.efc_pos[0]) < 1e-12
    assert read_mjcf(tmp_path / "robot.xml", mimic="reduce").nq == 1


@pytest.mark.parametrize(
    ("constraint", "size"),
    [
        ('<connect body1="a" body2="b" anchor="0.2 0.3 0.4"/>', 3),
        ('<connect body1="a" anchor="0.2 0.3 0.4"/>', 3),
        ('<connect site1="sa" site2="sb"/>', 3),
        ('<weld body1="a" body2="b" anchor="0.1 0.2 0.3" relpose="0.5 0.1 0 1 0.2 0.3 0.1"/>', 6),
        ('<weld body1="b" body2="a"/>', 6),
        ('<weld site1="sa" site2="sb"/>', 6),
    ],
)
def test_loops_are_open_as_far_as_in_mujoco(tmp_path, constraint, size):
    robot = robot_with(tmp_path, f"<equality>{constraint}</equality>")
    (loop,) = robot.loops
    assert loop.size == size
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    rng = np.random.default_rng(3)
    for _ in range(3):
        data.qpos[:] = rng.uniform(-1, 1, 2)
        mujoco.mj_forward(model, data)
        frames = robot.placements(data.qpos)
        T_a = frames[loop.frame_a] @ loop.placement_a
        T_b = frames[loop.frame_b] @ loop.placement_b
        np.testing.assert_allclose(T_a[:3, 3] - T_b[:3, 3], data.efc_pos[:3], atol=1e-9)
        if size == 6:
            angle = np.linalg.norm(pin.log3(T_a[:3, :3].T @ T_b[:3, :3]))
            np.testing.assert_allclose(np.linalg.norm(data.efc_pos[3:6]), np.sin(0.5 * angle), atol=1e-9)


@pytest.mark.parametrize(
    ("constraint", "reason"),
    [
        ('<joint joint1="ja" polycoef="0.1 0 0 0 0"/>', "holds one joint still"),
        ('<joint joint1="ja" joint2="jb" polycoef="0 1 0.5 0 0"/>', "higher degree"),
        ('<connect body1="a" body2="b" anchor="0 0 0" active="false"/>', "not active"),
    ],
)
def test_other_equalities_are_noted(tmp_path, constraint, reason):
    robot = robot_with(tmp_path, f"<equality>{constraint}</equality>")
    assert not robot.loops
    assert not robot.couplings
    assert any(reason in note.message for note in robot.notes)


def test_drives(tmp_path):
    body = TWO.replace('name="ja"', 'name="ja" armature="0.5" damping="0.3" frictionloss="0.1"')
    body += f'<body name="c"><joint name="jc" armature="0.7"/><joint name="jd" type="slide"/>{INERTIAL}</body>'
    after = (
        '<tendon><fixed name="t"><joint joint="jc" coef="1"/></fixed></tendon>'
        '<actuator><motor joint="jb" gear="-10" ctrlrange="-3 2" armature="0.02" damping="0.001"/>'
        '<position joint="ja" kp="100" forcerange="-5 5"/><velocity joint="ja" kv="1" forcerange="-1 1"/>'
        '<motor joint="jd" gear="2" forcerange="-4 4" ctrlrange="-1 1"/>'
        '<motor name="pull" tendon="t"/></actuator>'
    )
    robot = robot_with(tmp_path, after, body)
    jb, ja, jd = robot.drives
    assert [drive.joint for drive in robot.drives] == ["jb", "ja", "jd"]
    assert (jb.gear_ratio, jb.torque_limit) == (10.0, 30.0)
    assert jb.armature == pytest.approx(0.02 * 100)
    assert jb.viscous_friction == pytest.approx(0.001 * 100)
    assert (ja.torque_limit, ja.armature, ja.viscous_friction, ja.dry_friction) == (6.0, 0.5, 0.3, 0.1)
    assert jd.torque_limit == 2.0
    texts = [str(note) for note in robot.notes]
    for part in ("pull: actuator dropped", "t: tendon dropped", "servo law dropped"):
        assert any(part in text for text in texts)
    assert_same_as_mujoco(tmp_path / "robot.xml", robot, np.random.default_rng(0))


def test_without_actuators_every_joint_is_driven(tmp_path):
    assert mjcf_links(whole(tmp_path, f"<worldbody>{TWO}</worldbody>")).parts.drives is None
    assert [drive.joint for drive in read_mjcf(tmp_path / "robot.xml").drives] == ["ja", "jb"]


FLOATING = (
    '<body name="a" pos="0 0 2" euler="0 0 90"><freejoint name="f"/><geom size="0.1"/>'
    '<body name="b" pos="0 0 -1"><joint name="j" range="10 60"/><geom size="0.1"/></body></body>'
)


def test_home_is_the_keyframe_of_that_name(tmp_path):
    keys = (
        '<keyframe><key name="crouch" qpos="0 0 1 1 0 0 0 0.2"/>'
        '<key name="home" qpos="1 2 3 0 1 0 0 0.5"/><key name="stand" qpos="0 0 1 1 0 0 0 0.1"/></keyframe>'
    )
    np.testing.assert_allclose(robot_with(tmp_path, keys, FLOATING).home, [1, 2, 3, 1, 0, 0, 0, 0.5])
    no_home = keys.replace('"home"', '"rest"').replace('"stand"', '"stand_up"')
    np.testing.assert_allclose(robot_with(tmp_path, no_home, FLOATING).home[-1], 0.1)
    np.testing.assert_allclose(robot_with(tmp_path, no_home.replace("stand_up", "z"), FLOATING).home[-1], 0.2)


def test_home_without_keyframe_is_the_initial_pose_inside_the_limits(tmp_path):
    robot = robot_with(tmp_path, "", FLOATING)
    np.testing.assert_allclose(robot.home, [0, 0, 2, 0, 0, np.sqrt(0.5), np.sqrt(0.5), np.deg2rad(10)])


def test_other_bases(tmp_path):
    found = mjcf_links(whole(tmp_path, f"<worldbody>{FLOATING}</worldbody>"))
    assert with_base(found, "auto") is found
    path = tmp_path / "robot.xml"
    fixed, planar = read_mjcf(path, base="fixed"), read_mjcf(path, base="planar")
    assert (fixed.nq, planar.nq) == (1, 5)
    for robot in (fixed, planar):
        np.testing.assert_allclose(robot.placements(robot.neutral)["a"], found.start, atol=1e-12)
    hanging = whole(tmp_path, f'<worldbody><body name="a" pos="0 0 1">{INERTIAL}</body></worldbody>', "fixed.xml")
    assert read_mjcf(hanging).nq == 0
    assert read_mjcf(hanging, base="floating").nq == 7
    with pytest.raises(ModelError, match="could be put on"):
        read_mjcf(whole(tmp_path, f"<worldbody>{TWO}</worldbody>", "two.xml"), base="floating")


def test_what_is_dropped_is_said(tmp_path):
    body = (
        f'<body name="m" mocap="true"/><body name="a"><joint name="j" type="ball" stiffness="3" range="0 20"/>'
        f"{INERTIAL}</body>"
    )
    robot = read_mjcf(whole(tmp_path, f'<option gravity="0 0 -1.6"/><worldbody>{body}</worldbody>'))
    texts = "\n".join(str(note) for note in robot.notes)
    for part in ("m: mocap body", "j: spring", "j: limit of the ball joint", "gravity [0.0, 0.0, -1.6]"):
        assert part in texts
