"""MJCF files against MuJoCo itself: same bodies, same masses, same mass matrix; and files that must be refused."""

import struct
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pinocchio as pin
import pytest

from surefoot.errors import FileFormatError, MissingMeshError, ModelError, SurefootError, UnknownNameError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from surefoot.robot.mjcf_guard import MAX_COPIES
from surefoot.robot.read_mjcf import mjcf_links, read_mjcf, with_base
from surefoot.robot.robot import Robot

INERTIAL = '<inertial pos="0.1 0 0.02" mass="2" diaginertia="0.1 0.2 0.15"/>'


def write(folder: Path, body: str, name: str = "robot.xml", head: str = "") -> Path:
    path = folder / name
    path.write_text(f'<mujoco model="test">\n{head}\n<worldbody>\n{body}\n</worldbody>\n</mujoco>')
    return path


def whole(folder: Path, inside: str, name: str = "robot.xml") -> Path:
    path = folder / name
    path.write_text(f"<mujoco>\n{inside}\n</mujoco>")
    return path


def our_q(model: mujoco.MjModel, qpos: np.ndarray) -> np.ndarray:
    """MuJoCo's configuration in our layout: only the quaternions change."""
    q = np.array(qpos)
    for k in range(model.njnt):
        start = model.jnt_qposadr[k] + {0: 3, 1: 0}.get(int(model.jnt_type[k]), -99)
        if start >= 0:
            q[start : start + 4] = np.roll(qpos[start : start + 4], -1)
    return q


def random_qpos(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    qpos = rng.uniform(-2.0, 2.0, model.nq)
    for k in range(model.njnt):
        start = model.jnt_qposadr[k] + {0: 3, 1: 0}.get(int(model.jnt_type[k]), -99)
        if start >= 0:
            qpos[start : start + 4] /= np.linalg.norm(qpos[start : start + 4])
    return qpos


def velocity_map(model: mujoco.MjModel, data: mujoco.MjData) -> np.ndarray:
    """MuJoCo's velocity = map · ours: the linear velocity of a free joint is in world there, in the body here."""
    out = np.eye(model.nv)
    for k in np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE):
        row = model.jnt_dofadr[k]
        out[row : row + 3, row : row + 3] = data.xmat[model.jnt_bodyid[k]].reshape(3, 3)
    return out


def assert_same_as_mujoco(path: Path, robot: Robot, rng: np.random.Generator) -> None:
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    assert robot.nq == model.nq
    assert robot.nv == model.nv
    assert list(robot.joint_names) == [model.joint(k).name or f"joint_{k}" for k in range(model.njnt)]
    for _ in range(3):
        data.qpos[:] = random_qpos(model, rng)
        mujoco.mj_forward(model, data)
        q = our_q(model, data.qpos)
        frames = robot.placements(q)
        for i in range(1, model.nbody):
            name = model.body(i).name or f"body_{i}"
            assert name in robot.link_names
            np.testing.assert_allclose(frames[name][:3, 3], data.xpos[i], atol=1e-9)
            np.testing.assert_allclose(frames[name][:3, :3], data.xmat[i].reshape(3, 3), atol=1e-9)
        for i in range(model.nsite):
            np.testing.assert_allclose(frames[model.site(i).name][:3, 3], data.site_xpos[i], atol=1e-9)
        assert_same_masses(robot, model, data, q)


def assert_same_masses(robot: Robot, model: mujoco.MjModel, data: mujoco.MjData, q: np.ndarray) -> None:
    moving = model.body_weldid > 0
    np.testing.assert_allclose(robot.mass, model.body_mass[moving].sum(), rtol=1e-12)
    com = (model.body_mass[moving, None] * data.xipos[moving]).sum(axis=0) / model.body_mass[moving].sum()
    pin_data = robot.model.createData()
    np.testing.assert_allclose(pin.centerOfMass(robot.model, pin_data, q), com, atol=1e-9)
    theirs = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, data, theirs)
    J = velocity_map(model, data)
    expected = J.T @ theirs @ J
    ours = pin.crba(robot.model, pin_data, q)
    ours = np.triu(ours) + np.triu(ours, 1).T
    np.testing.assert_allclose(ours, expected, atol=1e-8 * np.abs(expected).max())


# --- random trees -----------------------------------------------------------------------------------------------------


def orientation(rng: np.random.Generator) -> str:
    kind = rng.integers(5)
    n = rng.normal(size=6)
    text = {
        0: f'quat="{n[0]} {n[1]} {n[2]} {n[3]}"',
        1: f'euler="{40 * n[0]} {40 * n[1]} {40 * n[2]}"',
        2: f'axisangle="{n[0]} {n[1]} {n[2]} {60 * n[3]}"',
        3: f'xyaxes="{n[0]} {n[1]} {n[2]} {n[3]} {n[4]} {n[5]}"',
        4: f'zaxis="{n[0]} {n[1]} {n[2]}"',
    }
    return text[int(kind)]


def vector(rng: np.random.Generator, size: float = 0.3) -> str:
    return " ".join(repr(float(x)) for x in rng.normal(scale=size, size=3))


def random_joints(rng: np.random.Generator, i: int, may_have_ball: bool) -> str:
    if may_have_ball and rng.random() < 0.2:
        anchor = f'pos="{vector(rng)}"' if rng.random() < 0.5 else ""
        return f'<joint type="ball" {anchor} armature="0.01"/>'
    out = []
    for k in range(rng.integers(0, 4)):
        kind = rng.choice(["hinge", "slide"])
        anchor = f'pos="{vector(rng)}"' if rng.random() < 0.5 else ""
        ref = f'ref="{rng.normal()}"' if rng.random() < 0.5 else ""
        name = f'name="j{i}_{k}"' if rng.random() < 0.7 else ""
        default = rng.choice(["", 'class="stiff"'])
        out.append(f'<joint {name} {default} type="{kind}" axis="{vector(rng, 1.0)}" {anchor} {ref}/>')
    return "".join(out)


def random_body(rng: np.random.Generator, depth: int, counter: list[int]) -> str:
    i = counter[0]
    counter[0] += 1
    name = f'name="b{i}"' if rng.random() < 0.7 else ""
    child = 'childclass="heavy"' if rng.random() < 0.3 else ""
    inside = random_joints(rng, i, may_have_ball=True)
    inside += f'<geom type="capsule" size="0.05 0.2" pos="{vector(rng)}" {orientation(rng)}/><site name="s{i}" pos="{vector(rng)}"/>'
    for _ in range(rng.integers(0, 3) if depth else 0):
        below = random_body(rng, depth - 1, counter)
        if rng.random() < 0.4:
            below = f'<frame pos="{vector(rng)}" {orientation(rng)}>{below}</frame>'
        inside += below
    return f'<body {name} {child} pos="{vector(rng)}" {orientation(rng)}>{inside}</body>'


DEFAULTS = """<compiler angle="degree"/>
<default><geom density="800"/><joint damping="0.1" armature="0.02"/>
<default class="stiff"><joint armature="0.3" range="-20 30"/></default>
<default class="heavy"><geom density="3000"/></default></default>"""


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_move_as_in_mujoco(tmp_path, seed):
    rng = np.random.default_rng(seed)
    root = f'<body name="root" pos="{vector(rng)}" {orientation(rng)}>'
    root += '<freejoint name="base"/>' if seed % 2 else '<joint name="base" axis="0 1 1"/>'
    root += f'<geom size="0.1"/>{"".join(random_body(rng, 3, [10 * n]) for n in (1, 5))}</body>'
    path = write(tmp_path, root, head=DEFAULTS)
    robot = read_mjcf(path)
    assert robot.base == ("floating" if seed % 2 else "fixed")
    assert_same_as_mujoco(path, robot, rng)


def test_replicas_includes_and_two_roots(tmp_path):
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "arm.xml").write_text(
        '<mujocoinclude><body name="arm" pos="0 0 1"><joint name="arm_joint" pos="0 0.1 0"/><geom size="0.1"/>'
        '<include file="parts/hand.xml"/></body></mujocoinclude>'
    )
    (tmp_path / "parts" / "hand.xml").write_text('<any><body name="hand" pos="1 0 0"><geom size="0.1"/></body></any>')
    path = write(
        tmp_path,
        '<geom name="floor" type="plane" size="1 1 1"/><body name="trunk"><freejoint name="free"/><geom size="0.2"/>'
        '<replicate count="3" euler="0 0 120"><body name="leg" pos="1 0 0"><joint name="hip" axis="0 1 0"/>'
        '<geom name="foot" size="0.1"/></body></replicate><include file="parts/arm.xml"/></body>'
        '<body name="ball" pos="0 3 0"><freejoint name="ball_free"/><geom size="0.1"/></body>',
    )
    robot = read_mjcf(path)
    assert {"leg0", "leg2", "arm", "hand", "arm__arm_joint", "ball"} <= set(robot.link_names)
    assert any("floor" in note.message and "not part of the robot" in note.message for note in robot.notes)
    assert_same_as_mujoco(path, robot, np.random.default_rng(1))


def test_unnamed_elements_get_names_that_are_free(tmp_path):
    body = (
        f'<body name="body_2"><joint name="joint_1"/>{INERTIAL}<body><joint/><joint axis="1 0 0"/><geom size="1"/>'
        '<geom name="geom_0" size="1"/></body></body>'
    )
    robot = read_mjcf(write(tmp_path, body))
    assert robot.joint_names == ("joint_1", "joint_1_", "joint_2")
    assert set(robot.link_names) >= {"body_2", "body_2_", "body_2___joint_1_"}
    assert [shape.name for shape in robot.collisions] == ["geom_0_", "geom_0"]


def test_anchor_at_the_body_frame_needs_no_further_link(tmp_path):
    robot = read_mjcf(write(tmp_path, f'<body name="a"><joint name="j"/>{INERTIAL}</body>'))
    assert [name for name in robot.link_names if name != "universe"] == ["a"]


# --- joints, shapes ---------------------------------------------------------------------------------------------------


def test_limits_and_friction_of_joints(tmp_path):
    joints = (
        '<joint name="h" range="-90 45" damping="0.5" frictionloss="0.2" armature="0.1" actuatorfrcrange="-7 9"/>'
        '<joint name="s" type="slide" range="-2 3"/><joint name="u" axis="1 0 0"/>'
    )
    robot = read_mjcf(write(tmp_path, f'<body name="a">{joints}{INERTIAL}</body>'))
    np.testing.assert_allclose(robot.limits.lower, [-np.pi / 2, -2.0, -np.inf])
    np.testing.assert_allclose(robot.limits.upper, [np.pi / 4, 3.0, np.inf])
    assert robot.tree.kinds == ("revolute", "prismatic", "revolute")
    assert robot.limits.effort[0] == 9.0
    drive = robot.drives[0]
    assert (drive.armature, drive.viscous_friction, drive.dry_friction) == (0.1, 0.5, 0.2)


def test_shapes(tmp_path):
    geoms = (
        '<geom name="ball" size="0.1" friction="0.3"/><geom name="pill" type="capsule" size="0.1 0.2"/>'
        '<geom name="rod" type="cylinder" size="0.1 0.2"/><geom name="brick" type="box" size="0.1 0.2 0.3"/>'
        '<geom name="egg" type="ellipsoid" size="0.1 0.2 0.3" pos="1 2 3"/>'
        '<geom name="look" size="0.1" contype="0" conaffinity="0" rgba="1 0 0 0.5"/>'
    )
    robot = read_mjcf(write(tmp_path, f'<body name="a"><joint/>{geoms}</body>'))
    shapes = {item.name: item.shape for item in robot.collisions}
    assert shapes == {
        "ball": Sphere(0.1),
        "pill": Capsule(0.1, 0.4),
        "rod": Cylinder(0.1, 0.4),
        "brick": Box((0.2, 0.4, 0.6)),
        "egg": Ellipsoid((0.1, 0.2, 0.3)),
    }
    assert robot.collisions[0].friction == 0.3
    np.testing.assert_array_equal(robot.collisions[4].placement[:3, 3], [1, 2, 3])
    assert [item.name for item in robot.visuals] == ["look"]
    assert robot.visuals[0].color == (1.0, 0.0, 0.0, 0.5)


def write_stl(path: Path, corners: np.ndarray) -> None:
    """A tetrahedron."""
    faces = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]
    data = bytes(80) + struct.pack("<I", len(faces))
    for face in faces:
        data += struct.pack("<12fH", 0, 0, 0, *corners[list(face)].ravel(), 0)
    path.write_bytes(data)


MESH_HEAD = '<compiler meshdir="meshes"/><asset><mesh name="m" file="m.stl"/></asset>'
MESH_BODY = '<body name="a"><joint/>{}<geom type="mesh" mesh="m" pos="0 0 1"/></body>'


def test_mesh_vertices_stand_where_the_file_puts_them(tmp_path):
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]])
    (tmp_path / "meshes").mkdir()
    write_stl(tmp_path / "meshes" / "m.stl", corners)
    robot = read_mjcf(write(tmp_path, MESH_BODY.format(""), head=MESH_HEAD), meshes="require")
    (shape,) = robot.collisions
    assert isinstance(shape.shape, Mesh)
    points = shape.shape.vertices() @ shape.placement[:3, :3].T + shape.placement[:3, 3]
    order = np.lexsort(np.round(points, 4).T)
    np.testing.assert_allclose(points[order], (corners + [0, 0, 1])[np.lexsort(corners.T)], atol=1e-6)
    np.testing.assert_allclose(robot.mass, 1000.0, rtol=1e-6)


def test_missing_meshes(tmp_path):
    with_inertia = write(tmp_path, MESH_BODY.format(INERTIAL), head=MESH_HEAD)
    with pytest.raises(MissingMeshError, match=r"m\.stl") as caught:
        read_mjcf(with_inertia, meshes="require")
    assert caught.value.line == 2
    warned, skipped = read_mjcf(with_inertia), read_mjcf(with_inertia, meshes="skip")
    assert any("m.stl" in note.message for note in warned.notes)
    assert not skipped.notes
    assert not warned.collisions
    assert warned.mass == 2.0
    without = write(tmp_path, MESH_BODY.format(""), "without.xml", MESH_HEAD)
    with pytest.raises(ModelError, match="inertia of body `a` comes from mesh"):
        read_mjcf(without)
    with pytest.raises(UnknownNameError):
        read_mjcf(without, meshes="perhaps")


def test_missing_textures_do_not_matter(tmp_path):
    head = '<asset><texture name="t" type="2d" file="no.png"/><material name="red" texture="t" rgba="1 0 0 1"/></asset>'
    body = '<light texture="t"/><body name="a"><joint/><geom size="1" material="red"/></body>'
    robot = read_mjcf(write(tmp_path, body, head=head))
    assert robot.collisions[0].color == (1.0, 0.0, 0.0, 1.0)


# --- ties, drives, home -----------------------------------------------------------------------------------------------

TWO = (
    f'<body name="a" pos="0 0 1"><joint name="ja" axis="0 1 0" ref="20"/>{INERTIAL}<site name="sa" pos="0 0.3 0"/></body>'
    f'<body name="b" pos="1 0 1"><joint name="jb" axis="0 1 0" ref="-35"/>{INERTIAL}<site name="sb" pos="0 0.1 0.2"/></body>'
)


def robot_with(folder: Path, after: str, body: str = TWO) -> Robot:
    return read_mjcf(whole(folder, f"<worldbody>{body}</worldbody>{after}"))


def test_joint_equality_is_a_coupling_about_the_reference(tmp_path):
    after = '<equality><joint name="c" joint1="ja" joint2="jb" polycoef="0.3 -2 0 0 0"/></equality>'
    robot = robot_with(tmp_path, after)
    (coupling,) = robot.couplings
    model = mujoco.MjModel.from_xml_path(str(tmp_path / "robot.xml"))
    data = mujoco.MjData(model)
    data.qpos[1] = 0.77
    data.qpos[0] = coupling.offset + coupling.ratio * data.qpos[1]
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


# --- files that must be refused ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "attribute",
    ['mass="abc"', 'mass="1 2"', 'mass="1.0abc"', 'mass=""', 'mass="nan"', 'mass="inf"', 'mass="-INFINITY"',
     'mass="1e400"', 'mass="1,0"', 'pos="0 0"', 'pos="0 0 0 0"', 'pos="0 nan 0"', 'type="foo"', 'mass="-1"',
     'unknown="1"', 'contype="1.5"', 'mass="1e200"', 'pos="1e50 0 0"', 'quat="0 0 0 0"'],
)  # fmt: skip
def test_bad_numbers_are_refused_with_their_place(tmp_path, attribute):
    geom = f'<geom size="0.1" {attribute}/>'
    path = write(tmp_path, f'<body name="a"><joint/>\n{geom}</body>')
    with pytest.raises((FileFormatError, ModelError)) as caught:
        read_mjcf(path)
    assert caught.value.file == str(path)
    assert caught.value.line == 5 or "too large" in caught.value.message


def test_place_of_an_error_in_an_included_file(tmp_path):
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n\n<geom size="x"/></mujocoinclude>')
    path = write(tmp_path, '<body name="a"><joint/><geom size="1" name="nan"/><include file="part.xml"/></body>')
    with pytest.raises(FileFormatError) as caught:
        read_mjcf(path)
    assert caught.value.file is not None
    (tmp_path / "part.xml").write_text('<mujocoinclude>\n\n<geom size="nan"/></mujocoinclude>')
    with pytest.raises(FileFormatError) as caught:
        read_mjcf(path)
    assert caught.value.place == f"{tmp_path / 'part.xml'}:3"


@pytest.mark.parametrize(
    ("inside", "words"),
    [
        ('<worldbody><include file="robot.xml"/></worldbody>', "includes itself"),
        ('<worldbody><include file="gone.xml"/></worldbody>', "gone.xml"),
        (f'<worldbody><replicate count="{MAX_COPIES + 1}"><geom size="1"/></replicate></worldbody>', "copies"),
        ('<worldbody><replicate count="99"><replicate count="99"><body/></replicate></replicate></worldbody>', "copies"),
        ('<worldbody><flexcomp name="f" type="grid" count="99 99 99"/></worldbody>', "copies"),
        ('<worldbody><replicate count="-1"><geom size="1"/></replicate></worldbody>', "count"),
        ('<asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset>', "height field"),
        ('<asset><hfield name="h" nrow="-3" ncol="2" size="1 1 1 1"/></asset>', "height field"),
        ('<worldbody><body name="a"><joint range="2 1"/><geom size="1"/></body></worldbody>', "turned round"),
        ('<worldbody><body name="a"><joint/></body></worldbody>', "cannot compile"),
    ],
)  # fmt: skip
def test_files_that_would_hang_or_mislead(tmp_path, inside, words):
    with pytest.raises((FileFormatError, ModelError), match=words):
        read_mjcf(whole(tmp_path, inside))


def test_absurd_memory_sizes_are_not_taken_over(tmp_path):
    size = '<size nkey="1000000000" nuser_body="100000000" nuserdata="2000000000" memory="9999999999999"/>'
    assert read_mjcf(whole(tmp_path, f"{size}<worldbody>{TWO}</worldbody>")).nq == 2


def test_other_roots_and_entities_are_refused(tmp_path):
    path = tmp_path / "a.xml"
    for text in ('<robot name="r"/>', '<!DOCTYPE a [<!ENTITY b "c">]><mujoco>&b;</mujoco>', "", "<mujoco>"):
        path.write_text(text)
        with pytest.raises(FileFormatError):
            read_mjcf(path)
    with pytest.raises(FileFormatError):
        read_mjcf(tmp_path / "gone.xml")


def test_mujoco_writes_no_log_and_prints_nothing(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    path = write(tmp_path, '<body name="nan"><joint/><geom size="1" mass="1e300"/></body>')
    with pytest.raises(ModelError):
        read_mjcf(path)
    assert not (tmp_path / "MUJOCO_LOG.TXT").exists()
    assert capfd.readouterr() == ("", "")


def mutate(text: str, rng: np.random.Generator) -> bytes:
    data = bytearray(text.encode())
    kind = rng.integers(4)
    if kind == 0:
        return bytes(data[: rng.integers(len(data))])
    if kind == 1:
        for _ in range(rng.integers(1, 6)):
            data[rng.integers(len(data))] ^= 1 << int(rng.integers(8))
        return bytes(data)
    words = text.split('"')
    spot = 2 * int(rng.integers(len(words) // 2)) + 1
    wrong = ["", "abc", "true", "1e308", "-1e15", "1e-320", "nan", "0", "1 2 3", "-7", "99999999999", "a b", "home"]
    words[spot] = wrong[int(rng.integers(len(wrong)))]
    return '"'.join(words).encode()


def test_damaged_files_end_in_a_robot_or_a_clear_error(tmp_path):
    after = (
        '<equality><joint joint1="ja" joint2="jb" polycoef="0.3 -2 0 0 0"/><weld body1="a" body2="b"/></equality>'
        '<actuator><motor joint="jb" gear="3" ctrlrange="-3 2"/></actuator><keyframe><key qpos="0.1 0.2"/></keyframe>'
    )
    text = f'<mujoco model="m">{DEFAULTS}<worldbody>{TWO}</worldbody>{after}</mujoco>'
    rng = np.random.default_rng(7)
    read = 0
    for k in range(60):
        path = tmp_path / f"m{k}.xml"
        path.write_bytes(mutate(text, rng))
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                robot = read_mjcf(path)
        except SurefootError as error:
            assert error.file is not None, error
            continue
        read += 1
        numbers = [robot.home, robot.tree.masses, robot.tree.placements, robot.tree.inertias, robot.tree.armature]
        assert all(np.isfinite(values).all() for values in numbers)
    assert 0 < read < 60
