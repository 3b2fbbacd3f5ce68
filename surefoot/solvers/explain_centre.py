"""Moves that keep rows, from a point that is far from their ends.

Multipliers y prove that some rows conflict. Where these rows give way along y, by as little as possible, an
interior-point method ends at a point x in the midst of all others, with a slack s to their ends. The move

    min Σ_others (a·d / s)²   with   B d = target  at the rows of the proof        [explain.centre]

spends little of the slack (Dikin 1967), and is one linear system for many targets.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.sparse.linalg import splu

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_lp import linear_program, optimum
from surefoot.solvers.explain_projection import outside

__all__ = ["Centre"]

Numbers = NDArray[np.float64]
_LEAST_SHARE = 1e-3  # with which a row of the proof gives way, of that which bears most
_LEAST_SLACK = 1e-4  # that is told from none
_NARROW = 1e-5  # room of rows that are kept as they are, as equations
_CALM = 1e-4  # weight of directions along which no row changes
_YIELDING = 1e-12  # of rows that are kept, so that dependent ones are no trouble
_REFINEMENTS = 2


class Centre:
    """A point in the midst of rows that conflict, and moves from there.

    Args:
        rows: The rows, with ends that are wider by the tolerance.
        proof: (rows,) multipliers of the proof that they conflict.
        tolerance: That tolerance.
        x: (n,) the point.
    """

    def __init__(self, rows: ScaledRows, proof: Numbers, tolerance: float, x: Numbers) -> None:
        self.x = x
        A, bears = sparse.csr_array(rows.A), proof != 0.0
        values = A @ x
        narrow = ~bears & (rows.upper - rows.lower < _NARROW)
        self._inwards = -outside(values, rows.lower + tolerance, rows.upper - tolerance)[narrow, None]
        others = ~bears & ~narrow
        slack = np.minimum(values - rows.lower, rows.upper - values)[others]
        self._steps = _Steps(A[others], np.maximum(slack, _LEAST_SLACK) ** -2.0, sparse.vstack([A[bears], A[narrow]]))

    @classmethod
    def of(cls, rows: ScaledRows, proof: Numbers, tolerance: float) -> Self | None:
        """The centre of rows; None where they conflict otherwise, too, or rounding forbids it.

        Args:
            rows: The rows, with ends that are wider by the tolerance.
            proof: (rows,) multipliers of the proof that they conflict.
            tolerance: That tolerance.
        """
        x = _midst(rows, proof)
        try:
            return None if x is None else cls(rows, proof, tolerance, x)
        except RuntimeError:  # as SuperLU calls a matrix that is singular
            return None

    def moves(self, targets: Numbers) -> Numbers:
        """Moves d (n, many) after which other rows hold, if they are small enough.

        Args:
            targets: (rows of the proof, many) how far these rows are to change.
        """
        return self._steps.solve(np.vstack([targets, np.repeat(self._inwards, targets.shape[1], axis=1)]))


class _Steps:
    """The least |others d|² with weights for which kept d is given."""

    def __init__(self, others: Any, weights: Numbers, kept: Any) -> None:
        n, k = others.shape[1], kept.shape[0]
        square = others.T @ sparse.diags_array(weights) @ others + _CALM * sparse.eye_array(n)
        self._exact = sparse.csr_array(sparse.block_array([[square, kept.T], [kept, None]]))
        loose = sparse.diags_array(np.append(np.zeros(n), np.full(k, -_YIELDING)))
        how: dict[str, Any] = {"permc_spec": "MMD_AT_PLUS_A", "options": {"SymmetricMode": True}}
        self._factor = splu(sparse.csc_array(self._exact + loose), diag_pivot_thresh=0.0, **how)
        self._unknowns = n

    def solve(self, targets: Numbers) -> Numbers:
        right = np.vstack([np.zeros((self._unknowns, targets.shape[1])), targets])
        out = self._factor.solve(right)
        for _ in range(_REFINEMENTS):
            out += self._factor.solve(right - self._exact @ out)
        return out[: self._unknowns]


def _midst(rows: ScaledRows, proof: Numbers) -> Numbers | None:
    """Where rows of a proof give way least, as their multipliers have it, and all others hold with room."""
    share = np.abs(proof) / np.abs(proof).max(initial=np.finfo(float).tiny)
    gives = np.where(proof != 0.0, np.sign(proof) * np.minimum(share + _LEAST_SHARE, 1.0), 0.0)
    matrix = sparse.hstack([sparse.csr_array(rows.A), sparse.csr_array(-gives[:, None])])
    n = len(rows.columns)
    costs, low = np.append(np.zeros(n), 1.0), np.append(np.full(n, -np.inf), 0.0)
    lp = linear_program(costs, (low, np.inf), matrix, (rows.lower, rows.upper))
    found = optimum(lp, solver="ipm", run_crossover="off")
    return None if found is None else found.x[:n]
