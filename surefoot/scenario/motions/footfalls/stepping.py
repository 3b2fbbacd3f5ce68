"""`Stepping`: a plan of footfalls, run from where the robot really is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.motion import State, Trajectory
from surefoot.planning import LimbChart, TimedPlan

_CALM = 0.1  # [m/s], [rad/s]: speed of the base below which another plan may begin
_HOLD = 0.5  # [s] that the robot stands still before another plan
_PERIOD = 0.01  # [s] between two corrections
_RETURN = 2.0  # [1/s]: how fast the base goes back to its plan
_YIELD = 2.0  # [1/s]: how fast feet that stand are taken to be where they are measured
_MOST = np.array([0.03, 0.03, 0.02, 0.12, 0.12, 0.12])  # [m], [rad]: correction of the base, at most
_KEEP = 0.02  # [rad] from joint limits, at which servos would push in vain
_LATE = 0.7  # of a swing: from here on the foot goes to its foothold, as the measured base sees it


class Stepping:
    """Joint positions along a plan, corrected by where base and feet are.

    Feet that stand are taken to be where they are, and one that swings comes down on its planned foothold in world, so
    that errors do not add up. The base is led back to its plan by an integral of its error.

    Args:
        chart: Of the robot.
        plan: The plan.
        tolerance: Where feet that stand are farther from their places, one that swings lands as far from its own [m].
    """

    def __init__(self, chart: LimbChart, plan: TimedPlan, tolerance: float = np.inf) -> None:
        self.chart, self.plan, self._tolerance = chart, plan, tolerance
        self._shift = np.zeros(3)
        self._rows = [list(limb.rows) for limb in chart.limbs]
        self._all_rows = [row for rows in self._rows for row in rows]
        self._time, self._count = plan.trajectory.time, len(chart.limbs)
        self._offsets = np.zeros((self._count, 3))
        self._left = np.zeros((self._count, 3))
        self._correction = np.zeros(6)
        self._last, self._swings, self._sample = -np.inf, -1, 0
        self._lower, self._upper = (
            np.concatenate([getattr(x, side) for x in chart.limbs]) for side in ("lower", "upper")
        )
        self._known: Array | None = None
        self._begins, self._ends = _runs(plan.swings, self._time)
        self.error = 0.0
        """How far a foot that stands is from its place in the plan, at most [m]."""

    @property
    def all_stand(self) -> bool:
        """Whether no foot is in the air."""
        return self._swings < 0

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
        self._sample = k
        self._correct(t, planned, measured)
        self._follow_feet(planned, measured)
        both = np.tile(planned, (2, 1))
        both[0, :6] += self._correction
        both[:, 6:] += self._offsets.ravel()
        q, own = self.chart.lift(self._seen_from(both, measured)).q
        if self._swings >= 0:
            rows = self._rows[self._swings]
            q[rows] = own[rows]
        q[self._all_rows] = np.clip(q[self._all_rows], self._lower + _KEEP, self._upper - _KEEP)
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

    def _off(self, measured: Array, planned: Array) -> Array:
        """(L, 3) how far feet are from their plan along the ground under them [m]."""
        error, normals = (measured - planned)[6:].reshape(-1, 3), self.plan.normals[self._sample]
        out: Array = error - normals * np.sum(normals * error, axis=1, keepdims=True)
        return out

    def _correct(self, t: float, planned: Array, measured: Array) -> None:
        step = 0.0 if not np.isfinite(self._last) else max(t - self._last, 0.0)
        stands = np.arange(self._count) != self._swings
        error = self._off(measured, planned)
        self.error = float(np.linalg.norm(error[stands, :2], axis=1).max())
        self._shift = np.r_[error[stands, :2].mean(axis=0), 0.0] if self.error > self._tolerance else np.zeros(3)
        self._offsets[stands] += _YIELD * step * (error - self._offsets)[stands]
        self._correction += _RETURN * step * (planned[:6] - measured[:6])
        self._correction = np.clip(self._correction, -_MOST, _MOST)
        self._last = t

    def _follow_feet(self, planned: Array, measured: Array) -> None:
        """A foot that leaves takes its error along, and sheds it on its way; one that has landed keeps what is left."""
        swings = int(self.plan.swings[self._sample])
        if swings != self._swings:
            if self._swings >= 0:
                self._offsets[self._swings] = self._off(measured, planned)[self._swings]
            if swings >= 0:
                self._left[swings] = self._offsets[swings]
            self._swings = swings
        if swings >= 0:
            done = self._progress()
            self._offsets[swings] = self._left[swings] * (1.0 - done) + done * self._shift


class Steps:
    """Follows a plan, and asks for another one where feet have come too far from it.

    Args:
        chart: Of the robot.
        plan: The plan.
        again: again(q) → a plan from a configuration to the same goal, or None if there is none; None never to ask.
        tolerance: How far feet may be from their places in the plan [m].
    """

    def __init__(
        self,
        chart: LimbChart,
        plan: TimedPlan,
        again: Callable[[Array], TimedPlan | None] | None = None,
        tolerance: float = np.inf,
    ) -> None:
        self.chart, self._again = chart, again
        self._tolerance = tolerance if again is not None else np.inf
        self._stepping, self._start = Stepping(chart, plan, self._tolerance), 0.0
        self._held: tuple[float, float, Array] | None = None
        self.times: list[float] = []
        """When another plan was taken [s]."""

    def now(self, t: float, state: State) -> tuple[Trajectory, float, Array]:
        """The trajectory to follow, the time along it [s], and where the joints should be (nq,).

        Args:
            t: Time [s].
            state: What is measured.
        """
        stepping, held = self._stepping, self._held
        if held is None and stepping.error > self._tolerance and stepping.all_stand:
            held = self._held = t, t - self._start, np.array(state.q)
        if held is not None and self._again is not None:
            since, local, q = held
            calm = float(np.abs(np.asarray(state.v)[:6]).max()) < _CALM
            if t - since < _HOLD or not calm:
                return stepping.plan.trajectory, local, q
            found = self._again(np.array(state.q))
            self._held, self._start = None, t - local  # without another plan the old one goes on
            if found is not None:
                self._stepping, self._start = Stepping(self.chart, found, self._tolerance), t
                self.times.append(t)
            else:
                self._again = None
        local = t - self._start
        return self._stepping.plan.trajectory, local, self._stepping.configuration(local, state)


def _runs(swings: NDArray[np.int64], time: Array) -> tuple[Array, Array]:
    """For every sample when the swing or stance that it belongs to begins and ends, each (n,) [s]."""
    first = np.concatenate([[0], np.flatnonzero(np.diff(swings)) + 1, [len(swings)]])
    counts = np.diff(first)
    return np.repeat(time[np.maximum(first[:-1] - 1, 0)], counts), np.repeat(time[first[1:] - 1], counts)
