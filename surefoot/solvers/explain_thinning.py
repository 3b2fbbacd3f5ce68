"""A proof with few rows out of one with many.

Of multipliers y that prove that rows cannot hold together, those with the signs of a given proof are a cone. A vertex
of its cut with a plane names at most one row more than there are unknowns (Carathéodory 1911), and is a proof, too:

    min Σ c |y|   with   Aᵀ y = 0,   −Σ_{y>0} y upper − Σ_{y<0} y lower = 1        [explain.thinning]
"""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sparse
from highspy import HighsLp, HighsModelStatus
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows

__all__ = ["thinned"]

Numbers = NDArray[np.float64]
_FAR = 1e6  # multipliers prove that no x within this many times the size of x will do
_NOTHING = 1e-10  # multipliers below this share of the largest are rounding


def thinned(rows: ScaledRows, proof: Numbers, x: Numbers) -> Numbers:
    """Multipliers (rows,) of a proof that names some of the rows of another one, the last groups rather than the first.

    The other one itself is given back where HiGHS finds no better.

    Args:
        rows: The rows.
        proof: (rows,) multipliers.
        x: (n,) for the size of unknowns.
    """
    at = np.flatnonzero(proof)
    sign = np.sign(proof[at])
    ends = sign * np.where(sign > 0.0, rows.upper[at], rows.lower[at])
    named = sparse.csr_array(rows.A[at]) * sign[:, None]
    highs = highspy.Highs()
    for name, value in {"output_flag": False, "threads": 1, "parallel": "off", "presolve": "off"}.items():
        highs.setOptionValue(name, value)
    highs.passModel(_model(named, ends, 2.0 - rows.group[at] / rows.groups))
    highs.run()
    if highs.getModelStatus() != HighsModelStatus.kOptimal:
        return proof
    y = np.array(highs.getSolution().col_value)
    y[y <= _NOTHING * y.max(initial=0.0)] = 0.0
    left, far = float(np.abs(named.T @ y).sum()), 1.0 + float(np.abs(x).max(initial=0.0))
    if left * _FAR * far > -float(ends @ y):
        return proof
    out = np.zeros(len(proof))
    out[at] = sign * y
    return out


def _model(rows: sparse.csr_array, ends: Numbers, costs: Numbers) -> HighsLp:
    """Columns are the rows of the proof, with positive multipliers."""
    k, n = rows.shape
    A = sparse.csr_array(sparse.hstack([rows, sparse.csr_array(-ends[:, None])]))
    right = np.append(np.zeros(n), 1.0)
    lp = HighsLp()
    lp.num_col_, lp.num_row_ = k, n + 1
    lp.col_cost_, lp.col_lower_, lp.col_upper_ = costs, np.zeros(k), np.full(k, np.inf)
    lp.row_lower_, lp.row_upper_ = right, right
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_, lp.a_matrix_.index_, lp.a_matrix_.value_ = A.indptr, A.indices, A.data
    return lp
