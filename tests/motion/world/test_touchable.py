"""What feet and hands may touch: polygons of ground, boxes, slopes and walls, rods; and points that are covered."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.errors import ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Sphere, contains
from surefoot.motion import GroundBox, GroundPlane, HeightField, Obstacle, stairs
from surefoot.motion.world import contact_planes, is_exposed, touchable_surfaces
from surefoot.robot import placement

TILT = pin.rpy.rpyToMatrix(0.3, -0.2, 0.5)
RAIL = Obstacle("rail", Capsule(0.02, 1.0), placement((1.0, 0.0, 0.9), pin.rpy.rpyToMatrix(np.pi / 2, 0, 0)), 0.4, True)
WALL = Obstacle("wall", Box((0.2, 2.0, 1.5)), placement((2.0, 0.0, 0.75)), touchable=True)
POLE = Obstacle("pole", Cylinder(0.1, 1.0), placement((-1.0, 0.0, 0.5)))


def test_pieces_of_a_world_by_name() -> None:
    world = sf.World(
        ground=(
            GroundPlane(),
            *stairs(1, 0.1, 0.5, 1.0, (0.3, 0.0, 0.0), 0.5),
            GroundBox((1, 1, 0.1), placement((0, -2, 1), TILT)),
        ),
        obstacles=(RAIL, WALL, POLE),
    )
    surfaces = {surface.name: surface for surface in touchable_surfaces(world, (-1, -3, 3, 3))}
    step, slope = {f"ground 1 {f}" for f in ("front", "back", "left", "right", "top")}, "ground 2 top"
    assert step | {"ground 0", slope, "ground 2 bottom", "rail", "wall front", "wall top"} <= set(surfaces)
    assert not {"ground 1 bottom", "wall bottom", "pole"} & set(surfaces)  # covered, covered, must not be touched
    assert surfaces["ground 0"].area == pytest.approx(4 * 6)
    assert surfaces["ground 1 top"].area == pytest.approx(0.5)
    assert surfaces["ground 1 top"].friction == 0.5
    assert surfaces["wall front"].friction == world.friction
    np.testing.assert_allclose(surfaces[slope].normal, TILT[:, 2], atol=1e-12)
    np.testing.assert_allclose(surfaces["wall back"].normal, [-1.0, 0.0, 0.0], atol=1e-12)
    np.testing.assert_allclose(surfaces["wall back"].pose[:3, 1], [0.0, 0.0, 1.0], atol=1e-12)
    rail = surfaces["rail"]
    assert (rail.kind, rail.radius, rail.friction) == ("rod", 0.02, 0.4)
    np.testing.assert_allclose(rail.points([[0.0, 0.0]])[0], [1.0, 0.0, 0.92], atol=1e-12)
    assert rail.area == pytest.approx(2 * np.pi * 0.02)


@pytest.mark.parametrize("thing", [RAIL, WALL], ids=["rod", "box"])
def test_samples_lie_on_the_surface_and_look_outwards(thing: Obstacle) -> None:
    """Just above a sample there is nothing, just below there is the shape; physics gives the same normal."""
    world = sf.World(ground=(), obstacles=(thing,))
    rng = np.random.default_rng(0)
    for surface in touchable_surfaces(world):
        places = surface.sample(rng, 200)
        assert (surface.distance_inside(places) >= -1e-12).all()
        p, n = surface.points(places), surface.normals(places)
        np.testing.assert_allclose(np.linalg.norm(n, axis=1), 1.0)
        own = (p - thing.pose[:3, 3]) @ thing.pose[:3, :3]
        turned = n @ thing.pose[:3, :3]
        assert contains(thing.shape, own - 1e-6 * turned).all()
        assert not contains(thing.shape, own + 1e-6 * turned).any()
        planes = contact_planes(world, p + 1e-4 * n)
        np.testing.assert_allclose(planes[:, :3], n, atol=1e-6)
        np.testing.assert_allclose(np.sum(planes[:, :3] * p, axis=1), planes[:, 3], atol=1e-9)
        np.testing.assert_allclose(planes[:, 4], surface.friction)


def test_samples_are_uniform() -> None:
    surface = touchable_surfaces(sf.World(), (0, 0, 4, 1))[0]
    places = surface.sample(np.random.default_rng(1), 20000)
    np.testing.assert_allclose(surface.points(places).mean(axis=0), [2.0, 0.5, 0.0], atol=0.03)
    np.testing.assert_allclose(places.std(axis=0), [4 / np.sqrt(12), 1 / np.sqrt(12)], rtol=0.03)


def test_points_under_things_are_not_exposed() -> None:
    world = sf.World(ground=(GroundPlane(), GroundBox((0.4, 0.4, 0.2), placement((0, 0, 0.1)))), obstacles=(POLE,))
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.2], [1.0, 0.0, 0.0], [-1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(is_exposed(world, points, np.tile([0, 0, 1.0], (4, 1))), [False, True, True, False])


def test_height_fields_give_triangles_and_balls_none() -> None:
    field = HeightField(np.array([[0.0, 0.1], [0.0, 0.1], [0.2, 0.1]]), 0.5)
    world = sf.World(ground=(field,), obstacles=(Obstacle("ball", Sphere(0.1), placement((9, 9, 9)), touchable=True),))
    surfaces = touchable_surfaces(world)
    assert len(surfaces) == 4
    for surface in surfaces:
        corners = surface.points(surface.polygon)
        np.testing.assert_allclose(corners[:, 2], field.height(corners[:, 0], corners[:, 1]), atol=1e-12)
        assert surface.normal[2] > 0.0
    assert len(touchable_surfaces(world, (0.0, 0.0, 0.6, 0.6))) == 2
    with pytest.raises(ShapeError, match="region"):
        touchable_surfaces(world, (1.0, 0.0, 0.0, 1.0))


def test_touchable_obstacles_survive_writing() -> None:
    again = sf.World.from_dict(sf.World(obstacles=(RAIL, POLE)).to_dict()).obstacles
    assert [(item.friction, item.touchable) for item in again] == [(0.4, True), (None, False)]
    with pytest.raises(ShapeError, match="touchable"):
        Obstacle("wall", Box((1, 1, 1)), touchable="yes")  # type: ignore[arg-type]
