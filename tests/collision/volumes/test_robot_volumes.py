"""Volumes of real robots contain their meshes in every posture, and move with the bodies that carry the links."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.spatial import ConvexHull

from surefoot.collision import CollisionModel, robot_volumes
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere, SweptVolume, surface_points
from surefoot.geometry.fit.nearest import nearest_weights
from surefoot.robot import Geometry, Joint, Link, Robot
from surefoot.robot.model.links import placement
from tests.collision.examples import fitted, robot_named
from tests.geometry.mesh_examples import slotted_block, write_stl


@pytest.fixture
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))


def shape_points(shape, rng) -> np.ndarray:
    """Points of a shape, in its frame: vertices and random points on triangles."""
    if not isinstance(shape, Mesh):
        return surface_points(shape, 48)
    vertices, triangles = shape.vertices(), shape.triangles()
    chosen = vertices[triangles[rng.integers(0, len(triangles), 3000)]]
    return np.vstack([vertices, np.einsum("nk,nkd->nd", rng.dirichlet(np.ones(3), 3000), chosen)])


def moved(T: np.ndarray, points: np.ndarray) -> np.ndarray:
    return points @ T[:3, :3].T + T[:3, 3]


def sticking_out(volumes: list[SweptVolume], points: np.ndarray) -> float:
    reach = [
        np.linalg.norm(points - nearest_weights(v.vertices, points) @ v.vertices, axis=1) - v.radius for v in volumes
    ]
    return float(np.min(reach, axis=0).max())


def volumes_in_world(robot, volumes, q) -> dict[str, list[SweptVolume]]:
    """By Pinocchio's joint placements: body i is joint i + 1, the world is joint 0."""
    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q)
    out: dict[str, list[SweptVolume]] = {}
    for item in volumes:
        out.setdefault(item.link, []).append(item.volume.placed(data.oMi[item.body + 1].homogeneous))
    return out


@pytest.mark.parametrize("name", ["hyq", *(pytest.param(x, marks=pytest.mark.slow) for x in ("anymal", "g1", "talos"))])
def test_meshes_are_contained_to_the_stated_bound(name, rng):
    robot, found = robot_named(name), fitted(name)
    q = pin.integrate(robot.model, robot.home, 0.5 * rng.standard_normal(robot.nv))
    frames, volumes = robot.placements(q), volumes_in_world(robot, found.volumes, q)
    assert set(volumes) == {geometry.link for geometry in robot.collisions} == set(found.excess)
    for geometry in robot.collisions:
        points = moved(frames[geometry.link] @ geometry.placement, shape_points(geometry.shape, rng))
        assert sticking_out(volumes[geometry.link], points) <= found.outside[geometry.link] + 1e-9
    assert max(found.outside.values()) < 1e-9
    assert max(len(of_link) for of_link in volumes.values()) <= 3


@pytest.mark.parametrize("name", ["hyq", *(pytest.param(x, marks=pytest.mark.slow) for x in ("anymal", "g1"))])
def test_the_excess_is_not_below_the_height_over_the_hull(name):
    """No point of a volume is higher over a face of the hull of the shapes than the excess says."""
    robot, found = robot_named(name), fitted(name)
    for link, excess in found.excess.items():
        T_body_link = robot.model.frames[robot.frame_id(link)].placement.homogeneous
        shapes = [g for g in robot.collisions if g.link == link]
        corners = [moved(T_body_link @ g.placement, surface_points(g.shape, 48)) for g in shapes]
        planes = ConvexHull(np.vstack(corners)).equations
        rounding = 0.01 * np.ptp(np.vstack(corners), axis=0).max()  # corners stand for round shapes
        for item in (item for item in found.volumes if item.link == link):
            height = (item.volume.vertices @ planes[:, :3].T + planes[:, 3]).max() + item.volume.radius
            assert height <= excess + rounding


def arm(*shapes: Geometry, visuals: tuple[Geometry, ...] = ()) -> Robot:
    """A link on a joint with a tool that a fixed joint holds."""
    links = [
        Link("base"),
        Link("upper", "base", Joint("swing", "revolute", placement([0, 0, 0.5])), 1.0, inertia=np.eye(3)),
        Link("tool", "upper", Joint("weld", "fixed", placement([0, 0, 0.3])), 1.0, inertia=np.eye(3),
             collisions=shapes, visuals=visuals),
    ]  # fmt: skip
    return Robot.from_tree("arm", links)


def test_a_tool_on_a_fixed_joint_rides_on_the_body_that_carries_it(own_cache):
    tool = Geometry("ball", "tool", Sphere(0.1), placement([0.2, 0.0, 0.0]))
    robot = arm(tool)
    found = robot_volumes(robot)
    (item,) = found.volumes
    assert (item.body, item.link, item.volume.kind) == (robot.body_of("tool"), "tool", "point")
    assert_allclose(item.volume.vertices, [[0.2, 0.0, 0.3]], atol=1e-12)
    assert item.volume.radius == 0.1
    assert "base, upper" in found.notes[0].message


def test_each_primitive_has_a_volume(own_cache, rng):
    shapes = [Box((0.1, 0.2, 0.3)), Cylinder(0.1, 0.3), Capsule(0.1, 0.3), Ellipsoid((0.1, 0.2, 0.1)), Sphere(0.2)]
    for shape in shapes:
        robot = arm(Geometry("shape", "tool", shape, placement([0.0, 0.1, 0.0])))
        volumes = volumes_in_world(robot, robot_volumes(robot).volumes, robot.neutral)["tool"]
        T = robot.placements(robot.neutral)["tool"] @ placement([0.0, 0.1, 0.0])
        assert sticking_out(volumes, moved(T, shape_points(shape, rng))) <= 1e-9


def test_mirrored_meshes_share_a_fit(own_cache, tmp_path, rng):
    path = write_stl(tmp_path / "block.stl", *slotted_block())
    left, right = (
        robot_volumes(arm(Geometry("mesh", "tool", Mesh(path, scale)))) for scale in ((1.0, 1.0, 1.0), (1.0, 1.0, -1.0))
    )
    assert left.excess == right.excess
    mesh = Mesh(path, (1.0, 1.0, -1.0))
    volumes = [item.volume.placed(placement([0, 0, -0.3])) for item in right.volumes]
    assert sticking_out(volumes, shape_points(mesh, rng)) <= 1e-9
    assert sticking_out(volumes, shape_points(Mesh(path), rng)) > 0.1


def test_visuals_only_where_asked_for(own_cache):
    robot = arm(visuals=(Geometry("look", "tool", Sphere(0.1)),))
    assert robot_volumes(robot).volumes == ()
    assert [item.link for item in robot_volumes(robot, visuals=True).volumes] == ["tool"]


def test_what_has_no_volume_is_named(own_cache):
    robot = arm(
        Geometry("floor", "tool", Plane()), Geometry("lost", "tool", Mesh("/nowhere/a.stl")),
        Geometry("ball", "tool", Sphere(0.1)),
    )  # fmt: skip
    found = robot_volumes(robot)
    assert len(found.volumes) == 1
    assert ["plane" in str(found.notes[0]), "/nowhere/a.stl" in str(found.notes[1])] == [True, True]
    assert all(note.place == "tool" for note in found.notes[:2])


def test_a_model_does_not_go_without_shapes_unasked(own_cache):
    lost = arm(Geometry("lost", "tool", Mesh("/nowhere/a.stl")), Geometry("ball", "tool", Sphere(0.1)))
    with pytest.raises(ModelError, match=r"/nowhere/a\.stl"):
        CollisionModel(lost)
    assert len(CollisionModel(lost, volumes=robot_volumes(lost).volumes).volumes) == 1
    with pytest.raises(ModelError, match="no collision shapes"):
        CollisionModel(arm())


def test_progress_and_settings(own_cache):
    robot = arm(Geometry("box", "tool", Box((1.0, 0.4, 0.1))))
    calls = []
    many = robot_volumes(robot, progress=lambda *call: calls.append(call))
    assert calls == [(0, 1, "tool")]
    assert len(robot_volumes(robot, most_per_link=1).volumes) == 1 < len(many.volumes)
    with pytest.raises(ShapeError, match="most is 0"):
        robot_volumes(robot, most_per_link=0)


def test_fits_are_kept(own_cache, monkeypatch):
    robot = arm(Geometry("box", "tool", Box((1.0, 0.4, 0.1))), Geometry("ball", "tool", Sphere(0.3)))
    first = robot_volumes(robot)

    def never(*_args):
        raise AssertionError("fitted again")

    monkeypatch.setattr("surefoot.collision.volumes.robot.fit_shapes", never)
    second = robot_volumes(robot)
    assert first.excess == second.excess
    assert first.outside == second.outside
    for a, b in zip(first.volumes, second.volumes, strict=True):
        assert_array_equal(a.volume.vertices, b.volume.vertices)
        assert a.volume.radius == b.volume.radius
    with pytest.raises(AssertionError, match="fitted again"):
        robot_volumes(robot, gain=0.2)


def test_a_changed_mesh_is_fitted_anew(own_cache, tmp_path):
    points, faces = slotted_block()
    path = write_stl(tmp_path / "block.stl", points, faces)
    robot = arm(Geometry("mesh", "tool", Mesh(path)))
    first = robot_volumes(robot, most_per_link=1)
    write_stl(tmp_path / "block.stl", 2.0 * points, faces)
    second = robot_volumes(robot, most_per_link=1)
    assert second.volumes[0].volume.radius > 1.5 * first.volumes[0].volume.radius
