"""Exact distances of hulls against another way to find them, proofs of optimality, and the laws of a distance."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from surefoot.codegen import compile_function
from surefoot.collision.pairs.kernels import pair_kernel
from surefoot.errors import ShapeError
from surefoot.geometry.swept_distance import generator_distance, generator_gradient, swept_distance
from tests.geometry.swept_examples import COUNT, PAIRS, random_pairs, random_turns
from tests.geometry.swept_oracle import hull_points, lower_bound, oracle_distance

NEAR = 1e-12  # [m] for sizes of up to 50 m
BOTH_WAYS = list(product(COUNT, COUNT))


def nearest(kind_a, kind_b, A, B):
    none = np.zeros(len(A))
    return pair_kernel(kind_a, kind_b, "nearest")(A, none, B, none)


def pairs(kinds, n, seed=0):
    return random_pairs(np.random.default_rng(seed), COUNT[kinds[0]], COUNT[kinds[1]], n)


def sizes(A, B):
    return np.ptp(np.concatenate([A, B], axis=1), axis=1).max(axis=1)


@pytest.mark.parametrize("kinds", BOTH_WAYS)
def test_distances_are_those_of_another_optimiser(kinds):
    A, B = pairs(kinds, 3000)
    np.testing.assert_allclose(nearest(*kinds, A, B)[0], oracle_distance(A, B), rtol=0.0, atol=NEAR)


@pytest.mark.slow
@pytest.mark.parametrize("kinds", PAIRS)
def test_a_hundred_thousand_distances_are_those_of_another_optimiser(kinds):
    A, B = pairs(kinds, 100_000, seed=1)
    np.testing.assert_allclose(nearest(*kinds, A, B)[0], oracle_distance(A, B), rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kinds", PAIRS)
def test_a_hundred_thousand_distances_are_proven_by_their_nearest_points(kinds):
    """The points lie in the hulls, and a slab across their line separates the hulls: nothing can be nearer."""
    A, B = pairs(kinds, 100_000, seed=2)
    distance, point_a, point_b = nearest(*kinds, A, B)
    np.testing.assert_allclose(np.linalg.norm(point_a - point_b, axis=1), distance, rtol=0.0, atol=NEAR)
    for kind, points, hull in ((kinds[0], point_a, A), (kinds[1], point_b, B)):
        assert nearest("point", kind, points[:, None], hull)[0].max() < NEAR
    apart = distance > 1e-3 * sizes(A, B)  # in a narrow gap its direction, and so the slab, is inaccurate
    assert 0.3 < apart.mean() < 1.0 or kinds == ("point", "point")
    proven = lower_bound(A[apart], B[apart], point_a[apart], point_b[apart])
    assert (distance[apart] - proven).max() < 1e-9


@pytest.mark.parametrize("kinds", PAIRS)
def test_order_does_not_matter(kinds):
    A, B = pairs(kinds, 3000, seed=3)
    distance = nearest(*kinds, A, B)[0]
    np.testing.assert_allclose(nearest(*kinds[::-1], B, A)[0], distance, rtol=0.0, atol=NEAR)
    swapped = nearest(*kinds, A[:, ::-1], np.roll(B, 1, axis=1))[0]
    np.testing.assert_allclose(swapped, distance, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kinds", PAIRS)
def test_a_rigid_motion_changes_nothing(kinds):
    rng = np.random.default_rng(4)
    A, B = random_pairs(rng, COUNT[kinds[0]], COUNT[kinds[1]], 3000)
    R, p = random_turns(rng, 3000), rng.uniform(-5.0, 5.0, (3000, 1, 3))
    moved = nearest(*kinds, A @ R + p, B @ R + p)[0]
    np.testing.assert_allclose(moved, nearest(*kinds, A, B)[0], rtol=0.0, atol=1e-11)


@pytest.mark.parametrize("kinds", PAIRS)
def test_a_distance_changes_by_no_more_than_vertices_move(kinds):
    rng = np.random.default_rng(5)
    A, B = random_pairs(rng, COUNT[kinds[0]], COUNT[kinds[1]], 3000)
    step = 10.0 ** rng.uniform(-12.0, 0.0, (3000, 1, 1)) * rng.standard_normal(A.shape)
    change = nearest(*kinds, A + step, B)[0] - nearest(*kinds, A, B)[0]
    assert (np.abs(change) - np.linalg.norm(step, axis=2).max(axis=1)).max() < NEAR


@pytest.mark.parametrize("kinds", PAIRS)
def test_it_is_zero_exactly_where_hulls_meet(kinds):
    rng = np.random.default_rng(6)
    A, B = (rng.uniform(-1.0, 1.0, (3000, COUNT[kind], 3)) for kind in kinds)
    meeting = B + (hull_points(rng, A) - hull_points(rng, B))[:, None]
    assert nearest(*kinds, A, meeting)[0].max() < NEAR
    gap = 10.0 ** rng.uniform(-9.0, 0.0, 3000)
    A[..., 2] = gap[:, None] + np.abs(A[..., 2])
    B[..., 2] = -np.abs(B[..., 2])
    assert (nearest(*kinds, A, B)[0] - gap).min() > -NEAR


ZERO, (X, Y, Z) = np.zeros(3), np.eye(3)
LINE, TRIANGLE = np.array([ZERO, X]), np.array([ZERO, X, Y])


@pytest.mark.parametrize(
    ("A", "B", "expected"),
    [
        ([X], [X], 0.0),
        (LINE, [2 * X + Y], np.sqrt(2)),
        (LINE, LINE + Y, 1.0),  # parallel
        (LINE, LINE[::-1] + 0.5 * X + Z, 1.0),  # parallel, opposite, half beside each other
        (LINE, LINE + 3 * X, 2.0),  # on one line
        (LINE, LINE + 0.3 * X, 0.0),  # overlapping
        ([X, X], [Y, Y], np.sqrt(2)),  # both without length
        (LINE, [0.5 * X - Y + Z, 0.5 * X + Y + Z], 1.0),  # crossing above
        (TRIANGLE, [0.2 * X + 0.2 * Y + Z], 1.0),
        (TRIANGLE, [X + Y], np.sqrt(0.5)),
        (TRIANGLE, [0.2 * X + 0.2 * Y - Z, 0.2 * X + 0.2 * Y + Z], 0.0),  # piercing
        (TRIANGLE, [0.2 * X + 0.2 * Y + 2 * Z, 0.2 * X + 0.2 * Y + Z], 1.0),
        (TRIANGLE, TRIANGLE + Z, 1.0),  # parallel planes
        (TRIANGLE, 0.1 * TRIANGLE + 0.1 * X + 0.1 * Y, 0.0),  # one inside the other
        (TRIANGLE, TRIANGLE + 2 * X, 1.0),  # in one plane
        ([ZERO, 0.5 * X, X], [3 * X, 2 * X, 4 * X], 1.0),  # collinear vertices
        ([X, X, X], [Y, Y, Y], np.sqrt(2)),  # coincident vertices
        (TRIANGLE, [0.25 * X + 0.25 * Y - Z, 0.25 * X + 0.25 * Y + Z, 3 * Y + Z], 0.0),
    ],
)
def test_known_cases(A, B, expected):
    A, B = np.asarray(A, dtype=float), np.asarray(B, dtype=float)
    for a, b in ((A, B), (B, A)):
        found = generator_distance(a, b)
        assert found.distance == pytest.approx(expected, abs=1e-15)
        assert np.linalg.norm(found.point_a - found.point_b) == pytest.approx(expected, abs=1e-15)


@pytest.mark.parametrize("kinds", PAIRS)
def test_numbers_and_machine_code_agree(kinds):
    A, B = pairs(kinds, 200, seed=7)
    distance, *_ = nearest(*kinds, A, B)
    one_by_one = [generator_distance(a, b).distance for a, b in zip(A, B, strict=True)]
    np.testing.assert_allclose(distance, one_by_one, rtol=0.0, atol=NEAR)


@pytest.mark.parametrize("kinds", PAIRS)
def test_single_precision_is_right_to_its_rounding(kinds):
    A, B = (x.astype(np.float32) for x in pairs(kinds, 2000, seed=11))
    shapes = {"a": A.shape[1:], "b": B.shape[1:]}
    found = compile_function("distance", generator_distance, shapes, dtype="float32")(A, B)[0]
    expected = nearest(*kinds, A.astype(float), B.astype(float))[0]
    scale = sizes(A, B) + np.abs(B).max(axis=(1, 2))
    assert (np.abs(found - expected) / scale).max() < 2e-6


@pytest.mark.parametrize("kinds", PAIRS)
def test_points_lie_on_the_surfaces(kinds):
    rng = np.random.default_rng(8)
    A, B = (rng.uniform(-1.0, 1.0, (500, COUNT[kind], 3)) for kind in kinds)
    B[..., 0] += 2.05
    radius_a, radius_b = rng.uniform(0.01, 0.8, (2, 500))
    distance, point_a, point_b = pair_kernel(*kinds, "nearest")(A, radius_a, B, radius_b)
    assert distance.min() < 0.0 < distance.max()
    np.testing.assert_allclose(distance, nearest(*kinds, A, B)[0] - radius_a - radius_b, atol=1e-14)
    np.testing.assert_allclose(np.linalg.norm(point_a - point_b, axis=1), np.abs(distance), atol=1e-13)
    for kind, points, hull, radius in ((kinds[0], point_a, A, radius_a), (kinds[1], point_b, B, radius_b)):
        np.testing.assert_allclose(nearest("point", kind, points[:, None], hull)[0], radius, atol=1e-13)


def test_hulls_that_meet_have_no_direction():
    found = swept_distance(LINE, 0.1, LINE + 0.3 * X, 0.2)
    assert found.distance == pytest.approx(-0.3)
    np.testing.assert_allclose(found.point_a, found.point_b, atol=1e-15)
    graded = generator_gradient(TRIANGLE, np.array([-Z, X + 0.5 * Y + Z]) * 0.3)
    assert not graded.gradient_a.any()
    assert not graded.gradient_b.any()


@pytest.mark.parametrize("kinds", BOTH_WAYS)
def test_gradients_are_differences(kinds):
    rng = np.random.default_rng(9)
    A, B = (rng.uniform(-0.5, 0.5, (300, COUNT[kind], 3)) for kind in kinds)
    kernel, none, h = pair_kernel(*kinds, "gradient"), np.zeros(300), 1e-6
    distance, gradient_a, gradient_b = kernel(A, none, B, none)
    bends = np.zeros(300)  # where the nearest points pass a corner within the step, the gradient has a kink
    for X, gradient in ((A, gradient_a), (B, gradient_b)):
        for i, j in product(range(X.shape[1]), range(3)):
            X[:, i, j] += h
            plus, up, _ = kernel(A, none, B, none)
            X[:, i, j] -= 2 * h
            minus, down, _ = kernel(A, none, B, none)
            X[:, i, j] += h
            bends = np.maximum(bends, np.abs(up - down).max(axis=(1, 2)))
            good = (distance > 1e-2) & (bends < 1e-3)
            assert good.mean() > 0.6
            np.testing.assert_allclose(((plus - minus) / (2 * h))[good], gradient[good, i, j], atol=2e-7)


@pytest.mark.parametrize("kinds", PAIRS)
def test_moving_both_alike_has_no_gradient(kinds):
    A, B = pairs(kinds, 3000, seed=10)
    none = np.zeros(len(A))
    distance, gradient_a, gradient_b = pair_kernel(*kinds, "gradient")(A, none, B, none)
    force_a, force_b = gradient_a.sum(axis=1), gradient_b.sum(axis=1)
    np.testing.assert_allclose(force_a, -force_b, atol=1e-12)
    apart = distance > 1e-2
    np.testing.assert_allclose(np.linalg.norm(force_a[apart], axis=1), 1.0, atol=1e-9)
    arms_a, arms_b = A - A[:, :1], B - A[:, :1]
    moment = np.cross(arms_a, gradient_a).sum(axis=1) + np.cross(arms_b, gradient_b).sum(axis=1)
    np.testing.assert_allclose(moment[apart], 0.0, atol=1e-9)


@pytest.mark.parametrize(("a", "b"), [((4, 3), (1, 3)), ((0, 3), (2, 3)), ((1, 2), (1, 3))])
def test_other_hulls_are_refused(a, b):
    with pytest.raises(ShapeError, match="one, two or three"):
        generator_distance(np.zeros(a), np.zeros(b))
