"""`Horizon`: from a measured state to the plan of the next intervals, with a few Newton steps a tick."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array, number
from surefoot.codegen import compile_function
from surefoot.motion import Channel
from surefoot.ocp.receding.tape import Indices, Limits, Tape
from surefoot.ocp.spec import ProblemSpec
from surefoot.ocp.stage import Structure
from surefoot.solvers.staged import RealTime, RealTimePoint, RealTimeStep

_LIMITS = 80  # in an interval, with which the barrier parameter is as given; with more it is smaller in proportion
BARRIER = 1e-3
"""Barrier parameter of all ticks."""
_FIRST = 12  # Newton steps of the first tick


@dataclass(frozen=True, eq=False)
class Plan:
    """What a tick planned.

    Args:
        start: When it begins [s].
        step: Length of an interval [s].
        x: (N + 1, nx) states.
        u: N arrays (nu_k,) of controls.
        feedback: K_k (nu_k, nx) of the first intervals.
        structures: Of the N intervals.
        data: N arrays of their data.
        rows: Inequalities of the N intervals.
        number: Of the first stage.
    """

    start: float
    step: float
    x: Array
    u: tuple[Array, ...]
    feedback: tuple[Array, ...]
    structures: tuple[Structure, ...]
    data: tuple[Array, ...]
    rows: tuple[Limits, ...]
    number: int

    def interval(self, t: float) -> tuple[int, float]:
        """Number of the interval at a time, and the share of it that has passed."""
        s = max(0.0, (t - self.start) / self.step)
        k = min(int(s + 1e-9), len(self.u) - 1)
        return k, min(s - k, 1.0)

    def state(self, t: float) -> Array:
        """Planned state (nx,) at a time, linear between nodes."""
        k, share = self.interval(t)
        return (1.0 - share) * self.x[k] + share * self.x[k + 1]

    def control(self, t: float, x: Array | None = None) -> Array:
        """Planned controls at a time; with a state x, those that feedback makes of them."""
        k, _ = self.interval(t)
        if x is None or k >= len(self.feedback):
            return self.u[k]
        return self.u[k] + self.feedback[k] @ (x - self.state(t))


class Horizon:
    """Solves a window of a problem from each measured state on.

    The last tick's variables and multipliers, moved on by the intervals that have passed, are the start of the next
    one. All ticks take the same number of Newton steps.

    Args:
        problem: See `Tape`.
        intervals: Length of the horizon.
        repeat: Phase from which the motion repeats; None: it goes on as it ends.
        iterations: Newton steps a tick.
        latency: Time after which a plan is used: what the computer needs for it [s].
        barrier: Barrier parameter, where an interval has no more than 80 limits; smaller in proportion with more.
        gauss_newton: Whether second derivatives are those of weighted squares alone.
        budget_s: CPU time of a tick [s]; None: any. No Newton step is begun that would exceed it if it took as long
            as the one before; a plan that exceeds it nevertheless is late: the one before is kept for an interval more.
        clock: CPU time of the process [s].
    """

    def __init__(
        self,
        problem: ProblemSpec,
        intervals: int = 20,
        repeat: str | None = None,
        iterations: int = 1,
        latency: float = 0.0,
        barrier: float = BARRIER,
        gauss_newton: bool = True,
        budget_s: float | None = None,
        clock: Callable[[], float] = time.process_time,
    ) -> None:
        self.latency = latency
        self.budget = np.inf if budget_s is None else number(budget_s, "budget_s", positive=True)
        self._clock = clock
        self.late, self.is_late = 0, False
        """Plans that were late, and whether the last one was."""
        self.begin: float | None = None
        """When the motion began [s]."""
        self._next, self._plans = 0, list[tuple[float, Plan]]()
        self.ticks: list[float] = []
        """Wall-clock time of each solution [s]."""
        self.problem, self.iterations = problem, iterations
        self.tape = Tape(problem, intervals, repeat, gauss_newton)
        self._barrier, self._solvers = barrier * self._share_of_limits(), dict[int, RealTime]()
        self._moves = dict[tuple[int, int], tuple[Indices, Indices]]()
        self._data = problem.robot.model.createData()
        n, chart = problem.robot.nv, problem.chart
        self._rates = compile_function(
            "chart_rates", lambda y, v: chart.second_rates(y, np.zeros(n), v), {"y": (n,), "v": (n,)}
        )
        self._point: RealTimePoint | None = None
        self._number = 0
        self._y: Array | None = None
        self.last: RealTimeStep | None = None
        self._gains: tuple[Array, ...] = ()
        self.failures = 0
        self.seconds = 0.0
        """Wall-clock time of the solution of this tick [s]; 0 between."""

    def _share_of_limits(self) -> float:
        """How much weaker the barrier of a single limit is, so that many of them together do not outweigh the costs."""
        p = self.tape.window(0).transcription.program
        unequal = p.row_lower < p.row_upper
        ends = np.isfinite(p.row_lower[unequal]).sum() + np.isfinite(p.row_upper[unequal]).sum()
        return float(min(1.0, _LIMITS * self.tape.horizon / max(1, ends)))

    def prepare(self) -> None:
        """Build or load all kernels and programs, so that no tick has to."""
        self._rates.prepare("single")
        for place in range(self.tape.period):
            self._solver(place)
            self._move(place, place + 1)

    def state(self, q: Array, v: Array) -> Array:
        """State (nx,) of a configuration and a velocity; angles go on where they were."""
        chart, robot = self.problem.chart, self.problem.robot
        y = chart.coordinates(q)
        if self._y is not None:
            turning = [k for k, name in enumerate(chart.names) if name in ("yaw", "pitch", "roll")]
            y[turning] = self._y[turning] + np.mod(y[turning] - self._y[turning] + np.pi, 2.0 * np.pi) - np.pi
        self._y = y
        if self.problem.formulation.dynamics == "centroidal":
            h = pin.computeCentroidalMomentum(robot.model, self._data, np.array(q), np.array(v))
            return np.r_[y, np.r_[h.linear, h.angular] / robot.mass]
        return np.r_[y, self._rates(y, np.array(v, dtype=float))]

    def plan(self, t: float, q: Array, v: Array) -> Plan:
        """The plan to use now; at the beginning of each interval it is made anew, and used when the latency is over.

        Args:
            t: Time [s]; the motion begins with the first call.
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        self.begin = t if self.begin is None else self.begin
        now, self.seconds = t - self.begin, 0.0
        if now >= self._next * self.tape.step - 1e-9:
            plan = self.update(now, q, v)
            wait = self.tape.step if self.is_late else self.latency
            ready = now + wait if self._plans else now
            self._plans, self._next = [*self._plans[-1:], (ready, plan)], plan.number + 1
            self.ticks.append(self.seconds)
        return next((plan for ready, plan in reversed(self._plans) if ready <= now + 1e-9), self._plans[0][1])

    def update(self, t: float, q: Array, v: Array) -> Plan:
        """Solve from a measured state.

        Args:
            t: Time since the motion began [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        begin, started = time.perf_counter(), self._clock()
        number, x = round(t / self.tape.step), self.state(q, v)
        solver = self._solver(number)
        window = self.tape.window(number)
        self.tape.refresh(window, number, self._spots(number, q))
        point = self._start(number, solver)
        point.w[: len(x)] = x
        try:
            self.last = self._solved(solver, point, started)
            self._point, self._gains = self.last.point, self.last.feedback
        except ArithmeticError:
            self.failures, self._point, self._gains = self.failures + 1, point, ()
        self._number = number
        self.is_late = number > 0 and self._clock() - started > self.budget
        self.late += self.is_late
        self.seconds = time.perf_counter() - begin
        return self._plan(t, number)

    def _solved(self, solver: RealTime, point: RealTimePoint, started: float) -> RealTimeStep:
        """The Newton steps of a tick that began at a CPU time; all of them where there is no budget."""
        if self._point is None or self.budget == np.inf:
            return solver.step(point, self.iterations if self._point is not None else _FIRST)
        before = self._clock()
        for _ in range(self.iterations):
            found = solver.step(point)
            point, before, last = found.point, (now := self._clock()), now - before
            if now - started + last > self.budget:
                break
        return found

    def _solver(self, number: int) -> RealTime:
        at = self.tape.place(number)
        if at not in self._solvers:
            self._solvers[at] = RealTime(self.tape.window(number).transcription.program, self._barrier)
        return self._solvers[at]

    def _spots(self, number: int, q: Array) -> dict[str, Array]:
        """Where contacts stand now, as measured: what the ground gives way is not an error."""
        places, contacts = self.problem.robot.placements(q), self.problem.robot.contacts
        names = self.tape.stage(number).structure.contacts
        return {name: places[contacts[name].frame] @ contacts[name].placement for name in names}

    def _move(self, old: int, new: int) -> tuple[Indices, Indices]:
        """Where variables and rows of a window come from, see `Tape.moved`."""
        key = self.tape.place(old), self.tape.place(new)
        if key not in self._moves:
            self._moves[key] = self.tape.moved(old, new)
        return self._moves[key]

    def _start(self, number: int, solver: RealTime) -> RealTimePoint:
        """The last tick's point, moved on."""
        if self._point is None:
            return solver.start(solver.problem.w0.copy())
        variables, rows = self._move(self._number, number)
        p, sizes, shift = self._point, solver.problem.sizes, number - self._number
        w = np.where(variables >= 0, p.w[variables], solver.problem.w0)
        width = sizes.states[0]
        gaps = p.gaps.reshape(-1, width)
        moved = np.concatenate([gaps[shift:], np.repeat(gaps[-1:], min(shift, len(gaps)), axis=0)])[: len(gaps)]
        old = len(p.w)
        bounds = np.zeros((sizes.variables + len(rows), 2))
        bounds[: sizes.variables] = np.where((variables >= 0)[:, None], p.bounds[variables], 0.0)
        bounds[sizes.variables :] = np.where((rows >= 0)[:, None], p.bounds[old + rows], 0.0)
        return RealTimePoint(w, moved.ravel().copy(), np.where(rows >= 0, p.rows[rows], 0.0), bounds)

    def _plan(self, t: float, number: int) -> Plan:
        window = self.tape.window(number).transcription
        sizes, w, last = window.program.sizes, self._point.w, self.tape.horizon  # type: ignore[union-attr]
        nx = sizes.states[0]
        x = np.array([w[s : s + nx] for s in sizes.starts[: last + 1]])
        u = tuple(w[sizes.starts[k] + nx : sizes.starts[k + 1]] for k in range(last))
        data: list[Array] = [np.zeros(0)] * last
        for batch, _ in window.functions.batches:
            for i, k in enumerate(batch.stages):
                if k < last:
                    data[k] = batch.data[i].copy()
        structures = tuple(stage.structure for stage in window.stages[:last])
        rows = self.tape.window(number).limits
        return Plan(t, self.tape.step, x, u, self._gains, structures, tuple(data), rows, number)

    @property
    def channels(self) -> tuple[Channel, ...]:
        """Columns of a log: how well the last tick's program was solved."""
        return (
            Channel("violation", "1", None, lambda: self.last.violation if self.last else 0.0),
            Channel("stationarity", "1", None, lambda: self.last.stationarity if self.last else 0.0),
            Channel("solutions", "1", None, lambda: len(self.ticks)),
            Channel("failures", "1", None, lambda: self.failures),
            Channel("late", "1", None, lambda: self.late),
        )
