"""`RealTime`: a few Newton steps at one barrier parameter, again and again, for receding horizons.

Each tick starts from the last one's variables and multipliers, moved on in time, and takes full steps, in which
variables and slacks stop at their bounds each for itself: real-time iterations (Diehl, Bock and Schlöder 2005) of the
barrier program. There is no line search and no scaling, so that a tick has a known amount of work; a large barrier
parameter keeps the iterates central.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.one_core import on_one_core
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.riccati.barrier import Barrier, Iterate
from surefoot.solvers.staged.riccati.form import Form
from surefoot.solvers.staged.riccati.newton import Newton, Regularization, Step
from surefoot.solvers.staged.riccati.sweep import WrongInertiaError
from surefoot.solvers.staged.watch import TimedFunctions

_PUSH = 1e-3  # how far slacks start from their bounds
_CENTRAL = 10.0  # by which factor multipliers of bounds may differ from μ / distance
_TAU = 0.99  # share of a distance to a bound that one step may use


@dataclass(frozen=True)
class RealTimePoint:
    """Variables and multipliers between two ticks.

    Attributes:
        w: (variables,).
        gaps: Multipliers of gaps.
        rows: Multipliers of rows.
        bounds: (variables + rows, 2) of lower and upper bounds on w and on rows, ≥ 0; zero where there is none.
    """

    w: Array
    gaps: Array
    rows: Array
    bounds: Array


@dataclass(frozen=True)
class RealTimeStep:
    """What one tick did.

    Attributes:
        point: Where it ended.
        feedback: K_k (nu_k, nx_k) of the first stages, from the last factorisation.
        violation: Largest residual of gaps and rows before the last step.
        stationarity: Largest entry of the gradient of the Lagrangian there.
        length: Share of the last step at which the first variable or row meets its bound.
    """

    point: RealTimePoint
    feedback: tuple[Array, ...]
    violation: float
    stationarity: float
    length: float


class RealTime:
    """Newton steps on one staged program whose first state, and whose functions' data, change from tick to tick.

    Args:
        problem: The program; bounds that fix x_0 tell that it is given, its values do not matter.
        mu: Barrier parameter.
    """

    def __init__(self, problem: StagedProblem, mu: float) -> None:
        self.problem, self.mu = problem, mu
        self._form = Form(problem, TimedFunctions(problem), None)
        self._barrier = Barrier(self._form, 1e-8)
        self._regularization = Regularization()

    def start(self, w: Array, gaps: Array | None = None, rows: Array | None = None) -> RealTimePoint:
        """A point without knowledge of multipliers, or with those of gaps and rows.

        Args:
            w: Variables.
            gaps: Multipliers.
            rows: Multipliers.
        """
        s = self.problem.sizes
        none = np.zeros((s.variables + int(s.row_starts[-1]), 2))
        return RealTimePoint(
            w,
            np.zeros(s.gaps) if gaps is None else gaps,
            np.zeros(int(s.row_starts[-1])) if rows is None else rows,
            none,
        )

    @on_one_core()
    def step(self, point: RealTimePoint, steps: int = 1, gains: int = 2) -> RealTimeStep:
        """Some Newton steps from a point.

        Args:
            point: Variables, with the first state as measured, and multipliers.
            steps: How many.
            gains: Of how many stages feedback is wanted.

        Raises:
            ArithmeticError: The step does not exist.
        """
        b, iterate = self._barrier, self._inside(point)
        for _ in range(steps):
            here, slopes = b.at(iterate.v), self._form.slopes(iterate.v[: b.n])
            slope = b.gradient(iterate.v, slopes) + b.lagrangian(slopes, iterate.gaps, iterate.rows)
            try:
                newton = Newton(b, iterate, slopes, slope, self.mu, self._regularization)
            except WrongInertiaError as error:
                raise ArithmeticError("no regularisation makes the Hessian positive definite") from error
            step = newton.step(here.gaps, here.rows)
            length = min(
                _longest(b.distances(iterate.v)[0], step.v[b.below]),
                _longest(b.distances(iterate.v)[1], -step.v[b.above]),
            )
            if not np.isfinite(step.v).all():
                raise ArithmeticError("the step is not finite")
            errors = b.errors(iterate, here, slope, self.mu)
            iterate = self._moved(iterate, step)
        feedback = newton.sweep.feedback(gains)
        return RealTimeStep(self._point(iterate), feedback, errors.violation, errors.stationarity, length)

    def _inside(self, point: RealTimePoint) -> Iterate:
        """Slacks where rows are, inside the bounds; multipliers of bounds near μ / distance."""
        b = self._barrier
        w = b.interior(np.concatenate([point.w, np.zeros(b.own - b.n)]), _PUSH)[: b.n]
        v = b.interior(np.concatenate([w, self._form.point(w).rows[b.row]]), _PUSH)
        kept = self._form.kept
        z = np.concatenate([point.bounds[: b.n], point.bounds[b.n + kept[b.row]]])
        near = [self.mu / d for d in b.distances(v)]
        low = np.clip(z[b.below, 0], near[0] / _CENTRAL, near[0] * _CENTRAL)
        high = np.clip(z[b.above, 1], near[1] / _CENTRAL, near[1] * _CENTRAL)
        return Iterate(v, point.gaps, point.rows[kept], low, high)

    def _moved(self, it: Iterate, step: Step) -> Iterate:
        """The full step; what would leave its bounds stops short of them, each for itself."""
        b, left = self._barrier, 1.0 - _TAU
        v, (low, high) = it.v + step.v, b.distances(it.v)
        v[b.below] = np.maximum(v[b.below], b.lower[b.below] + left * low)
        v[b.above] = np.minimum(v[b.above], b.upper[b.above] - left * high)
        z = np.maximum(it.low + step.low, left * it.low), np.maximum(it.high + step.high, left * it.high)
        return b.held(Iterate(v, it.gaps + step.gaps, it.rows + step.rows, *z), self.mu)

    def _point(self, it: Iterate) -> RealTimePoint:
        b = self._barrier
        z = np.zeros((len(it.v), 2))
        z[b.below, 0], z[b.above, 1] = it.low, it.high
        kept, rows = self._form.kept, np.zeros(int(self.problem.sizes.row_starts[-1]))
        rows[kept] = it.rows
        bounds = np.zeros((b.n + len(rows), 2))
        bounds[: b.n], bounds[b.n + kept[b.row]] = z[: b.n], z[b.n :]
        return RealTimePoint(it.v[: b.n].copy(), it.gaps, rows, bounds)


def _longest(distance: Array, step: Array) -> float:
    shrinking = step < 0.0
    return min(1.0, float((-_TAU * distance[shrinking] / step[shrinking]).min(initial=1.0)))
