"""Margins, regulators and admissible sets of the linear pendulum, against its own motion."""

import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.reduced import natural_frequency
from surefoot.reduced.models import (
    Compliance,
    LinearPendulum,
    balance_set,
    balance_state,
    clipped_regulator,
    compliance_poles,
    critical_time,
    is_input_to_state_stable,
    lag_gains,
    manipulated_zmp,
    move,
    operating_region,
    recovery_strategy,
    regulator_gains,
    stability_margin,
    time_to_edge,
    wheel_region,
)

OMEGA, FOOT = 5.94, (-0.096, 0.096)
"""Of the small humanoid of Nenchev & Konno 2019, (5.17)."""


def test_margin_is_the_impulse_that_tips() -> None:
    """A push a little below M ω s is survived with the CoP at the edge, one above is not."""
    margin = stability_margin(0.02, 0.1, OMEGA, FOOT, mass=7.0)
    assert margin.distance == pytest.approx(0.096 - 0.02 - 0.1 / OMEGA)
    for share, back in ((0.99, True), (1.01, False)):
        v = 0.1 + share * margin.impulse / 7.0
        end = move(LinearPendulum(OMEGA), [0.02, v], lambda t, x: [0.096], np.array([0.0, 1.0])).states[-1]
        assert (end[1] < 0.0) == back


def test_margin_above_a_polygon() -> None:
    square = np.array([[-0.1, -0.05], [0.1, -0.05], [0.1, 0.05], [-0.1, 0.05]])
    margin = stability_margin([0.0, 0.02], [0.0, 0.06], 6.0, square, mass=10.0)
    assert margin.distance == pytest.approx(0.02)
    assert margin.impulse == pytest.approx(1.2)


def test_times() -> None:
    """The critical time is the first order of the exact one where the CoP is below the CoM."""
    exact = time_to_edge(0.05, 0.01, 0.05, OMEGA, (-0.1, 0.05 + 0.01 / OMEGA * 1.001))
    rough = critical_time(0.05, 0.01, OMEGA, (-0.1, 0.05 + 0.01 / OMEGA * 1.001))
    assert rough == pytest.approx(exact, rel=1e-3)
    t = time_to_edge(0.02, 0.2, 0.01, OMEGA, FOOT)
    end = move(LinearPendulum(OMEGA), [0.02, 0.2], lambda t, x: [0.01], np.array([0.0, t])).states[-1]
    assert end[0] + end[1] / OMEGA == pytest.approx(0.096, abs=1e-6)
    assert critical_time(0.0, 0.0, OMEGA, FOOT) == np.inf
    assert critical_time(0.0, 1.0, OMEGA, FOOT) == 0.0


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_states(sign: float) -> None:
    """Section 5.3, for both directions."""
    states = [(0.0, 0.1, 0.05, "A"), (0.0, 0.3, 0.02, "B"), (0.03, 0.1, 0.0, "C"), (0.05, 0.5, 0.096, "D")]
    for com, velocity, cop, name in states:
        assert balance_state(sign * com, sign * velocity, sign * cop, OMEGA, FOOT) == name


def test_strategy() -> None:
    """Fig. 5.13: inside the strip of the LIP, between the strips, and outside."""
    weight = 7.0 * 9.81
    lower, upper = wheel_region(FOOT, 2.0, weight)
    assert upper - FOOT[1] == FOOT[0] - lower == pytest.approx(0.0291, abs=5e-5)
    found = [recovery_strategy(0.0, v, OMEGA, FOOT, 2.0, weight) for v in (0.5, 0.7, 0.8)]
    assert found == ["ankle", "angular momentum", "step"]


@pytest.mark.parametrize("poles", [(-0.2, -0.2), (-1.0, -0.2), (-1.0, -2.0)])
def test_regulator_gains_place_the_poles(poles: tuple[float, float]) -> None:
    k1, k2 = regulator_gains(OMEGA, poles)
    closed = np.array([[0.0, 1.0], [OMEGA**2 * (1.0 + k1), OMEGA**2 * k2]])
    np.testing.assert_allclose(sorted(np.linalg.eigvals(closed).real), sorted(OMEGA * np.array(poles)), atol=1e-6)


def test_best_regulator_recovers_all_that_can_be_recovered() -> None:
    """Fig. 5.9: with q₁ = −1 the whole strip |x_ex| < l; with two slow poles less of it."""
    com, velocity = np.linspace(-0.2, 0.2, 41), np.linspace(-1.0, 1.0, 41)
    ahead = com + velocity[:, None] / OMEGA
    best = operating_region(OMEGA, regulator_gains(OMEGA, (-1.0, -0.2)), FOOT, com, velocity)
    slow = operating_region(OMEGA, regulator_gains(OMEGA, (-0.2, -0.2)), FOOT, com, velocity)
    clear = np.abs(np.abs(ahead) - 0.096) > 2e-3
    assert (best == (np.abs(ahead) < 0.096))[clear].all()
    assert slow.sum() < best.sum()
    assert not (slow & ~best)[clear].any()


def test_manipulated_zmp() -> None:
    times = np.linspace(0.0, 8.0, 3)
    end = move(LinearPendulum(3.0), [0.1, 0.0], lambda t, x: manipulated_zmp(x[:1], x[1:], target=0.05), times)
    np.testing.assert_allclose(end.states[-1], [0.05, 0.0], atol=1e-3)
    end = move(LinearPendulum(3.0), [0.1, 0.0], lambda t, x: manipulated_zmp(x[:1], x[1:], speed=0.2), times)
    assert end.states[-1, 1] == pytest.approx(0.2, abs=1e-6)


def test_lag_gains_place_the_poles() -> None:
    lag, poles = 0.05, np.array([-OMEGA, -8.0, -12.0])
    K = lag_gains(OMEGA, lag, poles)
    A = np.array([[0.0, 1.0, 0.0], [OMEGA**2, 0.0, -(OMEGA**2)], [0.0, 0.0, -1.0 / lag]])
    found = np.linalg.eigvals(A - np.outer([0.0, 0.0, 1.0 / lag], K))
    np.testing.assert_allclose(np.sort(found.real), np.sort(poles), rtol=1e-6)


def test_choi_bounds() -> None:
    assert is_input_to_state_stable(3.5, 4.0, 1.0, 0.5, 0.5)
    assert not is_input_to_state_stable(3.5, 3.0, 1.0, 0.5, 0.5)
    assert not is_input_to_state_stable(3.5, 4.0, 3.4, 0.5, 0.5)


def test_compliance_closes_the_loop_with_its_poles() -> None:
    """The tilt of a pendulum, z θ̈ = g θ − p̈, under the sampled law, against the solution of (5.42)."""
    height, K, T_D, dt, n = 0.279, 30.0, 0.12, 1e-4, 4000
    a, b = compliance_poles(K, T_D, height)
    control = Compliance(K, T_D, natural_frequency(height), dt)
    control.step(0.0)
    tilt, rate, zmps = 0.05, 0.0, [0.0, 0.0]
    control._tilt = tilt  # it begins tilted, and at rest
    for _ in range(n):
        zmps.append(control.step(tilt)[0])
        rate += dt * (9.81 * tilt - (zmps[-1] - 2.0 * zmps[-2] + zmps[-3]) / dt**2) / height
        tilt += dt * rate
    expected = 0.05 * np.real((b * np.exp(a * n * dt) - a * np.exp(b * n * dt)) / (b - a))
    assert tilt == pytest.approx(expected, abs=1e-4)
    assert abs(tilt) < 0.01


@pytest.mark.parametrize("exact", [False, True])
def test_admissible_set(exact: bool) -> None:
    """From inside, the ZMP stays in the support for ever; from a little outside it leaves it at some time."""
    K = np.array([regulator_gains(OMEGA, (-1.0, -0.5))])
    found = balance_set(OMEGA, 0.01, K, [[1.0], [-1.0]], [0.096, 0.096], exact)
    rng = np.random.default_rng(0)
    c, s = np.cosh(OMEGA * 0.01), np.sinh(OMEGA * 0.01)
    A = np.array([[c, s / OMEGA], [OMEGA * s, c]]) if exact else np.array([[1.0, 0.01], [OMEGA**2 * 0.01, 1.0]])
    B = np.array([1.0 - c, -OMEGA * s]) if exact else np.array([0.0, -(OMEGA**2) * 0.01])
    for direction in rng.normal(size=(20, 2)) * [1.0, OMEGA]:
        edge = 1.0 / np.max(found.rows @ direction / found.bounds)
        for share, inside in ((0.999, True), (1.001, False)):
            x, held = share * edge * direction, True
            for _ in range(3000):
                u = -K[0] @ x
                held &= abs(u) <= 0.096
                x = A @ x + B * u
            assert held == inside == bool(found.contains(share * edge * direction))


def test_admissible_set_in_two_directions() -> None:
    """On a rectangle, the set is the product of the sets of both directions."""
    k = regulator_gains(OMEGA, (-1.0, -0.5))
    K = np.array([[*k, 0.0, 0.0], [0.0, 0.0, *k]])
    both = balance_set(OMEGA, 0.02, K, [[1, 0], [-1, 0], [0, 1], [0, -1]], [0.09, 0.09, 0.04, 0.04])
    one = [balance_set(OMEGA, 0.02, [k], [[1.0], [-1.0]], [w, w]) for w in (0.09, 0.04)]
    states = np.random.default_rng(1).normal(0.0, [0.05, 0.3, 0.02, 0.15], (300, 4))
    expected = one[0].contains(states[:, :2]) & one[1].contains(states[:, 2:])
    assert (both.contains(states) == expected).all()
    assert 20 < expected.sum() < 280
    with pytest.raises(NotSupportedError, match="stable"):
        balance_set(OMEGA, 0.01, [[0.0, 0.0]], [[1.0]], [0.1])


def test_clipped_regulator() -> None:
    assert clipped_regulator([0.3, 0.0], (-1.2, -0.2), FOOT) == 0.096
    assert clipped_regulator([0.01, 0.02], (-1.2, -0.2), FOOT) == pytest.approx(0.016)
