"""Which rows can hold together: HiGHS searches, and what it finds is checked here, in floating point.

    lower ≤ A x ≤ upper                                                                     [explain.rows]
    0 = yᵀ A x ≤ Σ_{y>0} y upper + Σ_{y<0} y lower < 0                                      [explain.farkas]

A point that keeps all rows shows that they can hold together; multipliers y with the second line show that they
cannot (Farkas 1902).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse.linalg import splu

from surefoot.arrays import Array
from surefoot.errors import SurefootError
from surefoot.solvers.explain.groups import ScaledRows
from surefoot.solvers.explain.model import Model, Status, outside

__all__ = ["Program", "Proof", "UnsolvedError", "Verdict"]

_FAR = 1e6  # multipliers prove that no x within this many times the typical size of x will do
_POLISHES = 6
_NEXT = "give numbers of similar size, shorter spans of unstable motions, or a wider tolerance"


class UnsolvedError(SurefootError):
    """No method of HiGHS comes to an end, or rounding leaves it open what holds."""

    def __init__(self, what: str) -> None:
        super().__init__(what, next_step=_NEXT)


class Proof(NamedTuple):
    """Why rows cannot hold together.

    Args:
        multipliers: (rows,) positive at upper ends, negative at lower ones.
        gap: By how much ends as they are in the rows fail to add up to something.
        asked: (groups,) by how much the gap shrinks with one unit of relaxation of each group.
    """

    multipliers: Array
    gap: float
    asked: Array


class Verdict(NamedTuple):
    """Whether rows can hold together: a point (n,) that keeps them, or a proof that there is none."""

    x: Array | None
    proof: Proof | None = None


class Program:
    """Judges subsets of rows, with some groups relaxed, and remembers proofs.

    Args:
        rows: The rows of all groups, with ends that are wider by the tolerance.
        tolerance: That tolerance.

    Attributes:
        proofs: Every one so far.
    """

    def __init__(self, rows: ScaledRows, tolerance: float) -> None:
        self.rows, self.tolerance = rows, tolerance
        self.proofs: list[Proof] = []
        self._matrix, n = sparse.csr_array(rows.A), len(rows.columns)
        self._transposed = self._matrix.T.tocsr()
        ends, free = (rows.lower, rows.upper), np.full(n, -np.inf)
        self._model = Model(self._matrix, ends, np.zeros(n), free, 0.1 * tolerance, lazy=not sparse.issparse(rows.A))

    def judge(self, kept: NDArray[np.bool_] | None = None, amounts: Array | None = None) -> Verdict:
        """Whether rows can hold together.

        Args:
            kept: (rows,) which of them; by default all.
            amounts: (groups,) how far groups are relaxed, in their units; rows then have a little more room, so that
                the least amount that helps does help.

        Raises:
            UnsolvedError: Rounding leaves it open.
        """
        rows, model = self.rows, self._model
        room = 0.0 if amounts is None else amounts[rows.group] * rows.measure + 0.1 * self.tolerance
        lower, upper = rows.lower - room, rows.upper + room
        if kept is not None:
            lower, upper = np.where(kept, lower, -np.inf), np.where(kept, upper, np.inf)
        model.set_ends(lower, upper)
        for status in model.attempts():
            if status == Status.kOptimal:
                return Verdict(model.x)
            if status == Status.kInfeasible and self._proves(y := model.ray):
                asked = np.bincount(rows.group, np.abs(y) * rows.measure, minlength=rows.groups).astype(float)
                self.proofs.append(Proof(y, _gap(y, rows.lower, rows.upper), asked))
                return Verdict(None, self.proofs[-1])
        raise UnsolvedError("rounding leaves it open whether groups can hold together")

    def _proves(self, y: Array) -> bool:
        """Whether multipliers leave no x, however far."""
        return bool(np.abs(self._transposed @ y).sum() * _FAR < _gap(y, *self._model.ends))

    def polish(self, proof: Array) -> Array:
        """Multipliers (rows,) of the same groups whose rows add up to nothing to the last digits, if there are some.

        Those that polishing would turn round are rounding, and are omitted.

        Args:
            proof: (rows,) multipliers.
        """
        at, group = np.flatnonzero(proof), self.rows.group
        for _ in range(_POLISHES):
            y = _without_rest(self._matrix[at], proof[at])
            right = y * proof[at] > 0.0
            if right.all():
                break
            at = at[right]
        if not right.all() or not np.isin(group[proof != 0.0], group[at]).all():
            return proof
        out = np.zeros_like(proof)
        out[at] = y / np.abs(y).max(initial=0.0)
        return out

    def find_nearest(self) -> Array:
        """The point (n,) with about the least sum of squares of what is violated."""

        def squares(x: Array) -> tuple[float, Array]:
            beyond = outside(self._matrix @ x, self.rows.lower, self.rows.upper)
            return 0.5 * float(beyond @ beyond), self._transposed @ beyond

        return np.asarray(minimize(squares, np.zeros(len(self.rows.columns)), jac=True, method="L-BFGS-B").x)


def _gap(y: Array, lower: Array, upper: Array) -> float:
    """By how much the ends that multipliers name fail to add up; −inf if they name an end that is not there."""
    at = np.flatnonzero(y)
    return -float(y[at] @ np.where(y[at] > 0.0, upper[at], lower[at])) if len(at) else 0.0


def _without_rest(rows: Any, y: Array) -> Array:
    """The y nearest to another one with rowsᵀ y = 0: [1 rows; rowsᵀ −tiny] [change; ·] = [0; −rowsᵀ y]."""
    k, n = rows.shape
    system = sparse.block_array([[sparse.eye_array(k), rows], [rows.T, -1e-13 * sparse.eye_array(n)]])
    factor = splu(sparse.csc_array(system))
    for _ in range(2):
        y = y + factor.solve(np.concatenate([np.zeros(k), -(rows.T @ y)]))[:k]
    return y
