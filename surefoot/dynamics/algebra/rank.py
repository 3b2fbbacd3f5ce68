"""Independent rows of a constraint Jacobian, in their order, and multipliers of redundant ones.

    J = K Q,    Q Qᵀ = E        [dyn.constraint-rank]

Rows are taken one after the other and made orthogonal to those before them (Gram & Schmidt, twice; Giraud, Langou &
Rozložník 2005). A row of which nothing is left depends on those before it. Its multiplier can be chosen freely; the
constraint force Jᵀ λ = Qᵀ μ cannot, and the least λ with Kᵀ λ = μ is given.

What counts as nothing is far above rounding: forces along what is left are lost to rounding first, and rows that depend
on others where loops are closed do so only nearly where loops are open by what integration leaves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array

_DEPENDENT = 1e-7  # what is left of a row that depends on others, as a share of its length
_LOST_RANK = 1e-10  # of the largest singular value, where only their number matters
_NOTHING = 1e-12  # length of a row that is all rounding, as a share of the longest


@dataclass(frozen=True, eq=False)
class RowBasis:
    """J = K Q with orthonormal rows of Q.

    Args:
        Q: (rank, nv) orthonormal directions in which motion is held.
        K: (m, rank) the rows of J in these directions.
        independent: Indices of the rows that do not depend on those before them.
    """

    Q: Array
    K: Array
    independent: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Number of independent rows."""
        return len(self.independent)

    @property
    def redundant(self) -> tuple[int, ...]:
        """Indices of the rows that depend on those before them."""
        return tuple(k for k in range(len(self.K)) if k not in self.independent)

    @cached_property
    def _factors(self) -> tuple[Array, Array]:
        """U (m, rank), orthonormal, and T (rank, rank), triangular: K = U T."""
        U, T = np.linalg.qr(self.K)
        return U, T

    def mapped(self, Q: Array) -> RowBasis:
        """The same rows in other coordinates, K Q', from independent directions Q (rank, n) there, of any length."""
        directions, R = np.linalg.qr(Q.T)
        return RowBasis(directions.T, self.K @ R.T, self.independent)

    def along(self, right: Array) -> Array:
        """X (rank,) with K x = right (m,), or as near as rows that contradict each other allow."""
        U, T = self._factors
        return np.asarray(np.linalg.solve(T, U.T @ right), dtype=float)

    def disagreement(self, right: Array) -> Array:
        """The part of the right side (m,) that no x with K x = right meets."""
        U, _ = self._factors
        return right - U @ (U.T @ right)

    def multipliers(self, mu: Array) -> Array:
        """The least λ (m,) with Jᵀ λ = Qᵀ μ, for forces μ (rank,) along Q."""
        U, T = self._factors
        return U @ np.linalg.solve(T.T, mu)


def row_basis(J: ArrayLike) -> RowBasis:
    """The independent rows of a matrix J (m, nv), in their order (numbers)."""
    J = np.asarray(J, dtype=float)
    lengths = np.linalg.norm(J, axis=1)
    least = np.maximum(_DEPENDENT * lengths, _NOTHING * lengths.max(initial=0.0))
    basis = np.zeros((0, J.shape[1]))
    independent: list[int] = []
    for k, row in enumerate(J):
        left = row - (basis @ row) @ basis
        left = left - (basis @ left) @ basis
        length = np.linalg.norm(left)
        if length > least[k]:
            basis = np.vstack([basis, left / length])
            independent.append(k)
    return RowBasis(basis, J @ basis.T, tuple(independent))


def contradictions(J: ArrayLike, right: ArrayLike, rows: Sequence[str], tolerance: float = 1e-6) -> dict[str, float]:
    """By how much rows of J x = right contradict each other, by name; empty where some x meets all (numbers).

    Args:
        J: (m, nv).
        right: (m,).
        rows: m names.
        tolerance: Differences up to this share of the largest entry of `right`, or of 1 if larger, are rounding.
    """
    right = np.asarray(right, dtype=float)
    wrong = row_basis(J).disagreement(right)
    largest = float(np.abs(wrong).max(initial=0.0))
    if largest <= tolerance * max(1.0, float(np.abs(right).max(initial=0.0))):
        return {}
    return {name: float(value) for name, value in zip(rows, wrong, strict=True) if abs(value) > 1e-3 * largest}


def null_basis(A: ArrayLike, size: float = 0.0) -> Array:
    """Orthonormal basis (n, n - rank) of what A (m, n) maps to zero; `size` as in `rank_of` (numbers)."""
    A = np.asarray(A, dtype=float)
    return np.linalg.svd(A)[2][rank_of(A, size) :].T if A.size else np.eye(A.shape[1])


def rank_of(A: ArrayLike, size: float = 0.0) -> int:
    """Rank of a matrix: singular values above 1e-10 of the largest (numbers).

    Args:
        A: (m, n).
        size: Largest singular value of a matrix that A is a part of, so that a part that is all rounding has rank 0.
    """
    values = np.linalg.svd(np.asarray(A, dtype=float), compute_uv=False)
    return int(np.sum(values > _LOST_RANK * max(values[0], size))) if values.size else 0


def size_of(A: ArrayLike) -> float:
    """Largest singular value of a matrix; 0 for an empty one (numbers)."""
    return float(np.linalg.svd(np.asarray(A, dtype=float), compute_uv=False).max(initial=0.0))
