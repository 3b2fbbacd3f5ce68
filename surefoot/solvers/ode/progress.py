"""An integration under way: where it is, and what it has collected."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.ode.dense_output import Segment, segment_of
from surefoot.solvers.ode.events import EventWatch, Occurrence
from surefoot.solvers.ode.field import Chart, Field
from surefoot.solvers.ode.manifold import Manifold
from surefoot.solvers.ode.result import OdeResult
from surefoot.solvers.ode.runge_kutta import Trial, end_of, take_leg
from surefoot.solvers.ode.tableau import Tableau

__all__ = ["Progress"]


class Progress:
    """Where an integration is, and what it has collected.

    Args:
        field: f(t, x).
        manifold: Where x lives.
        method: The method.
        watch: The events.
        t: Time at the start [s].
        x: (n,) at the start.
    """

    def __init__(
        self, field: Field, manifold: Manifold, method: Tableau, watch: EventWatch, t: float, x: Array
    ) -> None:
        self.field, self.manifold, self.method = field, manifold, method
        self.t, self.x, self.velocity = t, x, field(t, x)
        self.rejected = 0
        self.ended = False
        self._watch = watch
        self._times, self._states = [t], [x]
        self._segments: list[Segment] = []
        self._occurrences: list[Occurrence] = []

    def chart(self) -> Chart:
        """The field about the present state."""
        return Chart(self.field, self.manifold, self.x)

    def accept(self, trial: Trial, end: float) -> None:
        """Go along a trial, which ends at the time `end`, or up to a terminal event in it.

        Costs one evaluation of the field, the first one of the next step, unless the method has it already.
        """
        velocity, end_slope = end_of(self.method, trial.legs[-1])
        slopes = [*(leg.stages[0] for leg in trial.legs[1:]), end_slope]
        ends = [*(leg.t for leg in trial.legs[1:]), end]
        for leg, slope, t in zip(trial.legs, slopes, ends, strict=True):
            segment = segment_of(self.method, leg, slope)
            found = self._watch.search(segment)
            self._occurrences += found
            if found and found[-1].event.terminal:
                self._stop(segment, found[-1])
                return
            self._add(segment, t, leg.chart.point(leg.end))
        self.velocity = velocity

    def _add(self, segment: Segment, t: float, x: Array) -> None:
        self.t, self.x = t, x
        self._times.append(t)
        self._states.append(x)
        self._segments.append(segment)

    def _stop(self, segment: Segment, terminal: Occurrence) -> None:
        """End at a terminal event, with the polynomial of a step that leads there."""
        self.ended = True
        leg = segment.leg
        if terminal.t > leg.t:
            short = take_leg(self.method, leg.chart, leg.t, terminal.t - leg.t, leg.start, leg.stages[0])
            _, slope = end_of(self.method, short)
            self._add(segment_of(self.method, short, slope), terminal.t, terminal.x)

    def result(self) -> OdeResult:
        """What there is so far."""
        return OdeResult(
            np.array(self._times),
            np.array(self._states),
            tuple(self._occurrences),
            self.field.evaluations,
            self.rejected,
            tuple(self._segments),
        )
