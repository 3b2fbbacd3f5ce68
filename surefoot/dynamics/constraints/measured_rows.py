"""Rows of a constraint Jacobian, measured by the mass matrix: what impulses along them do to the energy.

With M = C Cᵀ and w = Cᵀ v the kinetic energy is ½ wᵀ w, and impulses Λ along the rows of J move w by

    y = B Λ,    B = C⁻¹ Jᵀ        [dyn.impact]

so that what is orthogonal for the energy is orthogonal in the ordinary sense.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis, row_basis
from surefoot.errors import ModelError

_NO_INERTIA = 1e-12  # share of an inertia that others leave of it


def energy_factor(M: Array) -> Array:
    """C (nv, nv), lower triangular, with M = C Cᵀ; ModelError if M is not positive definite."""
    try:
        C = np.asarray(np.linalg.cholesky(M), dtype=float)
    except np.linalg.LinAlgError:
        raise _no_inertia(M) from None
    if (np.diag(C) ** 2 <= _NO_INERTIA * np.diag(M)).any():
        raise _no_inertia(M)
    return C


def _no_inertia(M: Array) -> ModelError:
    return ModelError(
        "the mass matrix is not positive definite: an impulse would move something without mass",
        evidence={"smallest eigenvalue": float(np.linalg.eigvalsh(M)[0])},
        next_step="`surefoot check` names the joints that move no inertia",
    )


def measured_rows(C: Array, J: Array) -> RowBasis:
    """The rows of J (m, nv) in the coordinates w: those of Bᵀ, with C of `energy_factor`."""
    rows = row_basis(J)
    return rows.mapped(np.asarray(np.linalg.solve(C, rows.Q.T).T, dtype=float))


def shortest_step(rows: RowBasis, change: Array) -> Array:
    """The shortest y (nv,) that changes J v by `change` (m,), or as near to it as rows that contradict allow."""
    return np.asarray(rows.along(change) @ rows.Q)


def impulses_of(rows: RowBasis, y: Array) -> Array:
    """Λ (m,) with B Λ = y, for y (nv,) in the span of the rows; the least of all where it is not unique."""
    return rows.multipliers(rows.Q @ y)


def outside(rows: RowBasis, y: Array) -> Array:
    """The part of y (nv,) that moves no row: what the rows leave free."""
    left = y - (rows.Q @ y) @ rows.Q
    return np.asarray(left - (rows.Q @ left) @ rows.Q)
