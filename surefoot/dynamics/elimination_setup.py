"""Equations of constrained motion in well-scaled unknowns: what every method of elimination starts from.

With D² the diagonal of M, accelerations D a and forces D⁻¹ f have one unit, and D⁻¹ M D⁻¹ has ones on its diagonal:
its condition is near the best that scaling can reach (van der Sluis 1969). Methods that need independent rows take
the orthonormal ones of J D⁻¹ = K Q; methods that take any rows get K Q and its rank.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from surefoot.arrays import Array
from surefoot.dynamics.constrained_equations import ConstrainedEquations
from surefoot.dynamics.constraint_rank import RowBasis, row_basis
from surefoot.errors import ModelError

__all__ = ["ScaledEquations", "factored", "no_inertia", "scaled_equations", "solved"]


@dataclass(frozen=True, eq=False)
class ScaledEquations:
    """M a = force + Jᵀ λ, J a + drift = 0 in scaled unknowns; also as Q a + along = 0 with independent rows.

    Args:
        M: (nv, nv) with ones on its diagonal.
        force: (nv,).
        J: (m, nv).
        drift: (m,).
        basis: Of the rows of J.
        along: (rank,) drift in the directions of the basis.
        scale: (nv,) D.
    """

    M: Array
    force: Array
    J: Array
    drift: Array
    basis: RowBasis
    along: Array
    scale: Array

    @property
    def Q(self) -> Array:
        """(rank, nv) orthonormal rows."""
        return self.basis.Q

    @property
    def rank(self) -> int:
        """Of J."""
        return self.basis.rank


def scaled_equations(equations: ConstrainedEquations) -> ScaledEquations:
    """The same equations in scaled unknowns (numbers).

    Args:
        equations: M, force, J and drift.
    """
    M, force, J, drift = (np.asarray(part, dtype=float) for part in equations)
    diagonal = np.diag(M)
    scale = np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    rows = row_basis(J)
    basis = rows.mapped(rows.Q / scale)
    scaled = M / np.outer(scale, scale), force / scale, basis.K @ basis.Q
    return ScaledEquations(*scaled, drift, basis, basis.along(drift), scale)


def factored(M: Array) -> Array:
    """L (n, n), lower triangular, with M = L Lᵀ.

    Raises:
        ModelError: M is not positive definite.
    """
    try:
        L = np.asarray(np.linalg.cholesky(M), dtype=float)
    except np.linalg.LinAlgError:
        raise no_inertia() from None
    if L.size and np.diag(L).min() ** 2 <= _LOST_PIVOT * np.diag(M).max():
        raise no_inertia()
    return L


def solved(A: Array, right: Array) -> Array:
    """X in A x = right.

    Raises:
        ModelError: A is singular.
    """
    if not A.size:
        return np.zeros_like(right)
    pivots = np.abs(np.diag(lapack.dgetrf(A)[0]))
    if pivots.min() <= _LOST_PIVOT * pivots.max():
        raise no_inertia()
    return np.asarray(np.linalg.solve(A, right))  # dgetrs of many right sides wakes threads, which takes milliseconds


_LOST_PIVOT = 1e-13


def no_inertia() -> ModelError:
    """The error for motions without inertia."""
    return ModelError(
        "the mass matrix is not positive definite where the method needs it, so that forces do not determine "
        "accelerations",
        next_step="give all links a mass and an inertia, or the joints an armature",
    )
