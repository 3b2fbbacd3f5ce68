"""How well conditioned the matrix is that a method of constrained dynamics solves.

The condition number ‖A‖ ‖A⁻¹‖ bounds by what factor rounding grows (Golub & Van Loan 2013, section 2.6). Entries have
units, so unknowns are scaled to ones on the diagonal of M first, as the methods do. Redundant rows are left out.
"""

from __future__ import annotations

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from surefoot.dynamics.constrained_equations import ConstrainedEquations
from surefoot.dynamics.elimination_setup import ScaledEquations, scaled_equations

__all__ = ["condition_of"]

Array = NDArray[np.float64]


def condition_of(method: str, equations: ConstrainedEquations) -> float | None:
    """The condition number of the matrix that the method solves.

    None where it is not known (Pinocchio's), or where there are many small ones ("minimal").

    Args:
        method: Its name.
        equations: Of a state.
    """
    scaled = scaled_equations(equations)
    matrix = _matrix(method, scaled)
    return None if matrix is None else float(np.linalg.cond(matrix)) if matrix.size else 1.0


def _matrix(method: str, equations: ScaledEquations) -> Array | None:
    M, Q = equations.M, equations.Q
    match method:
        case "lagrange":
            return np.block([[M, -Q.T], [Q, np.zeros((len(Q), len(Q)))]])
        case "maggi_svd" | "maggi_qr":
            V = np.linalg.qr(Q.T, mode="complete")[0][:, len(Q) :]
            return V.T @ M @ V
        case "elimination":
            V = _eliminated(Q)
            return V.T @ M @ V
        case "aghili":
            held = Q.T @ Q
            return (np.eye(len(M)) - held) @ M + M @ held
        case "gauss" | "udwadia_kalaba":
            return Q @ np.linalg.inv(np.linalg.cholesky(M)).T
        case "range_space" | "recursive" | "iterative" | "auto":
            return Q @ np.linalg.solve(M, Q.T)
    return None


def _eliminated(Q: Array) -> Array:
    """(nv, nv - rank) motions in coordinates that are left, the others put in."""
    order = scipy.linalg.qr(Q, mode="r", pivoting=True)[1] if len(Q) else np.arange(Q.shape[1])
    dependent, free = order[: len(Q)], order[len(Q) :]
    V = np.zeros((Q.shape[1], len(free)))
    V[free], V[dependent] = np.eye(len(free)), -np.linalg.solve(Q[:, dependent], Q[:, free])
    return V
