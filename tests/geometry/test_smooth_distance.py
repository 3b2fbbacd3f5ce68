"""Smooth distances: their problem solved by another optimiser, their bound, and gradients without jumps."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from scipy.optimize import minimize

from surefoot.collision.pairs.kernels import pair_kernel
from surefoot.errors import ShapeError
from surefoot.geometry.swept_distance import smooth_distance
from tests.geometry.swept_examples import COUNT, PAIRS, random_pairs

WITH_EDGES = [("line", "line"), ("line", "triangle"), ("triangle", "triangle")]
BLUR = 0.05


def smooth(kinds, A, B, blur=BLUR):
    none = np.zeros(len(A))
    return pair_kernel(*kinds, "smooth")(A, none, B, none, np.broadcast_to(blur, len(A)).copy())


def exact(kinds, A, B):
    none = np.zeros(len(A))
    return pair_kernel(*kinds, "gradient")(A, none, B, none)


@pytest.mark.parametrize("kinds", list(product(COUNT, COUNT)))
def test_it_is_the_minimum_that_it_claims_to_be(kinds):
    rng = np.random.default_rng(0)
    k, m = (COUNT[kind] for kind in kinds)
    for _ in range(12):
        A, B = rng.uniform(-0.5, 0.5, (k, 3)), rng.uniform(-0.5, 0.5, (m, 3))
        blur = 10.0 ** rng.uniform(-1.5, 0.5)

        def value(x, A=A, B=B, blur=blur):
            a, b = x[:k], x[k:]
            return ((a @ A - b @ B) ** 2).sum() + 0.5 * blur**2 * (a @ a + b @ b)

        sums = [{"type": "eq", "fun": lambda x, part=part: x[part].sum() - 1.0} for part in (slice(k), slice(k, None))]
        start = np.array([1.0 / k] * k + [1.0 / m] * m)
        options = {"ftol": 1e-15, "maxiter": 500}
        found = minimize(value, start, bounds=[(0, 1)] * (k + m), constraints=sums, method="SLSQP", options=options)
        assert smooth_distance(A, B, blur).distance ** 2 == pytest.approx(found.fun, abs=1e-9)


@pytest.mark.parametrize("kinds", PAIRS)
def test_it_is_as_near_to_the_exact_distance_as_is_said(kinds):
    rng = np.random.default_rng(1)
    A, B = random_pairs(rng, COUNT[kinds[0]], COUNT[kinds[1]], 20_000)
    blur = 10.0 ** rng.uniform(-4.0, 0.0, len(A))
    near, far = exact(kinds, A, B)[0], smooth(kinds, A, B, blur)[0]
    assert (far - near).min() > -1e-12
    assert (far - np.hypot(near, blur)).max() < 1e-12
    assert np.isfinite(far).all()


@pytest.mark.parametrize("kinds", PAIRS)
def test_gradients_are_differences_everywhere(kinds):
    """Also where the exact gradient jumps: parallel, meeting and collapsed hulls."""
    rng = np.random.default_rng(2)
    A, B = random_pairs(rng, COUNT[kinds[0]], COUNT[kinds[1]], 2000)
    size = np.ptp(np.concatenate([A, B], axis=1), axis=1).max(axis=1)
    keep = (size > 0.1) & (size < 3.0) & (np.abs(A).max(axis=(1, 2)) < 3.0)
    A, B, h = A[keep], B[keep], 1e-6
    assert len(A) > 300
    _, gradient_a, gradient_b = smooth(kinds, A, B, 0.3)
    for X, gradient in ((A, gradient_a), (B, gradient_b)):
        for i, j in product(range(X.shape[1]), range(3)):
            X[:, i, j] += h
            plus = smooth(kinds, A, B, 0.3)[0]
            X[:, i, j] -= 2 * h
            minus = smooth(kinds, A, B, 0.3)[0]
            X[:, i, j] += h
            np.testing.assert_allclose((plus - minus) / (2 * h), gradient[:, i, j], atol=2e-5)


def turning(kinds, n):
    """A hull that turns through parallel to another one, in n steps; both have an edge along x."""
    edge = np.array([[-0.5, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.0, -0.4]])
    angle = np.linspace(-0.3, 0.3, n)
    A = np.broadcast_to(edge[: COUNT[kinds[0]]], (n, COUNT[kinds[0]], 3)).copy()
    turn = np.zeros((n, 3, 3))
    turn[:, 0, 0], turn[:, 2, 2], turn[:, 1, 1] = np.cos(angle), np.cos(angle), 1.0
    turn[:, 0, 2], turn[:, 2, 0] = np.sin(angle), -np.sin(angle)
    other = edge[: COUNT[kinds[1]]] * [1.0, 1.0, -1.0]
    return A, other @ turn + [0.0, 0.0, 0.2]


def largest_step(gradient):
    return np.abs(np.diff(gradient, axis=0)).max()


@pytest.mark.parametrize("kinds", WITH_EDGES)
def test_gradients_do_not_jump_through_parallel(kinds):
    coarse, fine = (turning(kinds, n) for n in (1001, 8001))
    for at in (1, 2):
        assert largest_step(exact(kinds, *fine)[at]) > 0.4
        once, again = (largest_step(smooth(kinds, *path)[at]) for path in (coarse, fine))
        assert again < 0.2 * once  # an eighth in the limit: the gradient is Lipschitz
        assert again < 0.02


@pytest.mark.parametrize("kinds", PAIRS)
def test_gradients_do_not_jump_through_contact(kinds):
    rng = np.random.default_rng(3)
    base_a, base_b = (rng.uniform(-0.5, 0.5, (COUNT[kind], 3)) for kind in kinds)
    base_b += base_a.mean(axis=0) - base_b.mean(axis=0)
    shift = np.linspace(-0.2, 0.2, 4001)[:, None, None] * np.array([0.6, 0.0, 0.8])
    path = np.broadcast_to(base_a, (4001, *base_a.shape)).copy(), base_b + shift
    assert largest_step(smooth(kinds, *path)[1]) < 0.01


@pytest.mark.parametrize("kinds", PAIRS)
def test_little_blur_gives_the_exact_distance(kinds):
    A, B = random_pairs(np.random.default_rng(4), COUNT[kinds[0]], COUNT[kinds[1]], 2000)
    near, far = exact(kinds, A, B)[0], smooth(kinds, A, B, 1e-7)[0]
    np.testing.assert_allclose(far, near, rtol=0.0, atol=1.0001e-7)


def test_a_blur_that_is_not_positive_is_refused():
    with pytest.raises(ShapeError, match="blur"):
        smooth_distance(np.zeros((1, 3)), np.ones((1, 3)), 0.0)
