"""Explicit Runge-Kutta steps: one, one with its embedded error, or one against two half ones; dense output."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.ode.field import Chart, Field, VectorField
from surefoot.solvers.ode.manifold import VECTOR_SPACE, Manifold
from surefoot.solvers.ode.methods import RK4, Tableau


@dataclass(frozen=True, slots=True)
class Leg:
    """One Runge-Kutta step in the coordinates u of a chart.

    Args:
        chart: Whose coordinates.
        t: Where it begins.
        h: Its length in time.
        start: u (m,) at t.
        end: u (m,) at t + h.
        stages: k (s, m): du/dt at the stages, the first one at the start.
        last_velocity: f (m,) at the last stage.
    """

    chart: Chart
    t: float
    h: float
    start: Array
    end: Array
    stages: Array
    last_velocity: Array


@dataclass(frozen=True, slots=True)
class Trial:
    """A step that may be accepted.

    Args:
        legs: The legs that lead through it, in order.
        error: (m,) its estimated error; zero where no estimate was asked for.
    """

    legs: tuple[Leg, ...]
    error: Array


def runge_kutta_step(
    field: VectorField,
    t: float,
    x: Array,
    h: float,
    method: Tableau = RK4,
    manifold: Manifold = VECTOR_SPACE,
) -> Array:
    """The state (n,) one step of length h after x, on a vector space or on a manifold (Munthe-Kaas).

    Args:
        field: f(t, x) -> (m,), the velocity of x.
        t: Time [s].
        x: (n,).
        h: Step [s].
        method: Table of the method.
        manifold: Where x lives.
    """
    watched = Field(field)
    first = watched(t, x)
    chart = Chart(watched, manifold, x)
    return chart.point(take_leg(method, chart, t, h, np.zeros_like(first), first).end)


def take_leg(method: Tableau, chart: Chart, t: float, h: float, start: Array, first: Array) -> Leg:
    """One step of a method; it costs one evaluation less than the method has stages.

    Args:
        method: Table of the method.
        chart: The field.
        t: Time at the start [s].
        h: Step [s].
        start: u (m,) at the start.
        first: (m,) du/dt at the start.
    """
    stages = np.empty((method.stages, len(first)))
    stages[0] = first
    u, velocity = start, first
    for i in range(1, method.stages):
        u = start + h * method.a[i].dot(stages[:i])
        velocity = chart.velocity(t + method.nodes[i] * h, u)
        stages[i] = chart.rate(u, velocity)
    end = u if method.ends_with_slope else start + h * method.b.dot(stages)
    return Leg(chart, t, h, start, end, stages, velocity)


def end_of(method: Tableau, leg: Leg) -> tuple[Array, Array]:
    """Velocity f (m,) and du/dt (m,) at the end of a leg; free where the last stage is there.

    Args:
        method: The method that made the leg.
        leg: The leg.
    """
    if method.ends_with_slope:
        return leg.last_velocity, leg.stages[-1]
    velocity = leg.chart.velocity(leg.t + leg.h, leg.end)
    return velocity, leg.chart.rate(leg.end, velocity)


def single_step(method: Tableau, chart: Chart, t: float, h: float, first: Array) -> Trial:
    """One step; its error is the difference to the embedded method, zero where there is none.

    Args:
        method: Table of the method.
        chart: The field about the state at t.
        t: Time at the start [s].
        h: Step [s].
        first: (m,) velocity at the start.
    """
    leg = take_leg(method, chart, t, h, np.zeros_like(first), first)
    return Trial((leg,), h * (method.error_weights @ leg.stages))


def doubled_step(method: Tableau, chart: Chart, t: float, h: float, first: Array) -> Trial:
    """Two half steps; their error is the difference to one whole step, which shares the first stage.

    e = |x(h) - x(h/2, h/2)|; RK4 needs 3 · 4 - 1 = 11 evaluations        [ode.doubling]   Wimmer 2016, 2.1

    Args:
        method: Table of the method.
        chart: The field about the state at t.
        t: Time at the start [s].
        h: Step [s].
        first: (m,) velocity at the start.
    """
    half = 0.5 * h
    whole = take_leg(method, chart, t, h, np.zeros_like(first), first)
    before = take_leg(method, chart, t, half, whole.start, first)
    _, slope = end_of(method, before)
    after = take_leg(method, chart, t + half, half, before.end, slope)
    return Trial((before, after), after.end - whole.end)


@dataclass(frozen=True, slots=True)
class Segment:
    """A leg with the slope at its end: a polynomial in time, continuous with its first derivative at the joints.

    Args:
        leg: What it goes through.
        end_slope: (m,) du/dt at its end, in the leg's chart.
        bump: (m,) coefficient of the fourth-order term, None for the cubic alone.
    """

    leg: Leg
    end_slope: Array
    bump: Array | None

    def at(self, t: float) -> Array:
        """The state (n,) at a time within the leg.

        u(θ) = u₀ + θ (Δ + (1-θ) (h k₀ - Δ + θ (2 Δ - h (k₀ + k₁)))) + θ² (1-θ)² B,   Δ = u₁ - u₀   [ode.dense]
        Hairer, Nørsett, Wanner 1993, II.6: the cubic Hermite polynomial (B = 0), error O(h⁴); with B of the
        method O(h⁵).
        """
        leg = self.leg
        theta = (t - leg.t) / leg.h
        rest = 1.0 - theta
        rise, begin, finish = leg.end - leg.start, leg.h * leg.stages[0], leg.h * self.end_slope
        inner = begin - rise + theta * (2.0 * rise - begin - finish)
        if self.bump is not None:
            inner = inner + theta * rest * self.bump
        return leg.chart.point(leg.start + theta * (rise + rest * inner))


def segment_of(method: Tableau, leg: Leg, end_slope: Array) -> Segment:
    """The polynomial through a leg.

    Args:
        method: The method that made the leg.
        leg: The leg.
        end_slope: (m,) du/dt at its end, in its chart.
    """
    return Segment(leg, end_slope, None if method.d is None else leg.h * (method.d @ leg.stages))
