"""Factors without pivoting, for numbers and symbols: of tall matrices by reflections, and of positive definite ones.

    A = [Y Z] (R; 0)        [dyn.qr]   Householder 1958; Golub & Van Loan 2013, section 5.2

The side to which a column is reflected depends on a sign, and with it signs in R, Y and Z; what is computed with them
does not change when it flips, so that results are as smooth as A where A has full column rank.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra.cholesky import factor_full, solve
from surefoot.ops import Array


class OrthogonalFactors(NamedTuple):
    """A = Y R: orthonormal Y (n, m), upper triangular R (m, m); orthonormal Z (n, n - m) with Zᵀ A = 0."""

    Y: Array
    Z: Array
    R: Array


def orthogonal_factors(A: Array) -> OrthogonalFactors:
    """The factors of a matrix A (n, m), n >= m, with full column rank.   [dyn.qr]."""
    n, m = A.shape
    if not ops.is_symbolic(A):
        Q, full = np.linalg.qr(A, mode="complete")
        return OrthogonalFactors(Q[:, :m], Q[:, m:], full[:m])
    Q, R = ops.eye(n, like=A), A.copy()
    for k in range(m):
        u, scale = _reflection(R[k:, k])
        R[k:] = R[k:] - np.multiply.outer(u, scale * (u @ R[k:]))
        Q[:, k:] = Q[:, k:] - np.multiply.outer(Q[:, k:] @ u, scale * u)
    return OrthogonalFactors(Q[:, :m], Q[:, m:], np.triu(R[:m]))


def solve_positive(A: Array, right: Array) -> Array:
    """A⁻¹ right (n,) or (n, k), A symmetric positive definite; exact zeros cost nothing if traced.   [dyn.cholesky]."""
    if not ops.is_symbolic(A, right):
        return np.linalg.solve(A, right)
    return solve(factor_full(A), right)


def solve_upper(R: Array, right: Array) -> Array:
    """R⁻¹ right (n,) for an upper triangular matrix R (n, n)."""
    x = ops.zeros(np.shape(right), like=[R, right]) + right
    for k in reversed(range(len(x))):
        rest = R[k, k + 1 :] @ x[k + 1 :] if k + 1 < len(x) else 0.0
        x[k] = (x[k] - rest) / R[k, k]
    return x


def solve_lower(L: Array, right: Array) -> Array:
    """L⁻¹ right (n,) for a lower triangular matrix L (n, n)."""
    return solve_upper(L[::-1, ::-1], right[::-1])[::-1]


def _reflection(x: Array) -> tuple[Array, Array]:
    """Vector u and 2/uᵀu of the reflection E - (2/uᵀu) u uᵀ that turns x into (∓|x|, 0, …)."""
    length = ops.sqrt(x @ x)
    u = x.copy()
    u[0] = x[0] + ops.where(ops.less(x[0], 0.0), -length, length)
    return u, 1.0 / (length * (length + ops.absolute(x[0])))
