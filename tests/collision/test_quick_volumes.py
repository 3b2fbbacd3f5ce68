"""Balls and capsules round shapes: they contain them, they are quick, and hulls of meshes are kept."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.collision.volumes import hulls as hull_store
from surefoot.collision.volumes.hulls import stored_hull
from surefoot.collision.volumes.robot import quick_volumes
from surefoot.errors import ModelError, ShapeError
from surefoot.geometry import Box, Mesh, Plane, Sphere
from surefoot.robot import Geometry, Joint, Link, Robot
from surefoot.robot.model.links import placement
from tests.collision.volumes.test_robot_volumes import moved, shape_points, sticking_out, volumes_in_world

from .examples import robot_named


@pytest.mark.slow
@pytest.mark.parametrize("name", ["g1", "talos", "anymal", "hexapod"])
def test_shapes_are_contained(name, rng):
    robot = robot_named(name)
    q = pin.integrate(robot.model, robot.home, 0.5 * rng.standard_normal(robot.nv))
    placed = volumes_in_world(robot, quick_volumes(robot), q)
    data = robot.model.createData()
    pin.framesForwardKinematics(robot.model, data, q)
    assert len({item.link for item in robot.collisions} - set(placed)) == 0
    for item in robot.collisions:
        T = data.oMf[robot.frame_id(item.link)].homogeneous @ item.placement
        assert sticking_out(placed[item.link], moved(T, shape_points(item.shape, rng))) <= 2e-6, item.name


def arm_with(*shapes) -> Robot:
    parts = tuple(Geometry(f"s{k}", "arm", shape, T) for k, (shape, T) in enumerate(shapes))
    return Robot.from_tree(
        "arm", [Link("arm", None, Joint("turn", "revolute"), mass=1.0, inertia=np.eye(3), collisions=parts)]
    )


def test_many_shapes_have_one_volume(rng):
    shapes = [(Box((0.1, 0.2, 0.05)), placement((0.2 * k, 0.0, 0.1))) for k in range(7)]
    robot = arm_with(*shapes)
    (found,) = quick_volumes(robot)
    for shape, T in shapes:
        assert sticking_out([found.volume], moved(T, shape_points(shape, rng))) <= 1e-9
    assert len(quick_volumes(arm_with(*shapes[:3]))) == 3


def test_what_can_have_no_volume_is_told():
    with pytest.raises(ModelError, match="no volumes"):
        quick_volumes(arm_with((Plane(), np.eye(4)), (Sphere(0.1), np.eye(4))))
    with pytest.raises(ModelError, match="no collision shapes"):
        quick_volumes(arm_with())


def test_a_hull_is_computed_once(tmp_path, monkeypatch, rng):
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    mesh = Mesh("", points=rng.normal(size=(200, 3)))
    first = stored_hull(mesh)
    monkeypatch.setattr(hull_store, "hull_of", lambda points: pytest.fail("computed again"))
    again = stored_hull(mesh)
    assert np.array_equal(first.corners, again.corners)
    assert np.array_equal(first.faces, again.faces)


def test_flat_meshes_have_a_volume_and_no_hull(rng):
    mesh = Mesh("", points=np.column_stack([rng.normal(size=(20, 2)), np.zeros(20)]))
    with pytest.raises(ShapeError, match="volume"):
        stored_hull(mesh)
    (found,) = quick_volumes(arm_with((mesh, np.eye(4))))
    assert sticking_out([found.volume], mesh.vertices()) <= 1e-12
