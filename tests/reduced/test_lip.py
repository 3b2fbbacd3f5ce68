"""The pendulum in closed form against integration, invariants and eigenvalues."""

from math import exp, inf

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.errors import ShapeError
from surefoot.reduced import (
    capture_zmp,
    critical_horizon,
    natural_frequency,
    orbital_energy,
    pendulum_state,
    regulator_poles,
)

OMEGA = natural_frequency(0.8)


def test_moving_zmp_against_integration() -> None:
    com, velocity, zmp, rate = (
        np.array([0.02, -0.03]),
        np.array([0.3, 0.1]),
        np.array([0.0, 0.05]),
        np.array([0.2, -0.1]),
    )

    def slope(t: float, x: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], OMEGA**2 * (x[:2] - zmp - rate * t)])

    t = np.linspace(0.0, 0.7, 8)
    found = solve_ivp(slope, (0.0, 0.7), np.concatenate([com, velocity]), "DOP853", t, rtol=1e-11, atol=1e-12).y
    c, v = pendulum_state(com, velocity, zmp, OMEGA, t, rate)
    np.testing.assert_allclose(np.hstack([c, v]), found.T, atol=1e-9)


def test_orbital_energy_is_constant_and_zero_at_the_capture_point() -> None:
    com, velocity, zmp = np.array([-0.1, 0.05]), np.array([0.4, -0.2]), np.array([0.02, 0.01])
    c, v = pendulum_state(com, velocity, zmp, OMEGA, np.linspace(0.0, 1.0, 11))
    energy = orbital_energy(c, v, zmp, OMEGA)
    np.testing.assert_allclose(energy, np.tile(energy[0], (11, 1)), atol=1e-12)
    np.testing.assert_allclose(orbital_energy(com, velocity, com + velocity / OMEGA, OMEGA), 0.0, atol=1e-15)


def test_capture_zmp_reaches_its_target() -> None:
    dcm, target, horizon = np.array([0.1, -0.02]), np.array([0.3, 0.1]), 0.4
    zmp = capture_zmp(dcm, target, OMEGA, horizon)
    np.testing.assert_allclose(zmp + (dcm - zmp) * exp(OMEGA * horizon), target, atol=1e-14)
    with pytest.raises(ShapeError, match="horizon"):
        capture_zmp(dcm, target, OMEGA, 0.0)


@pytest.mark.parametrize("horizon", [0.05, 0.2, 0.5])
@pytest.mark.parametrize("lag", [0.0, 0.02, 0.05])
def test_poles_are_eigenvalues_of_the_loop(horizon: float, lag: float) -> None:
    b = exp(OMEGA * horizon)
    u = b / (b - 1.0) * np.array([1.0, 1.0 / OMEGA])  # ZMP of the regulator for ξ_T = 0, a feedback of (c, ċ)
    if lag:
        loop = np.array([[0, 1, 0], [OMEGA**2, 0, -(OMEGA**2)], [u[0] / lag, u[1] / lag, -1 / lag]])
    else:
        loop = np.array([[0, 1], [OMEGA**2 * (1 - u[0]), -(OMEGA**2) * u[1]]])
    expected = np.sort_complex(np.linalg.eigvals(loop).astype(complex))
    np.testing.assert_allclose(
        np.sort_complex(regulator_poles(OMEGA, horizon, lag).astype(complex)), expected, atol=1e-6
    )


def test_beyond_the_critical_horizon_nothing_oscillates() -> None:
    critical = critical_horizon(OMEGA, 0.05)
    assert np.iscomplexobj(regulator_poles(OMEGA, 0.98 * critical, 0.05))
    above = regulator_poles(OMEGA, 1.02 * critical, 0.05)
    assert not np.iscomplexobj(above)
    assert above.max() < 0.0
    assert critical_horizon(OMEGA, 1.001 / OMEGA) == inf
    with pytest.raises(ShapeError, match="lag"):
        critical_horizon(OMEGA, -0.1)
