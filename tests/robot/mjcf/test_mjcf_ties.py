"""Loops, couplings, drives, home and base of MJCF files, against MuJoCo itself."""

from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import ModelError
from surefoot.robot.loading import load
from surefoot.robot.mjcf.read import mjcf_links, with_base
from surefoot.robot.model.robot import Robot
from surefoot.spatial import quaternion
from tests.robot.mjcf_files import INERTIAL, TWO, assert_same_as_mujoco, random_qpos, whole


def robot_with(folder: Path, after: str, body: str = TWO, **options: str) -> Robot:
    return load(whole(folder, f"<worldbody>{body}</worldbody>{after}"), **options)


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
    assert load(tmp_path / "robot.xml", mimic="reduce").nq == 1


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


@pytest.mark.parametrize(
    "second",
    [
        '<joint joint1="jb" joint2="ja" polycoef="0.3 -3 0 0 0"/>',
        '<joint joint1="ja" joint2="jb" polycoef="0.1 -0.333333 0 0 0"/>',
    ],
)
def test_an_equality_that_says_the_same_again_is_merged(tmp_path, second):
    first = '<joint name="first" joint1="jb" joint2="ja" polycoef="0.3 -3 0 0 0"/>'
    robot = robot_with(tmp_path, f"<equality>{first}{second}</equality>")
    assert [(tie.joint, tie.source, tie.ratio) for tie in robot.couplings] == [("jb", "ja", -3.0)]
    assert any("equivalent to `first`" in note.message for note in robot.notes)
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    data.qpos[:] = 0.77, robot.couplings[0].offset - 3.0 * 0.77
    mujoco.mj_forward(model, data)
    np.testing.assert_allclose(data.efc_pos[:2], 0.0, atol=1e-5)


@pytest.mark.parametrize(
    "second",
    [
        '<joint joint1="jb" joint2="ja" polycoef="0.3 -2.9 0 0 0"/>',
        '<joint joint1="ja" joint2="jb" polycoef="0.1 -3 0 0 0"/>',
    ],
)
def test_equalities_that_contradict_each_other_are_refused(tmp_path, second):
    first = '<joint name="first" joint1="jb" joint2="ja" polycoef="0.3 -3 0 0 0"/>'
    with pytest.raises(ModelError, match="follows"):
        robot_with(tmp_path, f"<equality>{first}{second}</equality>")


def mujoco_torques(path: Path, controls: list[float]) -> list[float]:
    """Torque on the first joint for each control of all actuators, from MuJoCo."""
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    out = []
    for control in controls:
        data.ctrl[:] = control
        mujoco.mj_forward(model, data)
        out.append(float(data.qfrc_actuator[0]))
    return out


@pytest.mark.parametrize(
    ("actuators", "limit"),
    [
        ('<motor joint="ja" gear="-10" ctrlrange="-1 2"/>', 10.0),
        ('<motor joint="ja" gear="10" ctrlrange="-1 2"/>', 10.0),
        ('<motor joint="ja" gear="-2" ctrlrange="-9 9" forcerange="-3 5"/>', 6.0),
        ('<motor joint="ja" ctrlrange="0 4"/>', 4.0),
        ('<motor joint="ja" ctrlrange="-1 2"/><motor joint="ja" gear="3" ctrlrange="-1 1"/>', 4.0),
        ('<general joint="ja" gainprm="-5" ctrlrange="-1 3"/>', 5.0),
    ],
)
def test_the_torque_limit_is_the_smaller_side_of_what_mujoco_gives(tmp_path, actuators, limit):
    robot = robot_with(tmp_path, f"<actuator>{actuators}</actuator>")
    low, high = sorted(mujoco_torques(tmp_path / "robot.xml", [-100.0, 100.0]))
    assert robot.drives[0].torque_limit == pytest.approx(limit)
    assert limit == pytest.approx(min(abs(x) for x in (low, high) if x))
    (note,) = [item for item in robot.notes if item.message.startswith("`ja`: torque from")]
    assert note.place == f"{tmp_path / 'robot.xml'}:{note.line}"
    assert f"from {low:g} to {high:g}" in note.message
    reversed_sign = any("command sign is reversed" in item.message for item in robot.notes)
    assert reversed_sign == ('gear="-' in actuators)


def test_equal_sides_need_no_note(tmp_path):
    robot = robot_with(tmp_path, '<actuator><motor joint="ja" gear="7" ctrlrange="-2 2"/></actuator>')
    assert robot.drives[0].torque_limit == 14.0
    assert not robot.notes


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
    assert (jb.gear_ratio, jb.torque_limit) == (10.0, 20.0)
    assert jb.armature == pytest.approx(0.02 * 100)
    assert jb.viscous_friction == pytest.approx(0.001 * 100)
    assert (ja.torque_limit, ja.armature, ja.viscous_friction, ja.dry_friction) == (6.0, 0.5, 0.3, 0.1)
    assert jd.torque_limit == 2.0
    texts = [str(note) for note in robot.notes]
    assert any("`pull`: actuator dropped" in text for text in texts)
    assert (ja.servo_stiffness, ja.servo_damping, jb.servo_stiffness) == (100.0, 1.0, 0.0)
    assert_same_as_mujoco(tmp_path / "robot.xml", robot, np.random.default_rng(0))


def test_without_actuators_every_joint_is_driven(tmp_path):
    assert mjcf_links(whole(tmp_path, f"<worldbody>{TWO}</worldbody>")).parts.drives is None
    assert [drive.joint for drive in load(tmp_path / "robot.xml").drives] == ["ja", "jb"]


FLOATING = (
    '<body name="a" pos="0 0 2" euler="0 0 90"><freejoint name="f"/><geom size="0.1"/>'
    '<body name="b" pos="0 0 -1"><joint name="j" range="10 60"/><geom size="0.1"/></body></body>'
)


def lowest_corner(robot):
    return min(corners[:, 2].min() for corners in robot.contact_corners(robot.home).values())


def test_home_is_the_keyframe_of_that_name_with_the_feet_on_the_ground(tmp_path):
    keys = (
        '<keyframe><key name="crouch" qpos="0 0 1 1 0 0 0 0.2"/>'
        '<key name="home" qpos="1 2 3 0 1 0 0 0.5"/><key name="stand" qpos="0 0 1 1 0 0 0 0.1"/></keyframe>'
    )
    upright = keys.replace("1 2 3 0 1 0 0 0.5", "1 2 3 0 0 0 1 0.5")
    robot = robot_with(tmp_path, upright, FLOATING)
    np.testing.assert_allclose(robot.home, [1, 2, 1.1, 0, 0, 1, 0, 0.5], atol=1e-12)
    assert lowest_corner(robot) == pytest.approx(0.0, abs=1e-12)
    no_home = keys.replace('"home"', '"rest"').replace('"stand"', '"stand_up"')
    np.testing.assert_allclose(robot_with(tmp_path, no_home, FLOATING).home[-1], 0.1)
    np.testing.assert_allclose(robot_with(tmp_path, no_home.replace("stand_up", "z"), FLOATING).home[-1], 0.2)


def test_home_without_keyframe_is_the_initial_pose_well_inside_the_limits(tmp_path):
    """5 % of the range of 50° from the limit at 10°."""
    robot = robot_with(tmp_path, "", FLOATING)
    np.testing.assert_allclose(robot.home, [0, 0, 1.1, 0, 0, np.sqrt(0.5), np.sqrt(0.5), np.deg2rad(12.5)])


def test_home_among_keyframes_of_other_names_is_the_tallest_stand_on_two_feet(tmp_path):
    leg = (
        '<body name="{s}_leg" pos="0 {y} 0"><joint name="{s}" axis="0 1 0"/><geom size="0.05" pos="0 0 -0.2"/>'
        '<body name="{s}_foot" pos="0 0 -0.4"><joint name="{s}_ankle" axis="0 1 0"/>'
        '<geom type="box" size="0.1 0.05 0.02"/></body></body>'
    )
    legs = leg.format(s="left", y=0.1) + leg.format(s="right", y=-0.1)
    body = f'<body name="trunk" pos="0 0 5"><freejoint/><geom size="0.1"/>{legs}</body>'
    keys = {"stand_on_left": "0 0 1.2 -1.2", "squat": "0.8 -0.8 0.8 -0.8", "prone": "1.5 0 1.5 0"}
    text = "".join(f'<key name="{name}" qpos="0 0 1 1 0 0 0 {q}"/>' for name, q in keys.items())
    robot = robot_with(tmp_path, f"<keyframe>{text}</keyframe>", body)
    np.testing.assert_allclose(robot.home, [0, 0, 0.42, 0, 0, 0, 1, 0, 0, 0, 0], atol=1e-9)
    assert set(robot.contacts) == {"left_foot", "right_foot"}
    alone = robot_with(tmp_path, f'<keyframe><key name="squat" qpos="0 0 1 1 0 0 0 {keys["squat"]}"/></keyframe>', body)
    np.testing.assert_allclose(alone.home[7:], [0.8, -0.8, 0.8, -0.8])
    assert lowest_corner(alone) == pytest.approx(0.0, abs=1e-12)


def test_other_bases(tmp_path):
    found = mjcf_links(whole(tmp_path, f"<worldbody>{FLOATING}</worldbody>"))
    assert with_base(found, "auto") is found
    path = tmp_path / "robot.xml"
    fixed, planar = load(path, base="fixed"), load(path, base="planar")
    assert (fixed.nq, planar.nq) == (1, 5)
    for robot in (fixed, planar):
        np.testing.assert_allclose(robot.placements(robot.neutral)["a"], found.start, atol=1e-12)
    hanging = whole(tmp_path, f'<worldbody><body name="a" pos="0 0 1">{INERTIAL}</body></worldbody>', "fixed.xml")
    assert load(hanging).nq == 0
    assert load(hanging, base="floating").nq == 7
    with pytest.raises(ModelError, match="could be put on"):
        load(whole(tmp_path, f"<worldbody>{TWO}</worldbody>", "two.xml"), base="floating")


LYING = (
    '<body name="torso" pos="0.3 -0.2 1" euler="90 0 0">{}<geom type="box" size="0.1 0.2 0.3"/>'
    '<body name="arm" pos="0 0.1 0.4"><joint name="j" axis="1 0 0"/><geom size="0.1"/></body></body>'
)


@pytest.mark.parametrize("joint", ["", '<freejoint name="f"/>'])
def test_a_planar_base_moves_in_the_plane_of_the_world(tmp_path, joint):
    own, robot = (robot_with(tmp_path, "", LYING.format(joint), base=base) for base in ("fixed", "planar"))
    at, start = robot.placements(robot.neutral), own.placements(own.neutral)
    for name in ("torso", "arm"):
        np.testing.assert_allclose(at[name], start[name], atol=1e-12)
    assert robot.base_joint == 0
    for step in ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]):
        moved = robot.placements(pin.integrate(robot.model, robot.neutral, np.array([*step, 0.0])))
        for name in ("torso", "arm"):
            np.testing.assert_allclose(moved[name][:3, 3] - start[name][:3, 3], step, atol=1e-12)
            np.testing.assert_allclose(moved[name][:3, :3], start[name][:3, :3], atol=1e-12)
    turned = robot.placements(pin.integrate(robot.model, robot.neutral, np.array([0.0, 0.0, 0.7, 0.0])))
    turn = turned["torso"][:3, :3] @ start["torso"][:3, :3].T
    np.testing.assert_allclose(pin.log3(turn), [0.0, 0.0, 0.7], atol=1e-12)
    np.testing.assert_allclose(robot.mass, load(tmp_path / "robot.xml", base="floating").mass)


def test_a_floating_base_keeps_the_rotation_of_the_file(tmp_path):
    fixed, robot = (robot_with(tmp_path, "", LYING.format(""), base=base) for base in ("fixed", "floating"))
    np.testing.assert_allclose(robot.home[3:7], quaternion.exp([0.5 * np.pi, 0.0, 0.0]), atol=1e-12)
    at, start = robot.placements(robot.home), fixed.placements(fixed.neutral)
    for name in ("torso", "arm"):
        np.testing.assert_allclose(at[name], start[name], atol=1e-12)


def test_what_is_dropped_is_said(tmp_path):
    body = (
        f'<body name="m" mocap="true"/><body name="a"><joint name="j" type="ball" stiffness="3" range="0 20"/>'
        f"{INERTIAL}</body>"
    )
    robot = load(whole(tmp_path, f'<option gravity="0 0 -1.6"/><worldbody>{body}</worldbody>'))
    texts = "\n".join(str(note) for note in robot.notes)
    for part in ("`m`: mocap body", "`j`: spring", "`j`: limit of the ball joint", "gravity [0.0, 0.0, -1.6]"):
        assert part in texts


@pytest.mark.parametrize(
    ("option", "joint", "body", "what"),
    [
        ("", 'type="ball" stiffness="3"', "", "spring of a ball or free joint"),
        ("", 'type="free" stiffness="3"', "", "spring of a ball or free joint"),
        ("", 'axis="0 1 0"', 'gravcomp="1"', "gravity compensation"),
        ('<option viscosity="0.1"/>', 'axis="0 1 0"', "", "forces of the air"),
    ],
)
def test_passive_forces_that_are_lost_are_warnings(tmp_path, option, joint, body, what):
    """MuJoCo's passive forces are others than ours: the loss must not be a remark in passing."""
    inside = f'<worldbody><body name="a" {body}><joint name="j" {joint}/>{INERTIAL}</body></worldbody>'
    path = whole(tmp_path, option + inside)
    robot, model = load(path), mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = random_qpos(model, np.random.default_rng(0)), 0.3
    mujoco.mj_forward(model, data)
    assert np.abs(data.qfrc_passive).max() > 1e-3
    np.testing.assert_array_equal(robot.passive_forces(robot.neutral, np.full(robot.nv, 0.3)), 0.0)
    (note,) = [note for note in robot.notes if what in note.message]
    assert (note.level, "moves otherwise than in MuJoCo" in note.message) == ("warning", True)
