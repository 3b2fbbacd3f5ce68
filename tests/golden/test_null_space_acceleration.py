"""Nenchev & Konno 2019, experiment 2.14 (section 2.11.3): a planar arm of four joints whose tip is held.

Two degrees of redundancy are driven by a harmonic input. With the state's own velocity in the null-space term it is
aperiodic and its peaks build up; with the integral of the input it is periodic and bounded. The book gives no link
data and no numbers: links of 0.25 m, q₀ = (.6, .5, .7, .4) and u = (1, −.8, .6, .9) sin(2π 0.5 t) are ours, and so are
the numbers, from an integration of the two forms that knows nothing of this package.
"""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.ik.textbook.acceleration import integrable_acceleration, resolved_acceleration
from tests.ik import planar_arm

LENGTHS = np.full(4, 0.25)
START = np.array([0.6, 0.5, 0.7, 0.4])
AMPLITUDE, OMEGA = np.array([1.0, -0.8, 0.6, 0.9]), 2.0 * np.pi * 0.5
T = np.arange(0.0, 60.0 + 1e-9, 0.02)
FIRST_HALF = T[T <= 30.0]


def run(acceleration, times):
    """(times, 8): positions and velocities, from rest (u(0) = 0)."""

    def slope(t, x):
        return np.concatenate([x[4:], acceleration(t, x[:4], x[4:])])

    x = np.concatenate([START, np.zeros(4)])
    found = solve_ivp(slope, (0.0, times[-1]), x, "DOP853", times, rtol=1e-10, atol=1e-11)
    return found.y.T


def inputs(t):
    return AMPLITUDE * np.sin(OMEGA * t), AMPLITUDE * OMEGA * np.cos(OMEGA * t)


@pytest.fixture(scope="module")
def from_the_state():
    """Case a: θ" = −J⁺ J' θ' + N u', the null-space velocity is whatever the state has; chaotic after about 30 s."""

    def acceleration(t, q, v):
        J, J_rate = planar_arm.jacobian(q, LENGTHS), planar_arm.jacobian_rate(q, v, LENGTHS)
        return resolved_acceleration(J, J_rate @ v, np.zeros(2), inputs(t)[1])

    return run(acceleration, FIRST_HALF)


@pytest.fixture(scope="module")
def from_the_input():
    """Case b: the integral of the input in the null-space term."""

    def acceleration(t, q, v):
        J, J_rate = planar_arm.jacobian(q, LENGTHS), planar_arm.jacobian_rate(q, v, LENGTHS)
        return integrable_acceleration(J, J_rate, *inputs(t))

    return run(acceleration, T)


def test_state_velocity_builds_up(from_the_state):
    """2.44 in the first 10 s, 8.58 later; converged integrations give 2.457 and 8.554 at about 15 s."""
    speeds = np.abs(from_the_state[:, 4:]).max(axis=1)
    assert speeds[FIRST_HALF <= 10.0].max() == pytest.approx(2.44, rel=0.01)
    assert speeds.max() == pytest.approx(8.58, rel=0.01)


def test_integral_of_the_input_stays_bounded_and_periodic(from_the_input):
    speeds = np.abs(from_the_input[:, 4:]).max(axis=1)
    for start in range(0, 60, 10):
        window = (start <= T) & (start + 10 >= T)
        assert speeds[window].max() == pytest.approx(1.186, abs=5e-4)
    period = 100  # samples of 2 s
    assert np.abs(from_the_input[period:] - from_the_input[:-period]).max() < 2e-9


def test_tip_does_not_drift(from_the_input):
    drift = [np.linalg.norm(planar_arm.tip(q, LENGTHS) - planar_arm.tip(START, LENGTHS)) for q in from_the_input[:, :4]]
    assert max(drift) < 1e-8


def test_velocity_is_the_projected_input(from_the_input):
    for t, x in zip(T[::25], from_the_input[::25], strict=True):
        J = planar_arm.jacobian(x[:4], LENGTHS)
        u = inputs(t)[0]
        assert np.abs(x[4:] - (u - np.linalg.pinv(J) @ J @ u)).max() < 1e-7
        assert np.linalg.norm(x[4:]) <= np.linalg.norm(u) + 1e-7
