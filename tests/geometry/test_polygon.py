"""Convex polygons against scipy's hulls and a search over the outline."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.spatial import ConvexHull

from surefoot.geometry import convex_hull, convex_hulls, distance_inside

SQUARE = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]])


def outline(corners, count=4000):
    """Points all along the edges."""
    ends = np.roll(corners, -1, axis=0)
    share = np.linspace(0.0, 1.0, count)[:, None, None]
    return (corners + share * (ends - corners)).reshape(-1, 2)


@pytest.mark.parametrize("seed", range(4))
def test_distance_is_that_to_the_outline_signed_by_the_faces_of_the_hull(seed):
    rng = np.random.default_rng(seed)
    corners = convex_hull(rng.normal(size=(12, 2)))
    points = rng.uniform(-3.0, 3.0, size=(200, 2))
    hull = ConvexHull(corners)
    inside = (points @ hull.equations[:, :2].T + hull.equations[:, 2] <= 0.0).all(axis=1)
    nearest = np.linalg.norm(points[:, None] - outline(corners), axis=2).min(axis=1)
    assert inside.any()
    assert (~inside).any()
    assert_allclose(distance_inside(points, corners), np.where(inside, nearest, -nearest), atol=1e-3)


def test_beyond_a_corner_the_distance_is_the_straight_one():
    assert_allclose(distance_inside([[2.0, 2.0], [0.5, 2.0], [0.5, 0.4]], SQUARE), [-np.sqrt(2.0), -1.0, 0.4])


def test_segments_and_points_have_no_inside():
    segment = [[0.0, 0.0], [1.0, 0.0]]
    assert_allclose(distance_inside([[0.5, 0.0], [2.0, 0.0], [0.5, -0.3]], segment), [0.0, -1.0, -0.3], atol=1e-15)
    assert_allclose(distance_inside([[3.0, 4.0], [0.0, 0.0]], [[0.0, 0.0]]), [-5.0, 0.0])


def test_one_polygon_per_point_and_repeated_corners():
    padded = SQUARE[[0, 1, 2, 3, 3, 0]]
    shifts = np.random.default_rng(0).normal(size=(50, 2))
    found = distance_inside(np.array([0.3, 0.2]) + shifts, padded + shifts[:, None])
    assert_allclose(found, 0.2, atol=1e-12)


@pytest.mark.parametrize("k", [1, 2, 3, 8, 16])
def test_many_hulls_are_those_of_the_single_ones(k):
    rng = np.random.default_rng(k)
    points = np.round(rng.normal(size=(60, k, 2)), 1)  # some repeat, some are in line
    active = rng.uniform(size=(60, k)) < 0.8
    active[0] = False
    hulls = convex_hulls(points, active)
    assert np.isnan(hulls[0]).all()
    for hull, set_, use in zip(hulls[1:], points[1:], active[1:], strict=True):
        if not use.any():
            assert np.isnan(hull).all()
            continue
        single = convex_hull(set_[use])
        assert np.abs(hull[:, None] - set_[use]).max(axis=2).min(axis=1).max() < 1e-8
        assert np.abs(single[:, None] - hull).max(axis=2).min(axis=1).max() < 1e-8
        probes = rng.normal(size=(20, 2))
        assert_allclose(distance_inside(probes, hull), distance_inside(probes, single), atol=1e-8)


def test_hulls_of_near_duplicates_keep_their_inside():
    """Two soles that share an edge up to rounding."""
    rng = np.random.default_rng(0)
    sole = SQUARE * [0.2, 0.1]
    points = np.vstack([sole, sole + np.array([0.2, 0.0])]) + 1e-16 * rng.normal(size=(500, 8, 2))
    assert_allclose(distance_inside([0.2, 0.04], convex_hulls(points)), 0.04, atol=1e-9)
    assert_allclose(distance_inside([0.45, 0.05], convex_hulls(points)), -0.05, atol=1e-9)


@pytest.mark.parametrize("noise", [0.0, *10.0 ** -np.arange(16.0, 5.0, -1.0)])
def test_corners_in_line_up_to_rounding_do_not_open_the_hull(noise):
    """Two parallel soles whose corners lie on common edges, but for noise: against the planes of scipy's hull."""
    rng = np.random.default_rng(5)
    sole = (SQUARE - 0.5) * [0.2, 0.1]
    points = np.vstack([sole - np.array([0.0, 0.1]), sole + np.array([0.0, 0.1])]) + noise * rng.normal(
        size=(300, 8, 2)
    )
    probes = rng.uniform([-0.09, -0.14], [0.09, 0.14], size=(300, 2))
    found = distance_inside(probes, convex_hulls(points))
    single = [distance_inside(probe, convex_hull(set_)) for probe, set_ in zip(probes, points, strict=True)]
    assert_allclose(found, single, atol=1e-8)
    assert_allclose(found, np.minimum(0.1 - abs(probes[:, 0]), 0.15 - abs(probes[:, 1])), atol=6.0 * noise + 1e-8)
    for probe, set_, distance in zip(probes[:40], points[:40], found[:40], strict=True):
        planes = ConvexHull(set_).equations
        assert_allclose(distance, -(planes[:, :2] @ probe + planes[:, 2]).max(), atol=1e-8)


def test_hulls_of_soles_in_line_keep_their_inside():
    """Heel and toe of two feet: corners in line up to rounding, the first one in the middle of an edge."""
    rng = np.random.default_rng(1)
    feet = [SQUARE * [length, 0.12] + [x, y] for x, length in ((0.0, 0.2), (0.212, 0.07)) for y in (0.0, 0.18)]
    points = np.vstack(feet) + rng.normal(size=(2000, 16, 2)) * 10.0 ** rng.integers(-17, -8, (2000, 1, 1))
    assert_allclose(distance_inside([0.1, 0.15], convex_hulls(points)), 0.1, atol=1e-6)
