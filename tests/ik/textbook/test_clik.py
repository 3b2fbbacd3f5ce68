import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.ik.textbook.clik import closed_loop_rate, liegeois_rates, momentum_weight_inverse
from tests.ik import planar_arm


@given(st.integers(0, 2**32 - 1))
def test_solution_of_the_constrained_minimum(seed):
    """Against the KKT system of min ½ q'ᵀ W q' + zᵀ q' with J q' = w'."""
    rng = np.random.default_rng(seed)
    J, rate, z, A = rng.normal(size=(3, 7)), rng.normal(size=3), rng.normal(size=7), rng.normal(size=(7, 7))
    W = A @ A.T + 0.5 * np.eye(7)
    kkt = np.block([[W, J.T], [J, np.zeros((3, 3))]])
    expected = np.linalg.solve(kkt, np.concatenate([-z, rate]))[:7]
    found = liegeois_rates(J, rate, z, np.linalg.inv(W))
    assert_allclose(found, expected, atol=1e-8 * (1.0 + np.abs(expected).max()))
    assert_allclose(J @ found, rate, atol=1e-9 * (1.0 + np.abs(found).max()))


def test_the_printed_algorithm_violates_the_task(rng):
    """Buschmann 2014, Alg. 10 prints p = w' − J z; the corrected one holds the task, the printed one does not."""
    J, rate, z = rng.normal(size=(3, 7)), rng.normal(size=3), rng.normal(size=7)
    W_inverse = np.diag(rng.uniform(0.5, 2.0, 7))
    printed = W_inverse @ (J.T @ np.linalg.solve(J @ W_inverse @ J.T, rate - J @ z) - z)
    assert np.linalg.norm(J @ printed - rate) > 0.1
    assert_allclose(J @ liegeois_rates(J, rate, z, W_inverse), rate, atol=1e-12)


def test_it_is_the_pseudoinverse_and_the_projected_gradient(rng):
    J, rate, z = rng.normal(size=(2, 6)), rng.normal(size=2), rng.normal(size=6)
    inverse = np.linalg.pinv(J)
    assert_allclose(liegeois_rates(J, rate, z), inverse @ rate - (np.eye(6) - inverse @ J) @ z, atol=1e-12)


@pytest.mark.parametrize("rows", [1, 3])
def test_weight_of_the_momentum_is_inverted(rng, rows):
    J_L = rng.normal(size=(rows, 8))
    W = 2.5 * (0.008 * np.eye(8) + J_L.T @ J_L)
    assert_allclose(momentum_weight_inverse(J_L, 2.5, 0.008) @ W, np.eye(8), atol=1e-9)
    if rows == 1:
        assert_allclose(momentum_weight_inverse(J_L[0], 2.5, 0.008), momentum_weight_inverse(J_L, 2.5, 0.008))


def test_momentum_falls_as_gamma_does(rng):
    J, J_L, rate = rng.normal(size=(3, 8)), rng.normal(size=(1, 8)), rng.normal(size=3)
    momenta = [
        abs((J_L @ liegeois_rates(J, rate, np.zeros(8), momentum_weight_inverse(J_L, 1.0, gamma)))[0])
        for gamma in (1e3, 1.0, 1e-3, 1e-6)
    ]
    assert momenta[0] > momenta[1] > momenta[2] > momenta[3]
    assert momenta[3] < 1e-4 * momenta[0]


def test_closed_loop_converges_while_the_criterion_falls():
    """Three links hold a point while they go to a preferred posture: explicit Euler, K dt = ½."""
    q, target, wanted, dt, gain = (
        np.array([0.3, 0.9, -0.2]),
        np.array([1.2, 1.3]),
        np.array([1.4, -0.4, -0.8]),
        0.01,
        50,
    )
    costs, errors = [], []
    for _ in range(1000):
        error = target - planar_arm.tip(q)
        rate = closed_loop_rate(np.zeros(2), error, gain)
        q = q + dt * liegeois_rates(planar_arm.jacobian(q), rate, 2.0 * (q - wanted))
        costs.append(np.sum((q - wanted) ** 2))
        errors.append(np.linalg.norm(error))
    assert errors[-1] < 1e-10
    assert (np.diff(costs[50:]) < 1e-9).all()
    J = planar_arm.jacobian(q)
    rest = (np.eye(3) - np.linalg.pinv(J) @ J) @ (q - wanted)
    assert_allclose(rest, 0.0, atol=1e-4)  # no self-motion lowers the criterion any more


def test_singular_posture_is_refused():
    with pytest.raises(NotSupportedError, match="lost rank"):
        liegeois_rates(np.array([[0.0, 0.0], [2.0, 1.0]]), [0.0, 1.0], np.zeros(2))
