"""The least cost with which all groups hold, all of them at once, by an interior-point method.

    min Σ_g cost_g r_g   with   lower − measure r_g ≤ A x ≤ upper + measure r_g,   r ≥ 0        [explain.elastic]

Where many groups give way, as in problems with many conflicts, this is far less work than pivots of a simplex method.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from highspy import HighsLp
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_lp import linear_program, optimum

__all__ = ["Elastic", "least_at_once"]

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
_OPTIONS = {
    "solver": "ipm",
    "primal_feasibility_tolerance": 1e-9,
    "dual_feasibility_tolerance": 1e-9,
}


class Elastic(NamedTuple):
    """An optimum, or the proof that there is none.

    Args:
        multipliers: (rows,) positive where an upper end binds, negative where a lower one does.
        amounts: (groups,) how far each group gives way; None if no amounts help.
        x: (n,) where all rows hold then.
    """

    multipliers: Numbers
    amounts: Numbers | None = None
    x: Numbers | None = None


def least_at_once(rows: ScaledRows, costs: Numbers) -> Elastic | None:
    """The optimum; None if HiGHS finds none, as where groups conflict that may not give way.

    Args:
        rows: The rows.
        costs: (groups,) of one unit; inf for groups that do not give way.
    """
    above, below = np.flatnonzero(np.isfinite(rows.upper)), np.flatnonzero(np.isfinite(rows.lower))
    size = np.zeros(rows.groups)
    np.maximum.at(size, rows.group, rows.measure)
    gives = np.flatnonzero(np.isfinite(costs) & (size > 0.0))
    found = optimum(_model(rows, above, below, gives, costs[gives] / size[gives], size), **_OPTIONS)
    if found is None:
        return None
    values, duals, n = *found, len(rows.columns)
    amounts, multipliers = np.zeros(rows.groups), np.zeros(len(rows.upper))
    amounts[gives] = np.maximum(values[n:], 0.0) / size[gives]
    multipliers[above] -= duals[: len(above)]
    multipliers[below] += duals[len(above) :]
    return Elastic(multipliers, amounts, values[:n])


def _model(rows: ScaledRows, above: Places, below: Places, gives: Places, costs: Numbers, size: Numbers) -> HighsLp:
    """Rows A x − measure r ≤ upper, then −A x − measure r ≤ −lower; r in units that move some row by 1."""
    A, n = sparse.csr_array(rows.A), len(rows.columns)
    ends = np.concatenate([above, below])
    column = np.full(rows.groups, -1)
    column[gives] = np.arange(len(gives))
    of = column[rows.group[ends]]
    at = np.flatnonzero(of >= 0)
    shares = -rows.measure[ends[at]] / size[rows.group[ends[at]]]
    moves = sparse.csr_array((shares, (at, of[at])), shape=(len(ends), len(gives)))
    matrix = sparse.csr_array(sparse.hstack([sparse.vstack([A[above], -A[below]]), moves]))
    low = np.append(np.full(n, -np.inf), np.zeros(len(gives)))
    upper = np.append(rows.upper[above], -rows.lower[below])
    return linear_program(np.append(np.zeros(n), costs), (low, np.inf), matrix, (-np.inf, upper))
