"""Meshes that touch by convex pieces, and the pieces on disk."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull, cKDTree

from surefoot.codegen import cache
from surefoot.geometry import Mesh, Sphere
from surefoot.motion import World
from surefoot.motion.world.world import MovableObject, Obstacle
from surefoot.robot import Geometry, Link, Robot, placement
from surefoot.robot.loading import load
from surefoot.sim import build_mujoco
from surefoot.sim.measured import OBJECT
from surefoot.sim.mujoco import shapes as mesh_pieces
from surefoot.sim.mujoco.engine import MujocoEngine
from surefoot.sim.mujoco.shapes import cut_meshes
from tests.geometry.mesh_examples import SLOT_FLOOR, SLOTTED_VOLUME, slotted_block, write_stl
from tests.sim.examples import pendulum
from tests.sim.mujoco_runs import actuation

RADIUS = 0.1
BALL = MovableObject("ball", Sphere(RADIUS), 0.5, placement((0.0, 0.0, 1.25)))


@pytest.fixture(autouse=True)
def folder(tmp_path_factory, monkeypatch):
    """The folder of the entries of a fresh cache."""
    path = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("SUREFOOT_CACHE", str(path))
    monkeypatch.delenv("SUREFOOT_CACHE_LIMIT", raising=False)
    return path / "kernels"


@pytest.fixture
def slotted(tmp_path) -> Mesh:
    return Mesh(write_stl(tmp_path / "slotted.stl", *slotted_block()))


def never(*_args, **_kwargs):
    raise AssertionError("a mesh was cut")


def run(engine: MujocoEngine, duration: float) -> None:
    for _ in range(round(duration / engine.dt)):
        engine.advance(actuation(engine.robot))


@pytest.mark.parametrize(("convex_pieces", "floor"), [(True, SLOT_FLOOR), (False, 1.0)])
def test_a_ball_falls_into_the_slot_of_an_obstacle_only_if_there_are_pieces(slotted, convex_pieces, floor):
    world = World(obstacles=(Obstacle("cup", slotted),), objects=(BALL,))
    engine = MujocoEngine(pendulum(), world, convex_pieces=convex_pieces)
    run(engine, 1.5)
    T, twist = engine.object_state("ball")
    assert_allclose(T[2, 3], floor + RADIUS, atol=3e-3)
    assert np.abs(twist[:3]).max() < 0.05
    assert [note for note in engine.notes if "hull" in note] == (
        [] if convex_pieces else ["obstacle `cup` touches by the convex hull of its mesh"]
    )


def test_a_convex_mesh_needs_no_note_and_points_alone_keep_theirs(slotted):
    points = slotted.vertices()
    cloud = World(obstacles=(Obstacle("cloud", Mesh(points=points)),))
    assert (
        "obstacle `cloud` touches by the convex hull of its mesh"
        in MujocoEngine(pendulum(), cloud, convex_pieces=True).notes
    )
    tetrahedron = Mesh(
        points=np.vstack([np.zeros(3), np.eye(3)]), faces=np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    )
    assert not MujocoEngine(pendulum(), World(obstacles=(Obstacle("tip", tetrahedron),))).notes


def test_an_object_of_pieces_has_the_mass_and_inertia_of_the_mesh(slotted):
    world = World(objects=(MovableObject("cup", slotted, 3.4, placement((0.0, 0.0, 0.5))),))
    engine = MujocoEngine(pendulum(), world, convex_pieces=True)
    body = engine.mj.body("object cup")
    geoms = engine.mj.body_geomnum[body.id]
    assert geoms > 1
    assert_allclose(body.mass, 3.4, rtol=1e-12)
    block, slot = 3.4 / SLOTTED_VOLUME * 0.5, 3.4 / SLOTTED_VOLUME * 0.16  # masses of the full block and of the slot
    height = (block * 0.5 - slot * 0.6) / 3.4
    about_y = (
        block * (1 + 1) / 12 + block * (0.5 - height) ** 2 - slot * (0.4**2 + 0.8**2) / 12 - slot * (0.6 - height) ** 2
    )
    assert_allclose(body.ipos, [0.0, 0.0, height], atol=5e-3)
    assert_allclose(np.sum(body.inertia * _turn(body.iquat)[1] ** 2), about_y, rtol=0.02)


def _turn(quaternion: np.ndarray) -> np.ndarray:
    w, x, y, z = quaternion
    u = np.array([x, y, z])
    skew = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return (w * w - u @ u) * np.eye(3) + 2 * np.outer(u, u) + 2 * w * skew


def test_pieces_of_a_link_belong_to_the_link_and_weigh_nothing(slotted):
    shape = Geometry("cup", "cup", slotted)
    link = Link("cup", mass=20.0, com=np.array([0.0, 0.0, 0.3]), inertia=2.0 * np.eye(3), collisions=(shape,))
    robot = Robot.from_tree("cup", [link], "floating")
    engine = MujocoEngine([robot, pendulum()], World(objects=(BALL,)), convex_pieces=True)
    model = engine.scene.models[0]
    body = model.tree_bodies[0]
    assert len(model.geoms) > 1
    assert set(engine.mj.geom_bodyid[list(model.geoms)]) == {body}
    assert_allclose(engine.mj.body_mass[body], 20.0)
    assert_allclose(engine.mj.body_inertia[body], 2.0, rtol=1e-9)
    assert len({tuple(engine.mj.geom(i).friction) for i in model.geoms}) == 1
    for _ in range(600):
        engine.advance(*(actuation(item) for item in engine.robots))
    assert_allclose(engine.object_state("ball")[0][2, 3], SLOT_FLOOR + RADIUS, atol=5e-3)
    touches = engine.touches(0)
    rows = touches.against == OBJECT
    assert rows.any()
    assert set(touches.body[rows]) == {0}
    assert_allclose(touches.force[rows].sum(axis=0), [0.0, 0.0, -0.5 * 9.81], atol=0.3)


def test_equal_meshes_are_cut_once_and_progress_ends_at_one(slotted, monkeypatch):
    calls, shares = [], []
    cut = mesh_pieces.convex_pieces
    monkeypatch.setattr(mesh_pieces, "convex_pieces", lambda *args: calls.append(args) or cut(*args))
    found = cut_meshes([slotted, Mesh(slotted.path), Mesh(points=np.eye(3))], shares.append)
    assert (len(found), len(calls)) == (2, 2)
    assert shares == [0.5, 1.0]


def test_pieces_come_back_from_the_cache_bit_by_bit(slotted, monkeypatch):
    (first,) = cut_meshes([slotted]).values()
    (entry,) = cache.entries()
    assert (entry.description["robot"], entry.description["algorithm"]) == ("slotted.stl", "convex pieces")
    monkeypatch.setattr(mesh_pieces, "convex_pieces", never)
    (second,) = cut_meshes([slotted]).values()
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    with pytest.raises(AssertionError, match="was cut"):
        cut_meshes([Mesh(slotted.path, (1.0, 1.0, 1.1))])


def test_damaged_pieces_are_cut_anew(slotted, folder, monkeypatch):
    (first,) = cut_meshes([slotted]).values()
    (file,) = folder.iterdir()
    content = bytearray(file.read_bytes())
    content[-20] ^= 1
    file.write_bytes(content)
    (second,) = cut_meshes([slotted]).values()
    assert all(np.array_equal(a, b) for a, b in zip(first, second, strict=True))
    monkeypatch.setattr(mesh_pieces, "convex_pieces", never)
    cut_meshes([slotted])


def test_without_a_cache_it_works_too(slotted, folder, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE_LIMIT", "0")
    assert len(cut_meshes([slotted])) == 1
    assert not folder.exists()


@pytest.mark.slow
def test_a_hollow_mesh_of_a_real_robot_gets_pieces_within_its_hull():
    knee = next(item.shape for item in load("g1").collisions if item.link == "left_knee_link")
    (pieces,) = cut_meshes([knee]).values()
    hull = ConvexHull(knee.vertices()).equations
    assert 1 < len(pieces) <= 16
    assert max(float((piece @ hull[:, :3].T + hull[:, 3]).max()) for piece in pieces) < 1e-6
    nearest = cKDTree(np.vstack(pieces)).query(knee.vertices()[ConvexHull(knee.vertices()).vertices])[0]
    assert nearest.max() < 0.03  # all corners of a shank of 0.4 m are kept


@pytest.mark.slow
def test_a_real_robot_keeps_mass_inertia_and_its_soles():
    robot = load("talos")
    hulls, pieces = build_mujoco(robot, World()), build_mujoco(robot, World(), convex_pieces=True)
    assert len(pieces.geoms) > len(hulls.geoms)
    assert pieces.contact_geoms.keys() == hulls.contact_geoms.keys()
    assert_array_equal(pieces.mj.body_mass, hulls.mj.body_mass)
    assert_array_equal(pieces.mj.body_inertia, hulls.mj.body_inertia)


def test_the_meshes_of_mjcf_have_triangles(tmp_path):
    points, faces = slotted_block()
    words = [" ".join(map(str, array.ravel())) for array in (points, faces)]
    path = tmp_path / "cup.xml"
    path.write_text(
        f"""<mujoco><asset><mesh name="cup" vertex="{words[0]}" face="{words[1]}"/></asset><worldbody>
        <body name="cup"><freejoint/><geom type="mesh" mesh="cup"/></body></worldbody></mujoco>"""
    )
    (shape,) = (item.shape for item in load(path).collisions)
    volume = float(np.linalg.det(shape.vertices()[shape.triangles()]).sum()) / 6.0
    assert_allclose(volume, SLOTTED_VOLUME, rtol=1e-5)
