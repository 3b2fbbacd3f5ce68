"""Least squares for numbers and symbols: by reflections, with exact zeros left alone.

    |A X - right| → min        [dyn.qr]   Householder 1958; Golub & Van Loan 2013, section 5.3.2

A reflection takes only rows in which its column has an entry that is not exactly zero, and columns with few such rows
go first: in Jacobians of several loops, joints of one loop before those that they share, so that little fills up.
There is no pivoting on values, and none is needed while A has full column rank. Where it has not, the result is not
finite: of a column that depends on others nothing is left to divide by.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.dynamics.block_inertia import is_exactly
from surefoot.ops import Array

__all__ = ["structured_least_squares"]

_NOTHING = 1e-8  # of the size of A


def structured_least_squares(A: Array, right: Array) -> Array:
    """X (n, k).   [dyn.qr].

    Args:
        A: (m, n), m >= n, of full column rank.
        right: (m, k).
    """
    if not ops.is_symbolic(A, right):
        found, _, _, values = np.linalg.lstsq(A, right, rcond=None)
        return found if not values.size or values[-1] > _NOTHING * values[0] else np.full_like(found, np.nan)
    n = A.shape[1]
    order = sorted(range(n), key=lambda j: len(_live(A[:, j])))
    work = ops.concatenate([A[:, order], right], axis=1).astype(object)
    least = _NOTHING**2 * (A.ravel() @ A.ravel())
    for k in range(n):
        _reflect(work, k)
        work[k, k] = ops.where(ops.less(least, work[k, k] * work[k, k]), work[k, k], 0.0)
    X = ops.zeros((n, right.shape[1]), like=work)
    X[order] = _back_substituted(work, n)
    return X


def _live(column: Array) -> list[int]:
    """Rows that are not known to be zero."""
    return [i for i, entry in enumerate(column) if not is_exactly(entry, 0.0)]


def _reflect(work: Array, k: int) -> None:
    """Turn column k, from row k on, into one entry."""
    live = [k + i for i in _live(work[k:, k])]
    if k not in live:
        work[[k, live[0]]] = work[[live[0], k]]
        live[0] = k
    if len(live) == 1:
        return
    x = work[live, k]
    length = ops.sqrt(x @ x)
    side = ops.where(ops.less(x[0], 0.0), -length, length)
    u = ops.concatenate([[x[0] + side], x[1:]])
    scale = 1.0 / (length * (length + ops.absolute(x[0])))
    work[live, k] = 0.0
    work[k, k] = -side
    for j in range(k + 1, work.shape[1]):
        column = work[live, j]
        if _live(column):
            work[live, j] = column - u * (scale * (u @ column))


def _back_substituted(work: Array, n: int) -> Array:
    """R⁻¹ times what stands right of R."""
    X: list[Any] = [None] * n
    for k in reversed(range(n)):
        row = work[k, n:]
        for j in range(k + 1, n):
            row = row - work[k, j] * X[j]
        X[k] = row * (1.0 / work[k, k])
    return ops.stack(X)
