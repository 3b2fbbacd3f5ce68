import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.optimize import minimize

from surefoot.errors import ShapeError
from surefoot.ik.textbook.inverses import (
    clamped_error,
    damped_inverse,
    filtered_inverse,
    restrict,
    selectively_damped_step,
    transpose_step,
    truncated_inverse,
    weighted_inverse,
)
from tests.ik import planar_arm

SHAPES = [(2, 4), (4, 4), (6, 7), (5, 3)]


@pytest.mark.parametrize("shape", SHAPES)
def test_damped_inverse_is_stacked_least_squares(rng, shape):
    J, e, damping = rng.normal(size=shape), rng.normal(size=shape[0]), 0.3
    stacked = np.vstack([J, damping * np.eye(shape[1])])
    expected = np.linalg.lstsq(stacked, np.append(e, np.zeros(shape[1])), rcond=None)[0]
    assert_allclose(damped_inverse(J, damping) @ e, expected, atol=1e-12)


@given(st.floats(0.0, 10.0), st.floats(1e-3, 1.0))
def test_damped_inverse_is_bounded_at_singular_postures(size, damping):
    J = np.diag([3.0, size])
    assert np.linalg.norm(damped_inverse(J, damping), 2) <= 0.5 / damping * (1.0 + 1e-12)


def test_weighted_inverse_is_least_by_its_weights(rng):
    J, e, A = rng.normal(size=(3, 6)), rng.normal(size=3), rng.normal(size=(6, 6))
    W = A @ A.T + np.eye(6)
    x = weighted_inverse(J, W) @ e
    W_inverse = np.linalg.inv(W)
    assert_allclose(x, W_inverse @ J.T @ np.linalg.inv(J @ W_inverse @ J.T) @ e, atol=1e-10)
    kkt = np.block([[W, J.T], [J, np.zeros((3, 3))]])
    assert_allclose(x, np.linalg.solve(kkt, np.append(np.zeros(6), e))[:6], atol=1e-10)
    diagonal = rng.uniform(0.1, 3.0, 6)
    assert_allclose(weighted_inverse(J, diagonal), weighted_inverse(J, np.diag(diagonal)), atol=1e-12)
    assert_allclose(weighted_inverse(J, np.ones(6)), np.linalg.pinv(J), atol=1e-12)


def test_weights_must_be_positive(rng):
    with pytest.raises(ShapeError, match="positive definite"):
        weighted_inverse(rng.normal(size=(2, 3)), np.diag([1.0, 1.0, -1.0]))
    with pytest.raises(ShapeError):
        weighted_inverse(rng.normal(size=(2, 3)), np.ones(4))


def test_truncated_inverse_leaves_lost_directions_out(rng):
    J = rng.normal(size=(3, 5))
    J[2] = J[0] + 1e-13 * J[1]
    inverse = truncated_inverse(J)
    assert np.linalg.matrix_rank(inverse, rtol=1e-8) == 2
    assert np.linalg.norm(inverse) < 1e3
    assert_allclose(inverse @ J @ inverse, inverse, atol=1e-10)


def test_filtered_inverse_is_exact_above_its_threshold_and_continuous():
    threshold, damping = 0.1, 0.05
    J = np.array([[1.0, 0.4, 0.2], [0.1, 1.0, -0.3]])
    assert_allclose(filtered_inverse(J, threshold, damping), np.linalg.pinv(J), atol=1e-12)
    sizes = np.linspace(0.0, 0.2, 2001)
    gains = np.array([filtered_inverse(np.diag([1.0, size]), threshold, damping)[1, 1] for size in sizes])
    assert gains[0] == 0.0
    bound = 0.5 / (damping * np.sqrt(1.0 - (damping / threshold) ** 2))
    assert_allclose(gains.max(), bound, rtol=1e-6)
    slope = np.abs(np.diff(gains)).max() / 1e-4
    finer = np.array([filtered_inverse(np.diag([1.0, s]), threshold, damping)[1, 1] for s in np.linspace(0, 0.2, 4001)])
    assert np.abs(np.diff(finer)).max() / 5e-5 < 1.1 * slope


def test_restricted_inverse_does_not_invert_rounding(rng):
    J = rng.normal(size=(2, 5))
    N = np.eye(5) - np.linalg.pinv(J) @ J
    restricted = restrict(J, N)
    assert restricted.rows.shape == (0, 5)
    assert_allclose(restricted.inverse, 0.0, atol=0.0)


@pytest.mark.parametrize("shape", SHAPES)
def test_transpose_step_is_the_best_along_its_direction(rng, shape):
    J, e = rng.normal(size=shape), rng.normal(size=shape[0])
    step = transpose_step(J, e)
    best = minimize(lambda a: np.sum((e - a[0] * J @ J.T @ e) ** 2), [0.0], tol=1e-14).x[0]
    assert_allclose(step, best * J.T @ e, rtol=1e-5)
    assert np.linalg.norm(e - J @ step) < np.linalg.norm(e)


def test_transpose_step_rests_where_nothing_pulls():
    assert_allclose(transpose_step(np.array([[0.0, 0.0], [2.0, 1.0]]), [1.0, 0.0]), 0.0, atol=0.0)


def test_clamped_error_keeps_the_direction():
    assert_allclose(clamped_error([3.0, 4.0], 1.0), [0.6, 0.8])
    assert_allclose(clamped_error([0.3, 0.4], 1.0), [0.3, 0.4])


def test_selective_damping_is_newton_near_the_target_and_bounded_far_away(rng):
    J = rng.normal(size=(3, 6))
    near = 1e-4 * rng.normal(size=3)
    assert_allclose(selectively_damped_step(J, near), np.linalg.pinv(J) @ near, atol=1e-12)
    for scale in (1.0, 1e3, 1e6):
        assert np.abs(selectively_damped_step(J, scale * rng.normal(size=3), most=0.5)).max() <= 0.5 + 1e-12


def test_selective_damping_bounds_the_direction_that_overshoots():
    """Buss & Kim 2005 in numbers: σ = (2, 0.01), u = v = axes, so N = 1, M_i = |J column i| / σ_i = 1 for both."""
    step = selectively_damped_step(np.diag([2.0, 0.01]), [0.1, 0.1], most=0.5)
    assert_allclose(step, [0.05, 0.5], atol=1e-12)
    mixed = np.array([[2.0, 2.0], [0.0, 0.01]])  # the second direction can only be had by large opposite turns
    U, sizes, Vt = np.linalg.svd(mixed)
    reach = np.linalg.norm(mixed, axis=0)
    bound = 0.5 * min(1.0, sizes[1] / (np.abs(Vt[1]) @ reach))
    found = selectively_damped_step(mixed, U[:, 1], most=0.5)
    assert np.abs(found).max() == pytest.approx(bound)
    assert bound < 0.01


def test_two_points_count_each_on_their_own(rng):
    J, e = rng.normal(size=(6, 7)), 10.0 * rng.normal(size=6)
    assert np.abs(selectively_damped_step(J, e) - selectively_damped_step(J, e, blocks=(3, 3))).max() > 1e-3
    with pytest.raises(ShapeError, match="blocks"):
        selectively_damped_step(J, e, blocks=(3, 2))


@pytest.mark.parametrize("method", ["selective", "damped"])
def test_steps_bring_an_arm_to_a_target_out_of_reach_and_back(method):
    """Stretched towards a target that it cannot reach, then to one that it can: no step is wild."""
    q = np.array([0.4, 0.5, 0.3])
    steps = {
        "selective": selectively_damped_step,
        "damped": lambda J, e: damped_inverse(J, 1.0) @ clamped_error(e, 0.5),
    }
    for target, expected in (([4.0, 0.0], 1.0), ([1.0, 1.5], 0.0)):
        for _ in range(1000):
            step = steps[method](planar_arm.jacobian(q), np.array(target) - planar_arm.tip(q))
            assert np.abs(step).max() < 1.0
            q = q + step
        assert np.linalg.norm(np.array(target) - planar_arm.tip(q)) == pytest.approx(expected, abs=2e-3)


def test_transpose_steps_reach_a_target():
    q, target = np.array([0.4, 0.5, 0.3]), np.array([1.0, 1.5])
    for _ in range(200):
        q = q + transpose_step(planar_arm.jacobian(q), clamped_error(target - planar_arm.tip(q), 0.2))
    assert_allclose(planar_arm.tip(q), target, atol=1e-9)
