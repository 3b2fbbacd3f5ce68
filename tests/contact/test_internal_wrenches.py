"""Internal wrenches inside friction cones, against cases with known answers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.linalg import null_space

from surefoot.contact import friction_band, internal_range
from surefoot.errors import ShapeError
from tests.contact.soles import cylinder, line, point, rectangle

INSIDE = np.cos(np.pi / 8.0)  # of a pyramid of eight sides, along x and y


def carried(surfaces, frames):
    """C (6, c): wrenches about the world's origin of the tied directions of contacts at (R, p)."""
    parts = []
    for surface, (R, p) in zip(surfaces, frames, strict=True):
        X = np.zeros((6, 6))
        X[:3, :3] = X[3:, 3:] = R
        X[3:, :3] = np.cross(p, R.T).T
        parts.append(X @ surface.constraint_basis)
    return np.hstack(parts)


def ranged(surfaces, frames, load):
    C = carried(surfaces, frames)
    internal = null_space(C, rcond=1e-9)
    return C, internal, internal_range(surfaces, C, internal, np.asarray(load, dtype=float))


def slope(angle, side):
    """A plane that rises outwards on one side, 0.2 m from the middle: R and p."""
    normal = np.array([0.0, -side * np.sin(angle), np.cos(angle)])
    x = np.array([1.0, 0.0, 0.0])
    return np.column_stack([x, np.cross(normal, x), normal]), np.array([0.0, 0.2 * side, 0.0])


@pytest.mark.parametrize(("angle", "friction"), [(0.5, 0.2), (0.1, 0.3), (0.0, 0.6)])
def test_band_of_the_v_shaped_support(angle, friction):
    """Two points on slopes: the range of the one internal force is the closed form (Nenchev & Konno 2019, Fig. 3.8)."""
    weight, points = 4.0 * 9.81, [point(friction)] * 2
    C, internal, found = ranged(points, [slope(angle, side) for side in (1, -1)], [0, 0, weight, 0, 0, 0])
    assert internal.shape == (6, 1)
    band = friction_band(4.0, angle, friction * INSIDE)
    inward = -(C[:3, :3] @ internal[:3, 0])[1]  # of the left foot, per unit of z
    at_zero = -(C[:3, :3] @ (np.linalg.pinv(C) @ [0, 0, weight, 0, 0, 0])[:3])[1]
    ends = sorted(at_zero + inward * np.array([found.lower[0], found.upper[0]]))
    assert_allclose(ends, band, atol=1e-6)
    assert found.held
    assert found.interior
    assert found.admissible.all()


def test_steep_slopes_need_an_internal_force():
    """α > atan μ: holding is only possible with one, and 0 is out of its range."""
    _, _, found = ranged([point(0.2)] * 2, [slope(0.5, side) for side in (1, -1)], [0, 0, 40.0, 0, 0, 0])
    assert found.lower[0] * found.upper[0] > 0.0


def test_weight_over_one_point_leaves_the_other_nothing():
    """At the boundary: the load is held, strictly inside nothing is, and the internal force has no range."""
    frames = [(np.eye(3), np.array([0.0, y, 0.0])) for y in (0.2, -0.2)]
    _, _, found = ranged([point(0.5)] * 2, frames, [0.0, 0.0, 50.0, 10.0, 0.0, 0.0])
    assert found.held
    assert not found.interior
    assert_allclose(found.slack, 0.0, atol=1e-9)
    assert not found.admissible.any()


def test_weight_beyond_the_points_is_not_held():
    frames = [(np.eye(3), np.array([0.0, y, 0.0])) for y in (0.2, -0.2)]
    _, _, found = ranged([point(0.5)] * 2, frames, [0.0, 0.0, 50.0, 11.0, 0.0, 0.0])
    assert not found.held
    assert np.isnan(found.lower).all()
    assert not found.admissible.any()


def test_two_soles_without_load_touch_and_no_more():
    """Level feet in free fall: any internal force would pull at one of them."""
    frames = [(np.eye(3), np.array([0.0, y, 0.0])) for y in (0.2, -0.2)]
    _, internal, found = ranged([rectangle(), rectangle()], frames, np.zeros(6))
    assert internal.shape == (12, 6)
    assert found.held
    assert not found.interior
    assert_allclose(found.lower, 0.0, atol=1e-9)
    assert_allclose(found.upper, 0.0, atol=1e-9)


def test_walls_that_face_each_other_can_be_pushed_without_end():
    turn = [np.array([[0.0, 0.0, s], [1.0, 0.0, 0.0], [0.0, s, 0.0]]) for s in (1.0, -1.0)]  # normals along ±x
    frames = [(R, np.array([-0.3 * s, 0.0, 0.0])) for R, s in zip(turn, (1.0, -1.0), strict=True)]
    _, internal, found = ranged([rectangle(), rectangle()], frames, [0.0, 0.0, 100.0, 0.0, 0.0, 0.0])
    assert internal.shape[1] == 6
    assert found.interior
    assert np.isinf(np.r_[found.lower, found.upper]).any()


def test_hands_closed_on_bars_have_every_internal_wrench():
    frames = [(np.eye(3), np.array([0.0, y, 1.0])) for y in (0.3, -0.3)]
    _, internal, found = ranged([cylinder(), cylinder()], frames, [0.0, 0.0, 100.0, 0.0, 0.0, 0.0])
    assert internal.shape[1] == 6
    assert np.isinf(found.lower).all()
    assert np.isinf(found.upper).all()


def test_an_edge_alone_has_none():
    _, internal, found = ranged([line()], [(np.eye(3), np.zeros(3))], [0.0, 0.0, 10.0, 0.0, 0.0, 0.0])
    assert internal.shape[1] == 0
    assert found.interior
    assert found.lower.shape == (0,)


def test_shapes_are_checked():
    with pytest.raises(ShapeError):
        internal_range([point()], np.zeros((6, 4)), np.zeros((4, 1)), np.zeros(6))
