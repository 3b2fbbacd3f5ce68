"""Study walkers against published numbers, closed forms and laws."""

import numpy as np
import pytest

from surefoot.errors import SimulationError
from surefoot.reduced.walkers import (
    WALKERS,
    Compass,
    Matsuoka,
    PassiveCompass,
    PatternWalker,
    RaibertHopper,
    SimplestWalker,
    VirtualModelWalker,
    Walker,
    ZeroDynamicsWalker,
    leg_jacobian,
    leg_torques,
    limit_cycle,
    survived_kick,
    walk,
)


def test_simplest_walker_has_the_published_gait() -> None:
    """Garcia et al. 1998, γ = 0.009: fixed point and eigenvalues, also reached by walking."""
    cycle = limit_cycle(SimplestWalker(0.009))
    np.testing.assert_allclose(cycle.section, [0.200310900544287, -0.199832473004977], atol=1e-8)
    np.testing.assert_allclose(
        np.sort_complex(cycle.eigenvalues), -0.1900996 + 0.5575993j * np.array([-1, 1]), atol=1e-5
    )
    steps = walk(SimplestWalker(0.009), [0.205, -0.205], 40)
    np.testing.assert_allclose(steps[-1].end, cycle.section, atol=1e-8)


@pytest.mark.parametrize(("slope", "stable"), [(0.005, True), (0.0145, True), (0.0165, False)])
def test_simplest_walker_loses_its_gait_at_the_published_slope(slope: float, stable: bool) -> None:
    """Period doubling near γ = 0.0151 (Garcia et al. 1998); speed grows with γ^(1/3) to first order."""
    guess = np.array([0.2003109, -0.1998325])
    for gamma in np.linspace(0.009, slope, 4):
        cycle = limit_cycle(SimplestWalker(gamma), guess)
        guess = cycle.section
    assert (abs(cycle.eigenvalues[0]) < 1.0) == stable
    assert cycle.section[0] == pytest.approx(0.970956 * slope ** (1.0 / 3.0), rel=0.03)


def test_compass_has_the_published_gait_and_keeps_energy() -> None:
    """Goswami et al. 1998 at 3°: 0.734 s, 0.535 m; what the slope gives is what heel strike takes."""
    walker = PassiveCompass()
    cycle = limit_cycle(walker)
    assert cycle.stride.duration == pytest.approx(0.734, abs=1e-3)
    assert cycle.stride.length == pytest.approx(0.535, abs=1e-3)
    assert abs(cycle.eigenvalues[0]) < 1.0
    model, (s, *rates) = walker.model, cycle.section
    after = np.array([s, 2.0 * model.slope - s])
    before = after[::-1]
    # rates before the strike: those that end in the section
    columns = np.column_stack([model.strike(before, e)[1] for e in np.eye(2)])
    struck = np.linalg.solve(columns, np.array(rates))
    kinetic = [0.5 * v @ model.mass_matrix(q) @ v for q, v in ((before, struck), (after, np.array(rates)))]
    drop = cycle.stride.length * np.sin(model.slope) * model.weight
    assert kinetic[0] - kinetic[1] == pytest.approx(drop, rel=1e-6)


def test_strike_keeps_momentum_about_the_new_foot() -> None:
    """And the mass matrix agrees with Lagrange's equation: energy is constant in swing."""
    model, q, v = Compass(), np.array([0.2, -0.2]), np.array([1.0, 0.6])

    def about(angles: np.ndarray, rates: np.ndarray, pivot: np.ndarray) -> float:
        J = model._jacobians(angles)
        leg, a, b = model.length, model.above, model.below
        up = np.array([np.sin(angles[0]), np.cos(angles[0])])
        hip = leg * up
        at = (b * up, hip, hip - a * np.array([np.sin(angles[1]), np.cos(angles[1])]))
        full = np.r_[0.0, 0.0, rates]
        moved = [(m, p - pivot, j @ full) for m, p, j in zip(model._masses, at, J[:3], strict=True)]
        return float(sum(m * (r[0] * u[1] - r[1] * u[0]) for m, r, u in moved))

    foot = model.length * np.array([np.sin(q[0]) - np.sin(q[1]), np.cos(q[0]) - np.cos(q[1])])
    angles, rates = model.strike(q, v)
    assert about(angles, rates, np.zeros(2)) == pytest.approx(about(q, v, foot), rel=1e-12)


@pytest.mark.slow
def test_zero_dynamics_is_the_closed_form() -> None:
    """Fixed point by quadrature, eigenvalue δ² by the strike alone; the simulated stride has both."""
    walker = ZeroDynamicsWalker()
    stride = walker.stride(walker.start)
    np.testing.assert_allclose(stride.end, walker.start, atol=1e-6)
    cycle = limit_cycle(walker)
    assert cycle.eigenvalues[0].real == pytest.approx(walker.loss**2, abs=1e-6)
    assert abs(cycle.eigenvalues[1]) < 1e-3


@pytest.mark.parametrize(("inhibition", "fatigue"), [(2.0, 2.5), (1.3, 2.5), (4.0, 2.5)])
def test_oscillator_obeys_matsuokas_condition(inhibition: float, fatigue: float) -> None:
    oscillator = Matsuoka(inhibition=inhibition, fatigue=fatigue)
    _, states = oscillator.run(40.0)
    late = np.ptp(states[-3000:, 0] - states[-3000:, 1])
    assert (late > 1e-2) == oscillator.oscillates
    if not oscillator.oscillates:
        with pytest.raises(SimulationError, match="rest"):
            _ = oscillator.cycle


def test_hopper_conserves_energy_and_tracks_speed() -> None:
    """Without damping and thrust a hop keeps its energy; faster wishes give faster gaits."""
    free = RaibertHopper(damping=0.0, thrust=0.0, attitude=(0.0, 0.0))
    apex = free.stride(np.array([1.0, 0.8, 0.0, 0.0])).end
    energy = [9.81 * z + 0.5 * v * v for z, v in ((1.0, 0.8), apex[:2])]
    assert energy[1] == pytest.approx(energy[0], rel=1e-8)
    speeds = [limit_cycle(RaibertHopper(speed=v)).speed for v in (0.5, 1.0)]
    assert speeds[1] > speeds[0] + 0.3


def test_virtual_model_forces_do_what_the_components_ask() -> None:
    walker, x = VirtualModelWalker(), np.array([0.1, 0.8, 0.05, 0.5, -0.1, 0.2])
    wished = walker.components(x)
    for feet in ((0.0,), (0.0, 0.3)):
        f = walker.forces(x, feet)
        moment = sum(x[1] * fx + (foot - x[0]) * fz for (fx, fz), foot in zip(f, feet, strict=True))
        assert f[:, 1].sum() == pytest.approx(wished[1])
        assert moment == pytest.approx(wished[2])
    assert f[:, 0].sum() == pytest.approx(wished[0])


def test_leg_torques_by_virtual_work() -> None:
    hip, knee, force, small = 0.4, -0.7, np.array([30.0, 200.0]), 1e-6

    def foot(a: float, k: float) -> np.ndarray:
        return 0.5 * np.array([np.sin(a), -np.cos(a)]) + 0.5 * np.array([np.sin(a + k), -np.cos(a + k)])

    slopes = np.column_stack([(foot(hip + small, knee) - foot(hip - small, knee)) / (2.0 * small),
                              (foot(hip, knee + small) - foot(hip, knee - small)) / (2.0 * small)])  # fmt: skip
    np.testing.assert_allclose(leg_jacobian(hip, knee), slopes, atol=1e-8)
    np.testing.assert_allclose(leg_torques(hip, knee, force), -slopes.T @ force, atol=1e-5)


SLOW = ("zero dynamics", "pattern generator")


@pytest.mark.parametrize(
    "walker", [pytest.param(w, marks=pytest.mark.slow if w.name in SLOW else (), id=w.name) for w in WALKERS]
)
def test_gaits_are_stable(walker: Walker) -> None:
    cycle = limit_cycle(walker)
    assert abs(cycle.eigenvalues[0]) < 1.0
    assert cycle.speed > 0.05
    assert survived_kick(walker, cycle.section, (0.001,), steps=4) == 0.001


def test_a_walker_that_falls_says_so() -> None:
    assert walk(PatternWalker(), [-0.13, 0.05, 0.0], 3) == []
    with pytest.raises(SimulationError):
        SimplestWalker().stride(np.array([0.2, -0.05]))
