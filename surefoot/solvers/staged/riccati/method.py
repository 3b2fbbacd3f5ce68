"""`solve_riccati`: start, interior point, restoration, and what is reported at the end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.riccati.barrier import PRICE, Barrier, Elastic, Iterate
from surefoot.solvers.staged.riccati.form import Form
from surefoot.solvers.staged.riccati.interior import End, InteriorPoint
from surefoot.solvers.staged.riccati.newton import LARGEST_FIRST, Newton, with_least_squares
from surefoot.solvers.staged.riccati.sweep import WrongInertiaError
from surefoot.solvers.staged.solution import Gains, Outcome, Progress, SolverOptions, StagedSolution
from surefoot.solvers.staged.watch import TimedFunctions, Watch

_PUSH, _WARM_PUSH = 1e-2, 1e-4
_BARRIER, _WARM_BARRIER = 0.1, 1e-4
_WEAK = 1e-2  # share of the pull with which a program is judged infeasible
_LESS, _LESSER = 0.9, 0.5  # share of the violation that a restoration must reach, and its factor if that was in vain
_NUDGES, _NUDGE = 3, 0.01  # from points where the violation is stationary and not least, and their size
_EXACT = 1e-4  # tolerance of a restoration, as a share of the largest residual
_MESSAGES: dict[Outcome, str] = {
    "solved": "optimal within the tolerance",
    "acceptable": "optimal within a hundred times the tolerance, and no further progress",
    "infeasible": "the least infeasible point nearby was reached",
    "iteration limit": "the limit of iterations was reached",
    "time limit": "the time limit was reached",
    "interrupted": "interrupted; the best iterate is returned",
    "diverged": "the iterates diverge",
    "failed": "no acceptable step was found, also not by restoration",
}


def solve_riccati(
    problem: StagedProblem, options: SolverOptions, progress: Progress | None, warm: StagedSolution | None
) -> StagedSolution:
    """Solve a staged program by the interior point with Riccati sweeps.

    Args:
        problem: The staged program.
        options: Limits and settings.
        progress: Called in every iteration.
        warm: Earlier solution to start from, in primal and dual variables.
    """
    functions, watch = TimedFunctions(problem), Watch(options, progress)
    with watch:
        run = _Run(problem, options, functions, watch, warm)
        outcome = run.to_the_end()
        return run.solution(outcome)


@dataclass
class _Run:
    """One solve."""

    problem: StagedProblem
    options: SolverOptions
    functions: TimedFunctions
    watch: Watch
    warm: StagedSolution | None

    def __post_init__(self) -> None:
        fixed = self.problem.lower == self.problem.upper
        guess = self.problem.w0 if self.warm is None else self.warm.w
        w = np.where(fixed, self.problem.lower, guess)
        w = np.clip(w, self.problem.lower, self.problem.upper)
        self.form = Form(self.problem, self.functions, w)
        self._is_saddle = False
        self.barrier = Barrier(self.form, min(1e-8, 1e-2 * self.options.tolerance))
        default = _BARRIER if self.warm is None else _WARM_BARRIER
        mu = self.options.barrier if self.options.barrier is not None else default
        self.method = InteriorPoint(self.barrier, self._start(w), mu, self.options.tolerance, self.watch)

    def _start(self, w: Array) -> Iterate:
        """The first iterate: inside the bounds, multipliers from `warm` or by least squares."""
        b, push = self.barrier, _PUSH if self.warm is None else _WARM_PUSH
        w = b.interior(np.concatenate([w, np.zeros(b.own - b.n)]), push)[: b.n]
        v = b.interior(np.concatenate([w, self.form.point(w).rows[b.row]]), push)
        ones = Iterate(
            v, np.zeros(self.form.sizes.gaps), np.zeros(len(b.target)), np.ones(len(b.below)), np.ones(len(b.above))
        )
        if self.warm is not None:
            gaps, rows, bounds = self.form.rows_of(self.warm.multipliers)
            each = np.concatenate([bounds, rows[b.row]])
            mu = self.options.barrier or _WARM_BARRIER
            low, high = np.maximum(-each, 0.0)[b.below], np.maximum(each, 0.0)[b.above]
            return b.held(Iterate(v, gaps, rows, low + mu, high + mu), mu)
        return with_least_squares(b, ones)

    def to_the_end(self) -> Outcome:
        """Interior point and restorations in turn."""
        less, least, nudges = _LESS, np.inf, 0
        for _ in range(self.options.feasibility_rounds):
            end = self.method.run()
            if end not in ("stuck", "accepted"):
                return end  # type: ignore[return-value]
            if self.method.here.worst <= self.options.tolerance:
                return "failed"
            less = less * _LESSER if self.method.here.violation > _LESS * least else _LESS
            self._is_saddle = False
            end = self._restore(True, less)
            least = self.method.here.violation
            for gaps in (True, False):  # hardly held back now; then, where gaps share the violation, the rows to blame
                if end in ("solved", "acceptable"):
                    before = self.method.iterate, self.method.here
                    inside = self.barrier.interior(before[0].v, _PUSH)
                    self.method.move(replace(before[0], v=inside), self.barrier.at(inside))
                    last = self._restore(gaps, less, _WEAK)
                    if last == "stuck":
                        self.method.move(*before)
                    else:
                        end = last
            if end in ("solved", "acceptable"):
                if not self._is_saddle or nudges == _NUDGES:
                    return "infeasible"
                nudges += 1
                self._nudge(nudges)
            elif end != "accepted":
                return "failed" if end == "stuck" else end
        return "failed"

    def _nudge(self, seed: int) -> None:
        """Leave a point in a random direction: by symmetry no step leads from a pendulum that hangs."""
        method, b = self.method, self.barrier
        v = method.iterate.v.copy()
        v[: b.n] += np.random.default_rng(seed).normal(0.0, _NUDGE * np.maximum(1.0, np.abs(v[: b.n])))
        v[: b.n][self.form.frozen] = method.iterate.v[: b.n][self.form.frozen]
        v = b.interior(v, _WARM_PUSH)
        method.move(with_least_squares(b, replace(method.iterate, v=v)), b.at(v))
        method.refresh()

    def _restore(self, gaps: bool, less: float, share: float = 1.0) -> End:
        """Look for a point with less violation that the filter accepts.

        Args:
            gaps: Whether gaps are elastic, too, or stay closed.
            less: Which share of the violation may be left.
            share: How much of the pull towards the present point is left.
        """
        method, b = self.method, self.barrier
        w, size = method.iterate.v[: b.n], max(method.mu, method.here.worst)
        near = Elastic(w, 1.0 / np.maximum(1.0, np.abs(w)), share * float(np.sqrt(size)), gaps)
        mu = share * size
        elastic = Barrier(self.form, b.relaxation, near)
        method.filter.add(method.here.violation, b.merit(method.here, method.iterate.v, method.mu))
        before = method.here.violation

        def accepted(v: Array) -> bool:
            here = b.at(v[: b.own])
            merit = b.merit(here, v[: b.own], method.mu)
            return here.violation <= less * before and method.filter.accepts(here.violation, merit)

        tolerance = max(self.options.tolerance, _EXACT * min(1.0, method.here.worst))
        inner = InteriorPoint(elastic, self._elastic_start(elastic, mu), mu, tolerance, self.watch, accepted)
        end = inner.run()
        self._is_saddle |= end in ("solved", "acceptable") and inner.newton is not None and inner.newton.delta > 0.0
        found = inner.iterate if end == "accepted" else inner.best
        low = dict(zip(elastic.below, found.low, strict=True))
        high = dict(zip(elastic.above, found.high, strict=True))
        moved = Iterate(
            found.v[: b.own],
            found.gaps,
            found.rows,
            np.array([low[k] for k in b.below]),
            np.array([high[k] for k in b.above]),
        )
        if max(moved.low.max(initial=0.0), moved.high.max(initial=0.0)) > LARGEST_FIRST:
            moved = replace(moved, low=np.ones(len(b.below)), high=np.ones(len(b.above)))
        method.move(with_least_squares(b, moved), b.at(moved.v))
        return end

    def _elastic_start(self, elastic: Barrier, mu: float) -> Iterate:
        """Slacks of the elastic program that are optimal for fixed w (equation 33)."""
        it, here = self.method.iterate, self.method.here
        closed = elastic.elastic is None or not elastic.elastic.gaps
        e = here.rows if closed else np.concatenate([here.rows, here.gaps])
        half = (mu - PRICE * e) / (2.0 * PRICE)
        minus = half + np.sqrt(half**2 + mu * e / (2.0 * PRICE))
        plus = e + minus
        v = np.concatenate([it.v, plus, minus])
        low = elastic.distances(v)[0]
        own = len(self.barrier.below)
        lows = np.concatenate([np.minimum(PRICE, it.low), mu / low[own:]])
        return Iterate(v, np.zeros_like(it.gaps), np.zeros_like(it.rows), lows, np.minimum(PRICE, it.high))

    def solution(self, outcome: Outcome) -> StagedSolution:
        """What is reported."""
        method, b = self.method, self.barrier
        it = method.best if outcome in ("interrupted", "time limit", "iteration limit", "failed") else method.iterate
        w = it.v[: b.n].copy()
        bounds = np.zeros(len(it.v))
        bounds[b.below] -= it.low
        bounds[b.above] += it.high
        return StagedSolution(
            success=outcome == "solved",
            outcome=outcome,
            w=w,
            multipliers=self.form.multipliers(w, it.gaps, it.rows, bounds[: b.n]),
            cost=float(self.functions.values(w).cost),
            iterations=self.watch.table[-1].number if self.watch.table else 0,
            kkt_residual=np.nan,
            message=_MESSAGES[outcome],
            table=tuple(self.watch.table),
            gains=self._gains(),
            seconds=self.watch.seconds(self.functions),
        )

    def _gains(self) -> Gains | None:
        """Feedback of the last factorisation; of one more where no step was needed."""
        method, s = self.method, self.form.sizes
        if method.newton is None or method.last is None:
            try:
                method.newton = Newton(self.barrier, method.iterate, method.slopes, method.slope, method.mu)
            except WrongInertiaError:
                return None
            method.last = method.newton.step(method.here.gaps, method.here.rows)
        feedback, forward = method.newton.sweep.feedback(), []
        for k, K in enumerate(feedback):
            at, nx = int(s.starts[k]), s.states[k]
            step = method.last.v[at : at + nx + s.controls[k]]
            forward.append(step[nx:] - K @ step[:nx])
        return Gains(feedback, tuple(forward))
