"""`Stepping`: a plan of footfalls, run from where the robot really is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.motion import State
from surefoot.planning import LimbChart, TimedPlan

__all__ = ["Stepping"]

_PERIOD = 0.01  # [s] between two corrections
_RETURN = 2.0  # [1/s]: how fast the base goes back to its plan
_YIELD = 2.0  # [1/s]: how fast feet that stand are taken to be where they are measured
_MOST = np.array([0.03, 0.03, 0.02, 0.12, 0.12, 0.12])  # [m], [rad]: correction of the base, at most
_LATE = 0.7  # of a swing: from here on the foot goes to its foothold, as the measured base sees it


class Stepping:
    """Joint positions along a plan, corrected by where base and feet are.

    Feet that stand are taken to be where they are, and one that swings comes down on its planned foothold in world, so
    that errors do not add up. The base is led back to its plan by an integral of its error.

    Args:
        chart: Of the robot.
        plan: The plan.
    """

    def __init__(self, chart: LimbChart, plan: TimedPlan) -> None:
        self.chart, self.plan = chart, plan
        self._rows = np.array([limb.rows for limb in chart.limbs])
        self._time, self._count = plan.trajectory.time, len(chart.limbs)
        self._offsets = np.zeros((self._count, 3))
        self._left = np.zeros((self._count, 3))
        self._correction = np.zeros(6)
        self._last, self._swings, self._sample = -np.inf, -1, 0
        self._lower, self._upper = (np.array([getattr(x, side) for x in chart.limbs]) for side in ("lower", "upper"))
        self._known: Array | None = None
        self._begins, self._ends = _runs(plan.swings, self._time)

    def configuration(self, t: float, state: State) -> Array:
        """(nq,) where the joints should be.

        Args:
            t: Time [s].
            state: What is measured.
        """
        if self._known is not None and t - self._last < _PERIOD - 1e-9:
            return self._known
        k = int(np.clip(np.searchsorted(self._time, t, side="right"), 1, len(self._time) - 1))
        share = np.clip((t - self._time[k - 1]) / (self._time[k] - self._time[k - 1]), 0.0, 1.0)
        planned = self.plan.states[k - 1] + share * (self.plan.states[k] - self.plan.states[k - 1])
        measured = self.chart.state_of(np.asarray(state.q))
        self._correct(t, planned, measured)
        self._follow_feet(k, planned, measured)
        both = np.tile(planned, (2, 1))
        both[0, :6] += self._correction
        both[:, 6:] += self._offsets.ravel()
        q, own = self.chart.lift(self._seen_from(both, measured)).q
        if self._swings >= 0:
            rows = self._rows[self._swings]
            q[rows] = own[rows]
        q[self._rows] = np.clip(q[self._rows], self._lower, self._upper)
        self._known = np.asarray(q)
        return self._known

    def _seen_from(self, both: Array, measured: Array) -> Array:
        """The second state with the base between planned and measured, as far as the swing is done."""
        if self._swings >= 0:
            both[1, :6] += self._progress() * (measured[:6] - both[1, :6])
        return both

    def _progress(self) -> float:
        begin, end = self._begins[self._sample], self._ends[self._sample]
        return float(np.clip((self._last - begin) / max(_LATE * (end - begin), 1e-9), 0.0, 1.0))

    def _correct(self, t: float, planned: Array, measured: Array) -> None:
        step = 0.0 if not np.isfinite(self._last) else max(t - self._last, 0.0)
        stands = np.arange(self._count) != self._swings
        error = (measured - planned)[6:].reshape(-1, 3)
        self._offsets[stands, :2] += _YIELD * step * (error - self._offsets)[stands, :2]
        self._correction += _RETURN * step * (planned[:6] - measured[:6])
        self._correction = np.clip(self._correction, -_MOST, _MOST)
        self._last = t

    def _follow_feet(self, k: int, planned: Array, measured: Array) -> None:
        """A foot that leaves takes its error along, and sheds it on its way; one that has landed keeps what is left."""
        self._sample, swings = k, int(self.plan.swings[k])
        if swings != self._swings:
            error = (measured - planned)[6:].reshape(-1, 3)
            if self._swings >= 0:
                self._offsets[self._swings, :2] = error[self._swings, :2]
                self._offsets[self._swings, 2] = 0.0
            if swings >= 0:
                self._left[swings] = self._offsets[swings]
            self._swings = swings
        if swings >= 0:
            self._offsets[swings] = self._left[swings] * (1.0 - self._progress())


def _runs(swings: NDArray[np.int64], time: Array) -> tuple[Array, Array]:
    """For every sample when the swing or stance that it belongs to begins and ends, each (n,) [s]."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(swings)) + 1, [len(swings)]])
    counts = np.diff(first)
    return np.repeat(time[np.maximum(first[:-1] - 1, 0)], counts), np.repeat(time[first[1:] - 1], counts)
