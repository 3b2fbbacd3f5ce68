"""One step of damped least squares inside joint limits, branch-free over `ops`.

    (J F Jᵀ + λ I) y = r + J F z,    u = F (Jᵀ y − z),    λ = s ½ rᵀr + c |r| + λ₀        [ik.damped]

r are the weighted errors that are left, J their Jacobian. The damping λ falls with the squared error (Sugihara 2011):
large steps far from the target do not run away, and the last ones are those of Newton. Where no solution exists, errors
stay, and with them what Gauss and Newton leave out of the second derivative, of the size of |r|: caution c makes up for
it (c = 0 where a solution is looked for). z is the gradient of what is
wanted besides; it acts in the null space (Liégeois 1977, in the form without pseudoinverse: Buschmann 2014, Alg. 10
with erratum). F takes out the joints that stand at a limit and would go on: projected Newton steps (Bertsekas 1982).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.ops import Array

__all__ = ["DAMPING", "damped_step", "free_columns", "steepest_descent"]

DAMPING = (0.05, 1e-8)
"""Factor s of the squared error, and the damping λ₀ that stays."""
_AT_LIMIT = 1e-9  # [rad] or [m]


def damped_step(r: Array, J: Array, free: Array, z: Array | None = None, caution: Any = 0.0) -> Array:
    """The step u (k,).

    Args:
        r: (m,) weighted errors.
        J: (m, k) weighted Jacobian.
        free: (k,) 1 for what may move, 0 for what stands at a limit.
        z: (k,) gradient of what is wanted besides.
        caution: c, for what has no solution.
    """
    square = r @ r
    damping = DAMPING[0] * 0.5 * square + caution * ops.sqrt(square) + DAMPING[1]
    JF = J * free
    right = r if z is None else r + JF @ z
    u = _dual(J, JF, right, damping) if len(r) <= J.shape[1] else _primal(JF, right, damping)
    return u if z is None else u - free * z


def _dual(J: Array, JF: Array, right: Array, damping: Any) -> Array:
    A = _lower(JF, J)
    for k in range(len(A)):
        A[k, k] = A[k, k] + damping
    return JF.T @ ops.solve_symmetric(A, right)


def _primal(JF: Array, right: Array, damping: Any) -> Array:
    A = _lower(JF.T, JF.T)
    for k in range(len(A)):
        A[k, k] = A[k, k] + damping
    return ops.solve_symmetric(A, JF.T @ right)


def _lower(X: Array, Y: Array) -> Array:
    """X Yᵀ of which only the lower triangle is computed, as symmetric matrices need; all of it for numbers."""
    if not ops.is_symbolic(X, Y):
        return X @ Y.T
    out = ops.zeros((len(X), len(X)), like=X)
    for i in range(len(X)):
        for j in range(i + 1):
            out[i, j] = X[i] @ Y[j]
    return out


def free_columns(q: Array, lower: Array, upper: Array, descent: Array) -> Array:
    """1 for joints that may follow a direction (k,), 0 for those at the limit that it leads beyond.

    Args:
        q: (k,) positions.
        lower: (k,) limits, −inf for none.
        upper: (k,) limits, inf for none.
        descent: (k,) direction of steepest descent.
    """
    out = []
    for x, low, high, go in zip(q, lower, upper, descent, strict=True):
        free: Any = 1.0
        if np.isfinite(low):
            free = ops.where(x < low + _AT_LIMIT, ops.where(go < 0.0, 0.0, 1.0), free)
        if np.isfinite(high):
            free = ops.where(x > high - _AT_LIMIT, ops.where(go > 0.0, 0.0, free), free)
        out.append(free)
    return ops.array(out)


def steepest_descent(r: Array, J: Array) -> Array:
    """The gradient z (k,): minus the step along it that minimises ½|r − J u|².   Cauchy 1847.

    Args:
        r: (m,) weighted errors.
        J: (m, k) weighted Jacobian.
    """
    g = J.T @ r
    along = J @ g
    return -((g @ g) / ((along @ along) + 1e-12)) * g
