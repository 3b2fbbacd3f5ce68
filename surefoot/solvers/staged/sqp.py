"""Sequential quadratic programming with BFGS updates and active sets, for small dense programs (Kraft 1988, SLSQP).

The method of Koch, section 4.2, with another globalisation. Its time grows with the cube of the number of variables.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.certificate import kkt_residual
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.solution import Iteration, Multipliers, Outcome, Progress, SolverOptions, StagedSolution
from surefoot.solvers.staged.sparse_form import SparseForm, all_constraints, constraint_bounds
from surefoot.solvers.staged.watch import TimedFunctions, Watch

_NEAR = 1e-6  # of max(1, |bound|): what is active at the end


class _StoppedError(Exception):
    """A limit was reached."""


def solve_sqp(
    problem: StagedProblem, options: SolverOptions, progress: Progress | None, warm: StagedSolution | None
) -> StagedSolution:
    """Solve a staged program by dense SQP.

    Args:
        problem: The staged program; a few hundred variables at most.
        options: Limits and settings.
        progress: Called in every iteration.
        warm: Earlier solution to start from; its multipliers are not used.
    """
    watch, dense = Watch(options, progress), _Dense(problem)
    w0 = np.clip(problem.w0 if warm is None else warm.w, problem.lower, problem.upper)
    outcome: Outcome = "failed"
    dense.last = w0
    message = ""
    with watch:
        dense.note(w0, watch)
        try:
            found = scipy.optimize.minimize(
                dense.cost, w0[dense.free], jac=dense.gradient, method="SLSQP", constraints=dense.constraints,
                bounds=scipy.optimize.Bounds(problem.lower[dense.free], problem.upper[dense.free]),
                callback=lambda z: dense.step(z, watch),
                options={"maxiter": options.max_iterations, "ftol": 1e-2 * options.tolerance**1.5},
            )  # fmt: skip
            message = str(found.message)
            dense.last = dense.whole(found.x)
            outcome = "iteration limit" if found.status == 9 else "solved" if found.status == 0 else "failed"
        except _StoppedError:
            outcome = watch.limit() or "interrupted"
    return dense.solution(outcome, message, watch, options.tolerance)


class _Dense:
    """A staged program as SLSQP sees it: free variables z of w, equations and inequalities as dense rows."""

    def __init__(self, problem: StagedProblem) -> None:
        self.problem, self.functions, self._form = problem, TimedFunctions(problem), SparseForm(problem)
        self.free = np.flatnonzero(problem.lower < problem.upper)
        self.last = problem.w0
        self._lower, self._upper = constraint_bounds(problem)
        self._equal = np.flatnonzero(self._lower == self._upper)
        unequal = self._lower < self._upper
        self._low = np.flatnonzero(unequal & np.isfinite(self._lower))
        self._high = np.flatnonzero(unequal & np.isfinite(self._upper))
        self._jacobian: tuple[Array, Array] | None = None
        self.constraints: list[Any] = [{"type": "eq", "fun": self._equations, "jac": self._equation_slopes}]
        if len(self._low) + len(self._high):
            self.constraints.append({"type": "ineq", "fun": self._inequalities, "jac": self._inequality_slopes})

    def whole(self, z: Array) -> Array:
        """All variables w."""
        w = np.array(self.problem.lower)
        w[self.free] = z
        return w

    def cost(self, z: Array) -> float:
        """Cost."""
        return self.functions.values(self.whole(z)).cost

    def gradient(self, z: Array) -> Array:
        """Of the cost, by z."""
        return self.functions.derivatives(self.whole(z)).gradient[self.free]

    def _all(self, z: Array) -> Array:
        return all_constraints(self.functions.values(self.whole(z)))

    def _slopes(self, z: Array) -> Array:
        if self._jacobian is None or not np.array_equal(self._jacobian[0], z):
            J = self._form.jacobian_matrix(self.functions.derivatives(self.whole(z))).toarray()
            self._jacobian = z.copy(), J[:, self.free]
        return self._jacobian[1]

    def _equations(self, z: Array) -> Array:
        return (self._all(z) - self._lower)[self._equal]

    def _equation_slopes(self, z: Array) -> Array:
        return self._slopes(z)[self._equal]

    def _inequalities(self, z: Array) -> Array:
        g = self._all(z)
        return np.concatenate([(g - self._lower)[self._low], (self._upper - g)[self._high]])

    def _inequality_slopes(self, z: Array) -> Array:
        J = self._slopes(z)
        return np.concatenate([J[self._low], -J[self._high]])

    def note(self, w: Array, watch: Watch) -> None:
        """A line of the table."""
        values = self.functions.values(w)
        g, number = all_constraints(values), len(watch.table)
        worst = float(np.maximum(self._lower - g, g - self._upper).max(initial=0.0))
        change = float(np.abs(w - self.last).max(initial=0.0))
        watch.note(Iteration(number, values.cost, worst, np.nan, 0.0, change, 0.0, np.nan, np.nan))
        self.last = w

    def step(self, z: Array, watch: Watch) -> None:
        """What happens after each iteration."""
        self.note(self.whole(z), watch)
        if watch.limit() in ("interrupted", "time limit"):
            raise _StoppedError

    def multipliers(self, w: Array) -> Multipliers:
        """By least squares over what is active, with the signs that they must have."""
        s, p = self.problem.sizes, self.problem
        values, slopes = self.functions.values(w), self.functions.derivatives(w)
        J = self._form.jacobian_matrix(slopes).toarray()
        low, high = self._near(all_constraints(values), self._lower, self._upper)
        below, above = self._near(w[self.free], p.lower[self.free], p.upper[self.free])
        rows = np.flatnonzero(low | high)
        bounds = np.flatnonzero(below | above)
        A = np.concatenate([J[rows][:, self.free], np.eye(len(self.free))[bounds]]).T
        least = np.where(np.concatenate([low[rows], below[bounds]]), -np.inf, 0.0)
        most = np.where(np.concatenate([high[rows], above[bounds]]), np.inf, 0.0)
        found = scipy.optimize.lsq_linear(A, -slopes.gradient[self.free], (least, most), tol=1e-14).x
        lam, own = np.zeros(s.constraints), np.zeros(s.variables)
        lam[rows], own[self.free[bounds]] = found[: len(rows)], found[len(rows) :]
        fixed = np.flatnonzero(p.lower == p.upper)
        own[fixed] = -(slopes.gradient + lam @ J)[fixed]
        end = s.constraints - s.end_rows
        return Multipliers(lam[: s.gaps], lam[s.gaps : end], lam[end:], own)

    @staticmethod
    def _near(values: Array, lower: Array, upper: Array) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Which bounds are active: lower, and upper."""
        low, high = (_NEAR * np.maximum(1.0, np.where(np.isfinite(x), np.abs(x), 1.0)) for x in (lower, upper))
        return values - lower < low, upper - values < high

    def solution(self, outcome: Outcome, message: str, watch: Watch, tolerance: float) -> StagedSolution:
        """What was found; a success only if its optimality error says so."""
        w = self.last
        multipliers = self.multipliers(w)
        error = kkt_residual(self.problem, w, multipliers)
        if error <= tolerance:
            outcome, message = "solved", "optimal within the tolerance"
        elif outcome == "solved":
            outcome, message = "failed", "no further progress, but not optimal within the tolerance"
        cost, count = self.functions.values(w).cost, max(0, len(watch.table) - 1)
        seconds = watch.seconds(self.functions)
        success = outcome == "solved"
        return StagedSolution(
            success, outcome, w, multipliers, cost, count, error, message, tuple(watch.table), None, seconds
        )
