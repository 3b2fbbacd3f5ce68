"""A proof with few groups out of one with many.

Multipliers y that prove that rows cannot hold together are a cone. A vertex of its cut with a plane names at most one
row more than there are unknowns (Carathéodory 1911), and is a proof, too:

    min Σ c |y|   with   Aᵀ y = 0,   −Σ_{y>0} y upper − Σ_{y<0} y lower = 1        [explain.thinning]

With c = 1 / (share of the group in the last proof), again and again, y gathers in few groups (Candès, Wakin and Boyd
2008): the fewer there are, the fewer have to be tried.
"""

from __future__ import annotations

import highspy
import numpy as np
import scipy.sparse as sparse
from highspy import HighsBasisStatus, HighsModelStatus
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_lp import QUIET, linear_program

__all__ = ["thinned"]

Numbers = NDArray[np.float64]
Mask = NDArray[np.bool_]
Places = NDArray[np.intp]
_FAR = 1e6  # multipliers prove that no x within this many times the size of x will do
_NOTHING = 1e-10  # multipliers below this share of the largest are rounding
_STRONGEST = 0.3  # share of the groups among which a proof is looked for first
_LEAST_SHARE = 0.01  # of the largest: groups below count the same
_ROUNDS = 4
_PRIMAL = 4


def thinned(rows: ScaledRows, proof: Numbers, x: Numbers) -> Numbers:
    """Multipliers (rows,) of a proof that names few of the groups of another one, the last ones rather than the first.

    The other one itself is given back where HiGHS finds no better.

    Args:
        rows: The rows.
        proof: (rows,) multipliers.
        x: (n,) for the size of unknowns.
    """
    share = _shares(rows, proof)
    strong = share >= np.quantile(share[share > 0.0], 1.0 - _STRONGEST)
    for groups in (strong, share > 0.0):
        search = _Search(rows, *_named_ends(np.where(groups[rows.group], proof, 0.0)))
        found = search.vertex(share)
        if found is not None:
            break
    else:
        return proof
    search = _Search(rows, *_all_ends(rows, _shares(rows, found) > 0.0), search)
    for _ in range(_ROUNDS):
        share = _shares(rows, found)
        better = search.vertex(share)
        if better is None or np.count_nonzero(_shares(rows, better)) >= np.count_nonzero(share):
            break
        found = better
    at = np.flatnonzero(found)
    gap = -float(found[at] @ np.where(found[at] > 0.0, rows.upper[at], rows.lower[at]))
    left, far = float(np.abs(rows.A.T @ found).sum()), 1.0 + float(np.abs(x).max(initial=0.0))
    return found if left * _FAR * far <= gap else proof


class _Search:
    """Vertices of the cone, from one to the next; a column for each end that may be named.

    Args:
        rows: The rows.
        row: (columns,) the row of each end.
        sign: (columns,) 1 for an upper end, −1 for a lower one.
        before: A search at whose vertex to begin; it names none but these ends.
    """

    def __init__(self, rows: ScaledRows, row: Places, sign: Numbers, before: _Search | None = None) -> None:
        self._rows, self._row, self._sign = rows, row, sign
        ends = sign * np.where(sign > 0.0, rows.upper[row], rows.lower[row])
        columns = sparse.vstack([sparse.csr_array(rows.A[row] * sign[:, None]).T, sparse.csr_array(-ends[None])])
        right = np.append(np.zeros(columns.shape[0] - 1), 1.0)
        self._highs = highspy.Highs()
        for name, value in QUIET.items():
            self._highs.setOptionValue(name, value)
        self._highs.passModel(linear_program(np.zeros(len(ends)), (0.0, np.inf), columns, (right, right)))
        if before is not None:
            self._begin_at(before)

    def _begin_at(self, before: _Search) -> None:
        """Start at the basis of another search."""
        found, out = before._highs.getBasis(), highspy.HighsBasis()
        basic = {
            (row, sign)
            for row, sign, status in zip(before._row.tolist(), before._sign.tolist(), found.col_status, strict=True)
            if status == HighsBasisStatus.kBasic
        }
        ends = zip(self._row.tolist(), self._sign.tolist(), strict=True)
        out.col_status = [HighsBasisStatus.kBasic if end in basic else HighsBasisStatus.kLower for end in ends]
        out.row_status, out.valid, out.alien = found.row_status, True, False
        self._highs.setBasis(out)
        if not sparse.issparse(self._rows.A):
            self._highs.setOptionValue("simplex_strategy", _PRIMAL)  # of sparse rows it moves nothing for long

    def vertex(self, share: Numbers) -> Numbers | None:
        """Multipliers (rows,) at which groups of small share cost most; None if there are none.

        Args:
            share: (groups,) of the groups in the last proof.
        """
        highs, group = self._highs, self._rows.group[self._row]
        costs = (2.0 - group / self._rows.groups) / (share / share.max() + _LEAST_SHARE)[group]
        highs.changeColsCost(len(costs), np.arange(len(costs), dtype=np.int32), costs / costs.max())
        highs.run()
        if highs.getModelStatus() != HighsModelStatus.kOptimal:
            return None
        y = np.array(highs.getSolution().col_value)
        y[y <= _NOTHING * y.max(initial=0.0)] = 0.0
        return np.asarray(np.bincount(self._row, self._sign * y, minlength=len(self._rows.upper)), dtype=np.float64)


def _named_ends(proof: Numbers) -> tuple[Places, Numbers]:
    """Rows and signs of the ends that a proof names."""
    at = np.flatnonzero(proof)
    return at, np.sign(proof[at])


def _all_ends(rows: ScaledRows, groups: Mask) -> tuple[Places, Numbers]:
    """Rows and signs of all ends of groups."""
    above = np.flatnonzero(groups[rows.group] & np.isfinite(rows.upper))
    below = np.flatnonzero(groups[rows.group] & np.isfinite(rows.lower))
    return np.concatenate([above, below]), np.repeat([1.0, -1.0], [len(above), len(below)])


def _shares(rows: ScaledRows, proof: Numbers) -> Numbers:
    """(groups,) of the groups in a proof."""
    return np.asarray(np.bincount(rows.group, np.abs(proof), minlength=rows.groups), dtype=np.float64)
