"""Worlds: the highest ground counts, and to_dict and from_dict are inverse."""

from __future__ import annotations

import json

import numpy as np
import pytest

from surefoot.errors import ShapeError, UnknownNameError
from surefoot.geometry import Box, Capsule, Mesh, Sphere
from surefoot.motion import GroundBox, GroundPlane, HeightField, MovableObject, Obstacle, World, stairs
from surefoot.robot import placement


def a_world() -> World:
    return World(
        ground=(
            GroundPlane(),
            GroundBox((1.0, 1.0, 0.2), friction=0.3),
            HeightField(np.ones((2, 3)), 0.5, [5, 5, 0]),
            *stairs(2, 0.1, 0.3, start=(2, 0, 0)),
        ),
        obstacles=(
            Obstacle("wall", Box((0.1, 2.0, 1.0)), placement((3, 0, 0.5))),
            Obstacle("rock", Mesh(points=np.eye(3), faces=np.array([[0, 1, 2]]))),
        ),
        objects=(MovableObject("ball", Sphere(0.1), 0.4), MovableObject("rod", Capsule(0.02, 1.0), 2.0)),
        friction=0.6,
        gravity=(0.0, 0.0, -1.62),
    )


def test_the_highest_ground_counts_with_its_friction():
    world = a_world()
    np.testing.assert_allclose(
        world.height([0.0, 2.1, 2.4, 5.2, -3.0], [0.0, 0.0, 0.0, 5.2, 0.0]), [0.1, 0.1, 0.2, 1.0, 0.0]
    )
    assert world.friction_at(0.0, 0.0) == 0.3
    assert world.friction_at(-3.0, 0.0) == 0.6
    assert World(ground=()).height(0.0, 0.0) == -np.inf
    assert World.flat(0.4).friction == 0.4


def test_to_dict_and_back_is_the_same_world():
    text = json.dumps(a_world().to_dict())
    back = World.from_dict(json.loads(text))
    assert json.dumps(back.to_dict()) == text
    np.testing.assert_array_equal(back.obstacles[0].pose, a_world().obstacles[0].pose)
    assert back.objects[1].shape == Capsule(0.02, 1.0)
    x, y = np.random.default_rng(0).uniform(-1, 6, (2, 50))
    np.testing.assert_array_equal(back.height(x, y), a_world().height(x, y))


@pytest.mark.parametrize(
    ("change", "kind"),
    [
        ({"frction": 1.0}, ShapeError),
        ({"ground": [{"kind": "sea"}]}, UnknownNameError),
        ({"ground": [{"kind": "box", "size": [1, 1]}]}, ShapeError),
        ({"ground": [{"kind": "box"}]}, ShapeError),
        ({"ground": "flat"}, ShapeError),
        ({"obstacles": [{"name": "a", "shape": {"kind": "sphere", "radius": -1.0}}]}, ShapeError),
        ({"obstacles": [{"name": "a", "shape": {"kind": "sphere", "radius": 1.0}}] * 2}, ShapeError),
        ({"objects": [{"name": "a", "shape": {"kind": "sphere", "radius": 1.0}}]}, ShapeError),
        ({"friction": "much"}, ShapeError),
        ({"gravity": [0.0, 0.0, float("nan")]}, ShapeError),
    ],
)
def test_wrong_worlds_are_refused(change, kind):
    with pytest.raises(kind):
        World.from_dict(change)
