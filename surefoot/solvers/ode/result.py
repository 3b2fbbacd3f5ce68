"""`OdeResult`: what an integration gives back."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.ode.events import Occurrence
from surefoot.solvers.ode.runge_kutta import Segment


@dataclass(frozen=True)
class OdeResult:
    """The solution at the ends of the accepted steps, and between them.

    Args:
        t: (k,) times [s].
        x: (k, n) states; the last one is that of the terminal event, if one happened.
        events: What happened, in the order of time.
        evaluations: Calls of the field.
        rejected: Steps that were tried and were too inaccurate.
        segments: The polynomials between the times.
    """

    t: Array
    x: Array
    events: tuple[Occurrence, ...]
    evaluations: int
    rejected: int
    segments: tuple[Segment, ...]

    @property
    def ended_by(self) -> Occurrence | None:
        """The terminal event at the end; None if the integration came to its end."""
        return self.events[-1] if self.events and self.events[-1].event.terminal else None

    def sample(self, times: ArrayLike) -> Array:
        """The states (j, n) at times (j,) between the first and the last one: dense output.

        Raises:
            ShapeError: A time lies outside.
        """
        wanted = np.atleast_1d(np.asarray(times, dtype=float))
        if not np.all((wanted >= self.t[0]) & (wanted <= self.t[-1])):
            raise ShapeError(
                "a sample outside of the times that were integrated",
                evidence={"integrated": (float(self.t[0]), float(self.t[-1])), "wanted": wanted},
            )
        if not self.segments:
            return np.repeat(self.x, len(wanted), axis=0)
        indices = np.searchsorted(self.t, wanted, side="right") - 1
        last = len(self.segments) - 1
        return np.array([self.segments[min(int(i), last)].at(float(s)) for i, s in zip(indices, wanted, strict=True)])
