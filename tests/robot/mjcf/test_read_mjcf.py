"""MJCF files against MuJoCo itself: same bodies, same masses, same mass matrix, shapes and meshes."""

import struct
from pathlib import Path

import numpy as np
import pytest

from surefoot.errors import MissingMeshError, ModelError, UnknownNameError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from surefoot.robot.loading import load
from tests.robot.mjcf_files import DEFAULTS, INERTIAL, assert_same_as_mujoco, whole, write


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
    inside += f'<geom type="capsule" size="0.05 0.2" pos="{vector(rng)}" {orientation(rng)}/>'
    inside += f'<site name="s{i}" pos="{vector(rng)}"/>'
    for _ in range(rng.integers(0, 3) if depth else 0):
        below = random_body(rng, depth - 1, counter)
        if rng.random() < 0.4:
            below = f'<frame pos="{vector(rng)}" {orientation(rng)}>{below}</frame>'
        inside += below
    return f'<body {name} {child} pos="{vector(rng)}" {orientation(rng)}>{inside}</body>'


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_move_as_in_mujoco(tmp_path, seed):
    rng = np.random.default_rng(seed)
    root = f'<body name="root" pos="{vector(rng)}" {orientation(rng)}>'
    root += '<freejoint name="base"/>' if seed % 2 else '<joint name="base" axis="0 1 1"/>'
    root += f'<geom size="0.1"/>{"".join(random_body(rng, 3, [10 * n]) for n in (1, 5))}</body>'
    path = write(tmp_path, root, head=DEFAULTS)
    robot = load(path)
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
    robot = load(path)
    assert {"leg0", "leg2", "arm", "hand", "arm__arm_joint", "ball"} <= set(robot.link_names)
    assert any("floor" in note.message and "not part of the robot" in note.message for note in robot.notes)
    assert_same_as_mujoco(path, robot, np.random.default_rng(1))


def test_unnamed_elements_get_names_that_are_free(tmp_path):
    body = (
        f'<body name="body_2"><joint name="joint_1"/>{INERTIAL}<body><joint/><joint axis="1 0 0"/><geom size="1"/>'
        '<geom name="geom_0" size="1"/></body></body>'
    )
    robot = load(write(tmp_path, body))
    assert robot.joint_names == ("joint_1", "joint_1_", "joint_2")
    assert set(robot.link_names) >= {"body_2", "body_2_", "body_2___joint_1_"}
    assert [shape.name for shape in robot.collisions] == ["geom_0_", "geom_0"]


def test_anchor_at_the_body_frame_needs_no_further_link(tmp_path):
    robot = load(write(tmp_path, f'<body name="a"><joint name="j"/>{INERTIAL}</body>'))
    assert [name for name in robot.link_names if name != "universe"] == ["a"]


def test_limits_and_friction_of_joints(tmp_path):
    joints = (
        '<joint name="h" range="-90 45" damping="0.5" frictionloss="0.2" armature="0.1" actuatorfrcrange="-7 9"/>'
        '<joint name="s" type="slide" range="-2 3"/><joint name="u" axis="1 0 0"/>'
    )
    robot = load(write(tmp_path, f'<body name="a">{joints}{INERTIAL}</body>'))
    np.testing.assert_allclose(robot.limits.lower, [-np.pi / 2, -2.0, -np.inf])
    np.testing.assert_allclose(robot.limits.upper, [np.pi / 4, 3.0, np.inf])
    assert robot.tree.kinds == ("revolute", "prismatic", "revolute")
    assert robot.limits.effort[0] == robot.drives[0].torque_limit == 7.0
    assert any("from -7 to 9" in note.message for note in robot.notes if "`h`" in note.message)
    drive = robot.drives[0]
    assert (drive.armature, drive.viscous_friction, drive.dry_friction) == (0.1, 0.5, 0.2)


def test_shapes(tmp_path):
    geoms = (
        '<geom name="ball" size="0.1" friction="0.3"/><geom name="pill" type="capsule" size="0.1 0.2"/>'
        '<geom name="rod" type="cylinder" size="0.1 0.2"/><geom name="brick" type="box" size="0.1 0.2 0.3"/>'
        '<geom name="egg" type="ellipsoid" size="0.1 0.2 0.3" pos="1 2 3"/>'
        '<geom name="look" size="0.1" contype="0" conaffinity="0" rgba="1 0 0 0.5"/>'
    )
    robot = load(write(tmp_path, f'<body name="a"><joint/>{geoms}</body>'))
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


@pytest.mark.parametrize("shank", ["", 'friction="0.3"', 'friction="1.4"'])
def test_the_friction_of_a_contact_is_that_of_the_shape_that_touches(tmp_path, shank: str):
    leg = (
        f'<geom type="capsule" size="0.01" fromto="0 0 0 0 0 -0.4" {shank}/>'
        '<geom size="0.03" pos="0 0 -0.41" friction="0.6"/>'
    )
    legs = "".join(
        f'<body name="leg{k}" pos="{x} {y} 0"><joint name="j{k}"/>{leg}</body>'
        for k, (x, y) in enumerate([(0.3, 0.2), (0.3, -0.2), (-0.3, 0.2), (-0.3, -0.2)])
    )
    trunk = f'<body name="trunk" pos="0 0 1"><freejoint/><geom type="box" size="0.4 0.3 0.1"/>{legs}</body>'
    assert [surface.friction for surface in load(write(tmp_path, trunk)).contacts.values()] == [0.6] * 4


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
    robot = load(write(tmp_path, MESH_BODY.format(""), head=MESH_HEAD), meshes="require")
    (shape,) = robot.collisions
    assert isinstance(shape.shape, Mesh)
    points = shape.shape.vertices() @ shape.placement[:3, :3].T + shape.placement[:3, 3]
    order = np.lexsort(np.round(points, 4).T)
    np.testing.assert_allclose(points[order], (corners + np.array([0, 0, 1]))[np.lexsort(corners.T)], atol=1e-6)
    np.testing.assert_allclose(robot.mass, 1000.0, rtol=1e-6)


def test_meshes_of_an_attached_model_are_in_its_own_folder(tmp_path):
    (tmp_path / "part" / "meshes").mkdir(parents=True)
    mesh = tmp_path / "part" / "meshes" / "m.stl"
    write_stl(mesh, np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]]))
    write(tmp_path / "part", MESH_BODY.format(""), "part.xml", MESH_HEAD)
    attach = '<worldbody><attach model="p" body="a" prefix="p_"/></worldbody>'
    path = whole(tmp_path, '<asset><model name="p" file="part/part.xml"/></asset>' + attach)
    robot = load(path, meshes="require")
    assert len(robot.collisions) == 1
    assert_same_as_mujoco(path, robot, np.random.default_rng(0))
    mesh.unlink()
    with pytest.raises(MissingMeshError) as caught:
        load(path, meshes="require")
    assert caught.value.file == str(tmp_path / "part" / "part.xml")


def test_missing_meshes(tmp_path):
    with_inertia = write(tmp_path, MESH_BODY.format(INERTIAL), head=MESH_HEAD)
    with pytest.raises(MissingMeshError, match=r"m\.stl") as caught:
        load(with_inertia, meshes="require")
    assert caught.value.line == 2
    warned, skipped = load(with_inertia), load(with_inertia, meshes="skip")
    assert any("m.stl" in note.message for note in warned.notes)
    assert not any("m.stl" in note.message for note in skipped.notes)
    assert not warned.collisions
    assert warned.mass == 2.0
    without = write(tmp_path, MESH_BODY.format(""), "without.xml", MESH_HEAD)
    with pytest.raises(ModelError, match="inertia of body `a` comes from mesh"):
        load(without)
    with pytest.raises(UnknownNameError):
        load(without, meshes="perhaps")


@pytest.mark.parametrize(("main", "own"), [("", ""), ("assets", ""), ("", "inner")])
def test_the_place_of_a_mesh_that_an_included_file_lacks(tmp_path, main, own):
    """It is beside the included file, as in MuJoCo's own message, and found when it is put there."""
    (tmp_path / "part").mkdir()
    head = f'<compiler meshdir="{own}"/>' * bool(own) + '<asset><mesh name="m" file="m.stl"/></asset>'
    write(tmp_path / "part", MESH_BODY.format(INERTIAL), "part.xml", head)
    path = write(tmp_path, "", head=f'<compiler meshdir="{main}"/>' * bool(main) + '<include file="part/part.xml"/>')
    (message,) = [note.message for note in load(path).notes if "does not exist" in note.message]
    place = tmp_path / "part" / "m.stl"
    assert f"mesh `{place}` does not exist" in message
    write_stl(place, np.array([[0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3.0]]))
    assert len(load(path, meshes="require").collisions) == 1


def test_missing_textures_do_not_matter(tmp_path):
    head = '<asset><texture name="t" type="2d" file="no.png"/><material name="red" texture="t" rgba="1 0 0 1"/></asset>'
    body = '<light texture="t"/><body name="a"><joint/><geom size="1" material="red"/></body>'
    robot = load(write(tmp_path, body, head=head))
    assert robot.collisions[0].color == (1.0, 0.0, 0.0, 1.0)
