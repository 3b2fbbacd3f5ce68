"""Ten files with the features of published MJCF files, against MuJoCo's own numbers: the table of docs/robot.md."""

import mujoco
import numpy as np
import pytest

from surefoot.dynamics import rnea
from surefoot.robot import load
from surefoot.sim.mujoco import build_mujoco, qpos_qvel
from tests.robot.menagerie_like import write_all
from tests.robot.mjcf_files import our_q, random_qpos, velocity_map

FEATURES = (
    "pairs and excludes", "springs", "tendons", "includes", "loops", "ball joints", "replicas", "keyframes", "defaults",
    "attached models",
)  # fmt: skip


@pytest.fixture
def files(tmp_path):
    return write_all(tmp_path)


def free_acceleration(model: mujoco.MjModel, q_rate: np.ndarray) -> np.ndarray:
    """What MuJoCo's linear acceleration of free joints has more: ω × v in the body, for ours is that of a twist."""
    out = np.zeros(model.nv)
    for k in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        row = model.jnt_dofadr[k]
        out[row : row + 3] = np.cross(q_rate[row + 3 : row + 6], q_rate[row : row + 3])
    return out


@pytest.mark.parametrize("feature", FEATURES)
def test_inverse_dynamics_and_passive_forces_are_mujocos(files, feature):
    robot, rng = load(files[feature]), np.random.default_rng(3)
    model = mujoco.MjModel.from_xml_path(str(files[feature]))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION
    data = mujoco.MjData(model)
    for _ in range(5):
        data.qpos[:] = random_qpos(model, rng)
        v, a = rng.standard_normal((2, robot.nv))
        mujoco.mj_kinematics(model, data)
        to_theirs = velocity_map(model, data)
        data.qvel[:], data.qacc[:] = to_theirs @ v, to_theirs @ (a + free_acceleration(model, v))
        mujoco.mj_inverse(model, data)
        q = our_q(model, data.qpos)
        passive = robot.passive_forces(q, v)
        ours = rnea(robot.tree, q, v, a) - passive
        np.testing.assert_allclose(ours, to_theirs.T @ data.qfrc_inverse, atol=1e-11)
        np.testing.assert_allclose(passive, to_theirs.T @ data.qfrc_passive, atol=1e-12)


def touching(model: mujoco.MjModel, data: mujoco.MjData, names: list[str]) -> set[frozenset[str]]:
    """Pairs of moving bodies that touch."""
    bodies = model.geom_bodyid[data.contact.geom]
    return {frozenset(names[i] for i in pair) for pair in bodies if (model.body_weldid[pair] > 0).all()}


@pytest.mark.parametrize("feature", FEATURES)
def test_links_touch_each_other_as_in_mujoco(files, feature):
    """Beside links that touch at home, which the engine leaves out; 40 random postures with the limits let go."""
    robot, rng = load(files[feature]), np.random.default_rng(4)
    theirs = mujoco.MjModel.from_xml_path(str(files[feature]))
    their_names = [theirs.body(i).name for i in range(theirs.nbody)]
    scene = build_mujoco(robot, self_collision=True)
    our_names = [scene.mj.body(i).name for i in range(scene.mj.nbody)]
    data, own = mujoco.MjData(theirs), mujoco.MjData(scene.mj)

    def at(qpos):
        data.qpos[:] = qpos
        mujoco.mj_forward(theirs, data)
        own.qpos[scene.qpos], _ = qpos_qvel(scene, our_q(theirs, qpos), np.zeros(robot.nv))
        mujoco.mj_forward(scene.mj, own)
        return touching(theirs, data, their_names), touching(scene.mj, own, our_names)

    home = np.array(theirs.key_qpos[-1] if theirs.nkey else theirs.qpos0)
    if feature == "keyframes":
        home = np.array(theirs.key("home").qpos)
    at_home, _ = at(home)
    seen = 0
    for _ in range(40):
        wanted, found = at(random_qpos(theirs, rng))
        assert found == wanted - at_home
        seen += len(found)
    assert seen or feature in ("springs", "tendons", "includes", "loops", "attached models", "defaults")


def test_what_the_files_say_is_kept(files):
    robots = {feature: load(path) for feature, path in files.items()}
    feet = robots["pairs and excludes"]
    assert feet.excludes[0] == ("left_thigh", "right_thigh")
    assert ("trunk", "left_shank") in feet.excludes
    assert ("left_shank", "right_shank") not in feet.excludes
    assert {name: contact.friction for name, contact in feet.contacts.items()} == {
        "left_shank": 0.9,
        "right_shank": 0.6,
    }
    assert [spring.name for spring in robots["tendons"].springs] == ["curl", "extend"]
    servos = [(drive.servo_stiffness, drive.servo_damping) for drive in robots["defaults"].drives]
    assert servos == [(320.0, 8.0), (15.0, 0.0), (80.0, 2.0)]
    np.testing.assert_allclose(robots["ball joints"].home, [0, 0.6, 0, 0.8, 0.5, 0, 0, 0, 1], atol=1e-12)
    np.testing.assert_allclose(robots["keyframes"].home[7:], [0.4, -0.8, 0.3, -0.7])


def test_what_is_dropped_is_named_once_with_file_and_line(tmp_path):
    part = tmp_path / "part.xml"
    joints = "\n".join(
        f'<body name="b{k}"><joint name="j{k}" type="ball" range="0 20"/><geom size="0.1"/></body>' for k in range(8)
    )
    part.write_text(f"<mujoco>\n<worldbody>\n{joints}\n</worldbody>\n</mujoco>")
    main = tmp_path / "main.xml"
    sites = '<worldbody><body name="r"><joint name="h"/><site name="s"/><geom size="0.1"/></body></worldbody>'
    acts = "".join(f'<motor name="m{k}" site="s" gear="0 0 1 0 0 0"/>' for k in range(4))
    main.write_text(f'<mujoco>\n<include file="part.xml"/>\n{sites}\n<actuator>{acts}</actuator>\n</mujoco>')
    notes = {note.place: note.message for note in load(main).notes}
    assert notes[f"{part}:3"] == "`j0`, `j1`, `j2`, `j3`, `j4` and 3 more: limit of the ball joint dropped"
    assert "`m0`, `m1`, `m2`, `m3`: actuator dropped" in notes[f"{main}:4"]


def test_armature_of_a_free_joint_is_dropped_by_name(tmp_path):
    """It is a mass without its Coriolis force in our velocities, and no drive has it; defaults reach such joints."""
    base = '<body name="b"><joint name="root" type="free"/><geom size="0.1"/><body><joint name="h"/><geom size="0.1"/>'
    path = tmp_path / "r.xml"
    path.write_text(
        f'<mujoco><default><joint armature="0.1"/></default>\n<worldbody>\n{base}</body></body></worldbody></mujoco>'
    )
    robot = load(path)
    np.testing.assert_array_equal(robot.tree.armature, [0.0] * 6 + [0.1])
    assert (f"{path}:3", "`root`: armature of the free joint dropped") in [(n.place, n.message) for n in robot.notes]


def test_a_body_of_several_joints_is_a_neighbour_of_its_parent(tmp_path):
    """Folded back onto its parent, whose collision MuJoCo filters; its own joints are a chain of links here."""
    path = tmp_path / "r.xml"
    path.write_text(
        '<mujoco><worldbody><body name="trunk"><joint/><geom type="box" size="0.1 0.1 0.1"/>'
        '<body name="arm" pos="0.25 0 0"><joint name="a" axis="0 1 0"/><joint name="b" axis="1 0 0"/>'
        '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.03"/>'
        '<body name="tool" pos="0.3 0 0"><joint axis="0 1 0"/><geom size="0.05" pos="0.1 0 0"/></body>'
        "</body></body></worldbody></mujoco>"
    )
    robot = load(path)
    assert robot.excludes == (("trunk", "arm"),)
    scene = build_mujoco(robot, self_collision=True)
    data = mujoco.MjData(scene.mj)
    data.qpos[scene.qpos] = [0.0, np.pi, 0.0, 0.0]
    mujoco.mj_forward(scene.mj, data)
    names = [scene.mj.body(i).name for i in range(scene.mj.nbody)]
    assert touching(scene.mj, data, names) == {frozenset(("trunk", "tool"))}
