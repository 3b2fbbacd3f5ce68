"""Laws of the models: Newton's, Euler's and power balances, and closed forms."""

import numpy as np
import pytest

from surefoot.reduced import natural_frequency, pendulum_state
from surefoot.reduced.models import (
    CartTable,
    InclinedPendulum,
    InvertedPendulum,
    LinearPendulum,
    ReactionMassPendulum,
    ReactionWheelPendulum,
    cop_of_moment,
    move,
    multi_mass_zmp,
    sphere_moment,
)

G = 9.81


def second_difference(values: np.ndarray, h: float) -> np.ndarray:
    """Second derivative at the middle of five samples."""
    return np.asarray((-values[0] + 16 * values[1] - 30 * values[2] + 16 * values[3] - values[4]) / (12 * h**2))


@pytest.mark.parametrize("seed", range(3))
def test_inverted_pendulum_obeys_newton(seed: int) -> None:
    """The mass is accelerated by gravity, the force along the leg and the force of the ankle moment across it."""
    rng = np.random.default_rng(seed)
    model, h = InvertedPendulum(3.0), 1e-3
    x0 = np.array([0.3, 0.8, 0.0, 0.0]) + rng.normal(0.0, 0.2, 4)
    u = np.array([rng.normal(0.0, 2.0), rng.normal(30.0, 5.0)])
    found = move(model, x0, lambda t, x: u, h * np.arange(5))
    angle, length = found.states[:, 0], found.states[:, 1]
    place = np.stack([length * np.sin(angle), length * np.cos(angle)], axis=1)
    s, c = np.sin(angle[2]), np.cos(angle[2])
    force = u[1] * np.array([s, c]) + u[0] / length[2] * np.array([c, -s]) - [0.0, 3.0 * G]
    np.testing.assert_allclose(second_difference(place, h), force / 3.0, atol=2e-4)
    np.testing.assert_allclose(model.acceleration(found.states[2], u), force / 3.0, atol=1e-9)
    zmp = multi_mass_zmp([3.0], [[place[2, 0], 0.0, place[2, 1]]], [[force[0] / 3.0, 0.0, force[1] / 3.0]])
    assert model.cop(found.states[2], u) == pytest.approx(zmp[0], abs=1e-9)


def test_rigid_leg_keeps_its_length_and_the_energy() -> None:
    model = InvertedPendulum(2.0)
    found = move(model, [0.1, 0.7, 0.2, 0.0], lambda t, x: [0.0, model.rigid_leg(x)], np.linspace(0.0, 0.6, 7))
    angle, length, turning, _ = found.states.T
    np.testing.assert_allclose(length, 0.7, atol=1e-9)
    energy = 0.5 * (length * turning) ** 2 + G * length * np.cos(angle)
    np.testing.assert_allclose(energy, energy[0], atol=1e-7)


def test_linear_pendulum_is_the_closed_form() -> None:
    omega, times = natural_frequency(0.8), np.linspace(0.0, 0.5, 6)
    found = move(LinearPendulum(omega), [0.1, -0.05, -0.2, 0.1], lambda t, x: [0.02, 0.01], times)
    com, velocity = pendulum_state([0.1, -0.05], [-0.2, 0.1], [0.02, 0.01], omega, times)
    np.testing.assert_allclose(found.states, np.hstack([com, velocity]), atol=1e-7)


def test_cart_table_is_the_pendulum_the_other_way_round() -> None:
    model, omega = CartTable(0.8), natural_frequency(0.8)
    x, v, p = 0.05, 0.1, 0.02
    assert model.cop(np.array([x, v, omega**2 * (x - p)]), np.zeros(1)) == pytest.approx(p)
    np.testing.assert_allclose(model.rates(np.array([1.0, 2.0, 3.0]), np.array([4.0])), [2.0, 3.0, 4.0])


def test_inclined_plane() -> None:
    """The force on the mass points away from the support, and the mass stays on its plane."""
    model, support = InclinedPendulum((0.2, -0.1), 0.8), np.array([0.1, -0.05, 0.03])
    state = np.array([0.05, 0.1, 0.3, 0.1])
    acceleration = model.rates(state, support)[2:]
    up = np.dot(model.slope, acceleration) + G
    place = np.array([*state[:2], np.dot(model.slope, state[:2]) + 0.8])
    np.testing.assert_allclose(np.cross(place - support, [*acceleration, up]), 0.0, atol=1e-12)


def test_wheels_obey_the_moment_balance() -> None:
    """About the CoM, the force of the ground at the CoP turns the wheels: (p − r) × f = m, but for m_z."""
    model = ReactionWheelPendulum(7.0, (0.1, 0.12, 0.05))
    rng = np.random.default_rng(1)
    state, u = rng.normal(size=9), rng.normal(size=6)
    state[2], u[2] = 0.3, 70.0
    force = model.force(state, u)
    moment = np.cross([*u[:2], 0.0] - state[:3], force)
    np.testing.assert_allclose(moment[:2], u[3:5], atol=1e-12)
    turning, spin = state[6:], model.rates(state, u)[6:]
    inertia = np.array(model.inertia)
    np.testing.assert_allclose(inertia * spin + np.cross(turning, inertia * turning), u[3:], atol=1e-12)
    np.testing.assert_allclose(model.rates(state, u)[3:6] * 7.0, force - [0.0, 0.0, 7.0 * G], atol=1e-12)
    offset = model.cmp(state, u) - model.cop(state, u)  # section 4.3.3: x_cmp = x_p + m_y / f_z
    np.testing.assert_allclose(offset, [u[4] / 70.0, -u[3] / 70.0], atol=1e-12)
    still = np.array([*state[:6], 0.4, -0.3, 0.0])
    assert model.rates(still, np.array([*u[:5], model.no_yaw(still[6:])]))[8] == pytest.approx(0.0)


def test_linear_wheel_pendulum() -> None:
    """Section 4.3.3: with constant height, ẍ = ω² (x − p) − m / (M z)."""
    model, omega = ReactionWheelPendulum(7.0, (0.1, 0.1, 0.1)), natural_frequency(0.279)
    state = np.array([0.02, 0.0, 0.279, 0.1, 0.0, 0.0, 0.0, 0.0, 0.0])
    rates = model.rates(state, np.array([0.01, 0.0, 7.0 * G, 0.0, 1.5, 0.0]))
    assert rates[3] == pytest.approx(omega**2 * 0.01 - 1.5 / (7.0 * 0.279))
    assert rates[5] == pytest.approx(0.0)


def test_reaction_mass_pendulum_is_that_of_its_lagrangian() -> None:
    """d/dt ∂L/∂q̇ − ∂L/∂q = u by differences of the energy, and the power of the inputs is the rate of the energy."""
    model, rng = ReactionMassPendulum(4.0), np.random.default_rng(2)
    state, u = rng.normal(0.0, 0.4, 8), rng.normal(0.0, 3.0, 4)
    state[1:3] = 0.8, 0.25
    rates = model.rates(state, u)
    h = 1e-5
    slope = np.array([(model.energy(state + h * e) - model.energy(state - h * e)) / (2 * h) for e in np.eye(8)])
    assert slope @ rates == pytest.approx(u @ state[4:], abs=1e-6)

    def momentum(x: np.ndarray) -> np.ndarray:
        """∂T/∂q̇: V does not depend on q̇."""
        return np.array([(model.energy(x + h * e) - model.energy(x - h * e)) / (2 * h) for e in np.eye(8)[4:]])

    change = (momentum(state + h * rates) - momentum(state - h * rates)) / (2 * h)
    at_rest = np.r_[state[:4], np.zeros(4)]
    fall = [(model.energy(at_rest + h * e) - model.energy(at_rest - h * e)) / (2 * h) for e in np.eye(8)[:4]]
    pull = slope[:4] - 2.0 * np.array(fall)  # ∂(T + V)/∂q − 2 ∂V/∂q = ∂L/∂q
    np.testing.assert_allclose(change - pull, u, atol=2e-3)


def test_masses_and_spheres() -> None:
    """A ZMP of many masses carries no horizontal moment; the moment of the sphere leads to the CoP of the LIP."""
    rng = np.random.default_rng(3)
    m, r, a = rng.uniform(0.5, 3.0, 5), rng.normal(0.0, 1.0, (5, 3)), rng.normal(0.0, 2.0, (5, 3))
    zmp = multi_mass_zmp(m, r, a, ground=0.1)
    force = m[:, None] * (a + np.array([0.0, 0.0, G]))
    moment = np.cross(r - [*zmp, 0.1], force).sum(axis=0)
    np.testing.assert_allclose(moment[:2], 0.0, atol=1e-12)
    omega = natural_frequency(0.8)
    cop = cop_of_moment(sphere_moment([0.1, -0.05], omega**2 * np.array([0.02, 0.03]), 7.0, omega), 7.0)
    np.testing.assert_allclose(cop, [0.08, -0.08], atol=1e-12)
    moment = sphere_moment([0.1, -0.05], [0.0, 0.0], 7.0, omega)  # at rest: that of the weight, r × f
    np.testing.assert_allclose(moment, np.cross([0.1, -0.05, 0.0], [0.0, 0.0, 7.0 * G])[:2], atol=1e-12)
