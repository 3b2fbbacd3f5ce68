"""A ball or capsule that contains a shape, found at once."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from surefoot.geometry.fit.capsule import capsule_around, capsule_around_points

NUMBERS = st.floats(-2.0, 2.0, allow_subnormal=False)


def beyond(volume, points):
    """How far points lie outside of a volume [m]."""
    a, b = volume.vertices[0], volume.vertices[-1]
    share = np.clip((points - a) @ (b - a) / max((b - a) @ (b - a), 1e-300), 0.0, 1.0)
    return np.linalg.norm(points - a - share[:, None] * (b - a), axis=1).max() - volume.radius


@settings(deadline=None, max_examples=100)
@given(st.lists(st.tuples(NUMBERS, NUMBERS, NUMBERS), min_size=1, max_size=30))
def test_all_points_are_inside(rows):
    points = np.array(rows)
    found = capsule_around_points(points)
    assert beyond(found, points) <= 1e-12
    size = np.ptp(points, axis=0)
    assert found.radius <= np.linalg.norm(size) + 1e-12  # and it is no ball round everything there is


def test_balls_and_capsules_stay_what_they_are():
    assert capsule_around(Sphere(0.3)).radius == 0.3
    found = capsule_around(Capsule(0.1, 0.5))
    assert found.radius == 0.1
    assert sorted(found.vertices[:, 2]) == [-0.25, 0.25]


def test_points_of_a_capsule_have_that_capsule(rng):
    directions = rng.normal(size=(4000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    points = 0.1 * directions + np.array([0.0, 0.0, 0.4]) * rng.integers(0, 2, (4000, 1))
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = capsule_around_points(points @ turn.T)
    assert found.radius == pytest.approx(0.1, rel=0.03)
    assert np.linalg.norm(found.vertices[1] - found.vertices[0]) == pytest.approx(0.4, rel=0.03)


def test_a_long_box_is_a_capsule_along_it():
    found = capsule_around(Box((0.1, 0.06, 0.8)))
    assert np.abs(np.diff(found.vertices, axis=0)[0, :2]).max() < 1e-9
    assert found.radius == pytest.approx(np.hypot(0.05, 0.03), rel=0.02)


@pytest.mark.parametrize("shape", [Cylinder(0.1, 0.4), Ellipsoid((0.1, 0.2, 0.3)), Box((1.0, 1.0, 0.01))])
def test_round_and_flat_shapes_are_inside(shape, rng):
    directions = rng.normal(size=(2000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    if isinstance(shape, Cylinder):
        flat = directions[:, :2] / np.linalg.norm(directions[:, :2], axis=1, keepdims=True)
        surface = np.column_stack([shape.radius * flat, rng.choice([-0.5, 0.5], len(flat)) * shape.length])
    elif isinstance(shape, Ellipsoid):
        surface = directions * np.array(shape.radii)
    else:
        surface = 0.5 * np.sign(directions) * np.array(shape.size)
    assert beyond(capsule_around(shape), surface) <= 1e-9


def test_what_has_no_end_or_no_numbers_is_refused():
    with pytest.raises(NotSupportedError, match="plane"):
        capsule_around(Plane())
    with pytest.raises(ShapeError, match="finite"):
        capsule_around(Mesh("", points=np.array([[0.0, np.nan, 0.0]])))
