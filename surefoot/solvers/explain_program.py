"""Linear programs over groups that may give way, solved by HiGHS."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import linprog

from surefoot.errors import SurefootError
from surefoot.solvers.explain_groups import ScaledRows

__all__ = ["Elastic", "least_elastic"]

Numbers = NDArray[np.float64]
_TIGHT = {"primal_feasibility_tolerance": 1e-9, "dual_feasibility_tolerance": 1e-9}
_ATTEMPTS: tuple[tuple[str, dict[str, Any]], ...] = (
    ("highs-ds", {**_TIGHT, "presolve": True}),
    ("highs-ds", {**_TIGHT, "presolve": False}),
    ("highs-ipm", {**_TIGHT, "presolve": True}),
    ("highs-ds", {"presolve": True}),
)  # one after the other, where HiGHS gives up
_SOLVED, _INFEASIBLE = 0, 2


class Elastic(NamedTuple):
    """An optimum.

    Args:
        x: (n,).
        amounts: (groups,) how far each group gives way; 0 for those that may not.
        multipliers: (rows,) positive where an upper end binds, negative where a lower one does.
        cost: The sum of amounts times costs.
    """

    x: Numbers
    amounts: Numbers
    multipliers: Numbers
    cost: float


def least_elastic(rows: ScaledRows, costs: Numbers, measure: Numbers) -> Elastic | None:
    """The least sum of costs with which some x keeps all rows; None if there is none.

        min Σ_g costs_g r_g,   lower − measure r_g ≤ A x ≤ upper + measure r_g,   r ≥ 0        [explain.elastic]

    One r for all rows of a group (Chinneck and Dravnieks 1991 have one for each row).

    Args:
        rows: The rows.
        costs: (groups,) inf for groups that do not give way.
        measure: (rows,) how far a row moves for an amount of 1.

    Raises:
        SurefootError: HiGHS gave up.
    """
    basis, A = _compressed(rows.A)
    gives = np.unique(rows.group[np.isfinite(costs[rows.group]) & (measure > 0.0)])
    units = _units(rows, measure, gives)
    moves = _moves(rows, measure, gives, units)
    above, below = np.isfinite(rows.upper), np.isfinite(rows.lower)
    left = sparse.vstack([sparse.hstack([A[above], -moves[above]]), sparse.hstack([-A[below], -moves[below]])])
    n, prices = A.shape[1], costs[gives] * units
    typical = float(np.median(prices)) if len(prices) else 1.0
    found = _optimum(
        np.concatenate([np.zeros(n), prices / typical]),
        left,
        np.concatenate([rows.upper[above], -rows.lower[below]]),
        np.column_stack([np.repeat([-np.inf, 0.0], [n, len(gives)]), np.full(n + len(gives), np.inf)]),
    )
    if found is None:
        return None
    amounts, multipliers = np.zeros(rows.groups), np.zeros(len(rows.upper))
    amounts[gives] = found.x[n:] * units
    ends = np.split(-found.ineqlin.marginals * typical, [int(above.sum())])
    multipliers[above] += ends[0]
    multipliers[below] -= ends[1]
    x = found.x[:n] if basis is None else basis @ found.x[:n]
    return Elastic(x, amounts, multipliers, float(costs[gives] @ amounts[gives]))


def _optimum(costs: Numbers, left: Any, right: Numbers, bounds: Numbers) -> Any:
    """What HiGHS finds; None if there is no solution."""
    for method, options in _ATTEMPTS:
        found = linprog(costs, A_ub=left, b_ub=right, bounds=bounds, method=method, options=options)
        if found.status == _INFEASIBLE:
            return None
        if found.status == _SOLVED:
            return found
    raise SurefootError("HiGHS could not solve a relaxation", evidence={"status": found.message})


def _compressed(A: Any) -> tuple[Numbers | None, Any]:
    """Fewer unknowns where there are fewer rows: x = basis y; the basis (None: the identity), and A basis as CSR."""
    if sparse.issparse(A) or A.shape[0] >= A.shape[1]:
        return None, sparse.csr_array(A)
    basis, triangle = np.linalg.qr(A.T)
    return basis, sparse.csr_array(np.tril(triangle.T))


def _units(rows: ScaledRows, measure: Numbers, gives: NDArray[np.intp]) -> Numbers:
    """(gives,) amounts that move some row of the group by 1, and none further."""
    largest = np.zeros(rows.groups)
    np.maximum.at(largest, rows.group, measure)
    return 1.0 / largest[gives]


def _moves(rows: ScaledRows, measure: Numbers, gives: NDArray[np.intp], units: Numbers) -> Any:
    """(rows, gives) as CSR: how far rows move."""
    place = np.full(rows.groups, -1)
    place[gives] = np.arange(len(gives))
    at = np.flatnonzero((place[rows.group] >= 0) & (measure > 0.0))
    column = place[rows.group[at]]
    return sparse.csr_array((measure[at] * units[column], (at, column)), shape=(len(measure), len(gives)))
