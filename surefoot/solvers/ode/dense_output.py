"""The solution between the ends of a step."""

from __future__ import annotations

from dataclasses import dataclass

from surefoot.arrays import Array
from surefoot.solvers.ode.methods import Tableau
from surefoot.solvers.ode.runge_kutta import Leg

__all__ = ["Segment", "segment_of"]


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
