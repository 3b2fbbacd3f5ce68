"""A proof with few rows out of one with many.

Of multipliers y that prove that rows cannot hold together, those with the signs of a given proof are a cone. A vertex
of its cut with a plane names at most one row more than there are unknowns (Carathéodory 1911), and is a proof, too:

    min Σ c |y|   with   Aᵀ y = 0,   −Σ_{y>0} y upper − Σ_{y<0} y lower = 1        [explain.thinning]
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_lp import linear_program, optimum

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
    columns = sparse.vstack([named.T, sparse.csr_array(-ends[None])])
    right = np.append(np.zeros(named.shape[1]), 1.0)
    found = optimum(linear_program(2.0 - rows.group[at] / rows.groups, (0.0, np.inf), columns, (right, right)))
    if found is None:
        return proof
    y = found.x
    y[y <= _NOTHING * y.max(initial=0.0)] = 0.0
    left, far = float(np.abs(named.T @ y).sum()), 1.0 + float(np.abs(x).max(initial=0.0))
    if left * _FAR * far > -float(ends @ y):
        return proof
    out = np.zeros(len(proof))
    out[at] = sign * y
    return out
