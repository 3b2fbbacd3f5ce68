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

from surefoot.arrays import Array
from surefoot.errors import SurefootError
from surefoot.solvers.explain.groups import ScaledRows
from surefoot.solvers.explain.interior import is_large, solve_elastic
from surefoot.solvers.explain.model import INFEASIBLE, OPTIMAL, Model, outside

_FAR = 1e6  # multipliers prove that no x within this many times the typical size of x will do
_POLISHES = 6


class UnsolvedError(SurefootError):
    """No method of HiGHS comes to an end, or rounding leaves it open what holds."""

    def __init__(self, what: str) -> None:
        remedy = "give numbers of similar size, shorter spans of unstable motions, or a wider tolerance"
        super().__init__(what, next_step=remedy)


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


class Program:
    """Judges subsets of rows, with some groups relaxed, and remembers proofs.

    Args:
        rows: The rows of all groups, with ends that are wider by the tolerance.
        tolerance: That tolerance.
        rigid: (rows,) which may not give way; large programs have them as they are, and violate others at a price.

    Attributes:
        proofs: Every one so far.
        is_large: Whether the interior point answers.
    """

    def __init__(self, rows: ScaledRows, tolerance: float, rigid: NDArray[np.bool_] | None = None) -> None:
        self.rows, self.tolerance, self.is_large = rows, tolerance, is_large(rows.A, tolerance)
        self._soft = np.ones(len(rows.upper), dtype=bool) if rigid is None else ~rigid
        self._nearest: Array | None = None
        self.proofs: list[Proof] = []
        self._matrix, n = sparse.csr_array(rows.A), len(rows.columns)
        self._transposed = self._matrix.T.tocsr()
        self._zero = np.diff(self._matrix.indptr) == 0
        ends, free = (rows.lower, rows.upper), np.full(n, -np.inf)
        self._model = Model(self._matrix, ends, np.zeros(n), free, 0.1 * tolerance)

    def judge(self, kept: NDArray[np.bool_] | None = None, amounts: Array | None = None) -> Array | Proof:
        """A point (n,) at which rows hold together, or the proof that there is none.

        Args:
            kept: (rows,) which of them; all if omitted.
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
        if self.is_large:
            return self._judge_by_interior(lower, upper)
        model.set_ends(lower, upper)
        if (y := self._of_zeros(lower, upper)).any():
            return self.learn(y)
        for status in model.attempts():
            if status == OPTIMAL:
                return model.x
            if status == INFEASIBLE and self._proves(y := model.ray, lower, upper):
                return self.learn(y)
        raise UnsolvedError("rounding leaves it open whether groups can hold together")

    def _judge_by_interior(self, lower: Array, upper: Array) -> Array | Proof:
        """The same for a large program."""
        found = solve_elastic(self._matrix, (lower, upper), self._soft)
        if found is not None:
            if self._nearest is None:
                self._nearest = found.x
            if self.keeps(found.x, lower, upper):
                return found.x
            if self._proves(found.multipliers, lower, upper):
                return self.learn(found.multipliers)
        raise UnsolvedError("rounding leaves it open whether groups can hold together")

    def keeps(self, x: Array, lower: Array, upper: Array) -> bool:
        """Whether a point x (n,) keeps rows with these ends (rows,) within the tolerance."""
        return bool(np.abs(outside(self._matrix @ x, lower, upper)).max(initial=0.0) <= self.tolerance)

    def learn(self, y: Array) -> Proof:
        """Remember a proof by its multipliers y (rows,)."""
        rows = self.rows
        asked = np.zeros(rows.groups)
        np.add.at(asked, rows.group, np.abs(y) * rows.measure)
        self.proofs.append(Proof(y, _gap(y, rows.lower, rows.upper), asked))
        return self.proofs[-1]

    def _of_zeros(self, lower: Array, upper: Array) -> Array:
        """(rows,) multipliers that name rows of zeros whose ends exclude zero most, if there are some; else zeros."""
        beyond = np.where(self._zero, outside(np.zeros(len(upper)), lower, upper), 0.0)
        worst = np.abs(beyond).max(initial=0.0)
        return np.where((np.abs(beyond) == worst) & (worst > 0.0), np.sign(beyond), 0.0)

    def _proves(self, y: Array, lower: Array, upper: Array) -> bool:
        """Whether multipliers leave no x, however far."""
        return bool(np.abs(self._transposed @ y).sum() * _FAR < _gap(y, lower, upper))

    def polish(self, proof: Array) -> Array:
        """Multipliers (rows,) of the same groups whose rows add up to nothing to the last digits, if there are some.

        Those that polishing would turn round are rounding, and are omitted.
        """
        at, group = np.flatnonzero(proof), self.rows.group
        for _ in range(_POLISHES):
            y = _without_rest(self._matrix[at], proof[at])
            right = y * proof[at] > 0.0
            if right.all():
                out = np.zeros_like(proof)
                out[at] = y / np.abs(y).max(initial=0.0)
                same = np.isin(group[proof != 0.0], group[at]).all()
                return out if same and self._proves(out, self.rows.lower, self.rows.upper) else proof
            at = at[right]
        return proof

    def find_nearest(self) -> Array:
        """The point (n,) with about the least sum of squares of what is violated; of large programs, of amounts."""
        if self._nearest is not None:
            return self._nearest
        from scipy.optimize import minimize  # slow to import, and seldom needed

        def squares(x: Array) -> tuple[float, Array]:
            beyond = outside(self._matrix @ x, self.rows.lower, self.rows.upper)
            return 0.5 * float(beyond @ beyond), self._transposed @ beyond

        return np.asarray(minimize(squares, np.zeros(len(self.rows.columns)), jac=True, method="L-BFGS-B").x)


def _gap(y: Array, lower: Array, upper: Array) -> float:
    """By how much ends that multipliers name fail to add up to something; −inf if there is no such end."""
    at = np.flatnonzero(y)
    return -float(y[at] @ np.where(y[at] > 0.0, upper[at], lower[at])) if len(at) else 0.0


def _without_rest(rows: Any, y: Array) -> Array:
    """The y nearest to another one with rowsᵀ y = 0: [1 rows; rowsᵀ −tiny] [change; ·] = [0; −rowsᵀ y]."""
    from scipy.sparse.linalg import splu  # slow to import, and seldom needed

    k, n = rows.shape
    system = sparse.block_array([[sparse.eye_array(k), rows], [rows.T, -1e-13 * sparse.eye_array(n)]])
    factor = splu(sparse.csc_array(system))
    for _ in range(2):
        y = y + factor.solve(np.concatenate([np.zeros(k), -(rows.T @ y)]))[:k]
    return y
