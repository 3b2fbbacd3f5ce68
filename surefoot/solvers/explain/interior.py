"""Questions about many sparse rows: elastic linear programs for the interior point of HiGHS.

    min Σ s + t r   with   lower − s − measure r ≤ A x ≤ upper + s + measure r,   s, r ≥ 0       [explain.interior]

Simplex methods need thousands of pivots for the chains of equations that motions over time are. The interior point
needs some twenty steps, and the program always has a solution: either a point that keeps the rows, or multipliers that
prove that there is none.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.arrays import Array

_UNKNOWNS = 1000  # from which programs with sparse rows are solved in this way
_UNKNOWNS_COARSE, _COARSE = 150, 5e-6  # and with wider tolerances, about where both ways take equally long
_SECONDS = 20.0  # after which a search ends without an answer
_OPTIONS: dict[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "solver": "ipm",
    "run_crossover": "off",
    "presolve": "off",  # saves no time here, and has called programs infeasible that are not
    "ipm_optimality_tolerance": 1e-7,
    "time_limit": _SECONDS,
}


class Answer(NamedTuple):
    """A point (n,), how far groups give way there (groups,), and multipliers (rows,), positive at upper ends."""

    x: Array
    amounts: Array
    multipliers: Array


def is_large(A: Any, tolerance: float) -> bool:
    """Whether rows (rows, n) are for the interior point, which leaves about 1e-7 of their size."""
    return sparse.issparse(A) and A.shape[1] >= (_UNKNOWNS_COARSE if tolerance >= _COARSE else _UNKNOWNS)


def solve_elastic(
    A: Any, ends: tuple[Array, Array], soft: NDArray[np.bool_], moves: Any = None, costs: Array | None = None
) -> Answer | None:
    """The point with the least sum of what rows are violated and of what groups give way; None if none is found.

    Args:
        A: (rows, n), CSR.
        ends: Lower and upper ends (rows,).
        soft: (rows,) which may be violated, at a price of 1 each.
        moves: (rows, groups), CSR: how far the ends of a row move for one unit of each group.
        costs: (groups,) of one unit.
    """
    (lower, upper), (count, n) = ends, A.shape
    there = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
    moves = sparse.csr_array((count, 0)) if moves is None else moves
    costs = np.zeros(0) if costs is None else costs
    moved = there[np.diff(sparse.csr_array(moves).indptr)[there] > 0]
    plain = np.setdiff1d(there, moved, assume_unique=True)
    up, down = moved[np.isfinite(upper[moved])], moved[np.isfinite(lower[moved])]
    order = np.concatenate([plain, up, down])
    violated = np.flatnonzero(soft[order])
    slack = sparse.eye_array(len(order), format="csc")[:, violated]
    shift = sparse.vstack([moves[plain], -moves[up], moves[down]])
    M = sparse.csc_array(sparse.hstack([A[order], shift, slack, -slack]))
    none = np.full(len(order), np.inf)
    low, high = -none, none
    low[: len(plain)], high[: len(plain)] = lower[plain], upper[plain]
    high[len(plain) : len(plain) + len(up)], low[len(plain) + len(up) :] = upper[up], lower[down]
    found = _solve(M, low, high, n, np.concatenate([np.zeros(n), costs, np.ones(2 * len(violated))]))
    if found is None:
        return None
    x, duals = found
    multipliers = np.bincount(order, -duals, minlength=count).astype(float)
    return Answer(x[:n], x[n : n + len(costs)], multipliers)


def _solve(M: Any, low: Array, high: Array, free: int, costs: Array) -> tuple[Array, Array] | None:
    """Columns and duals of rows of an optimum; the first `free` columns have no bounds, the others are not negative."""
    import highspy  # slow to import, and seldom needed

    lp, highs = highspy.HighsLp(), highspy.Highs()
    for name, value in _OPTIONS.items():
        highs.setOptionValue(name, value)
    lp.num_row_, lp.num_col_ = M.shape
    lp.col_cost_, lp.col_upper_ = costs, np.full(M.shape[1], np.inf)
    lp.col_lower_ = np.where(np.arange(M.shape[1]) < free, -np.inf, 0.0)
    lp.row_lower_, lp.row_upper_ = low, high
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = M.indptr, M.indices, M.data
    highs.passModel(lp)
    highs.run()
    if highs.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        return None
    solution = highs.getSolution()
    return np.array(solution.col_value), np.array(solution.row_dual)
