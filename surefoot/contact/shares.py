"""Shares of generators for many samples at once: attained to rounding, or proven not to be attainable."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import lsq_linear

from surefoot.contact.share_search import SHARE_SEARCH

__all__ = ["Shares", "shares_for"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
_SOFTNESS = np.r_[np.full(3, 1e-5), np.logspace(-6, -12, 7), np.full(6, 1e-12)]  # δ of each round
_ATTAINED, _STEPS = 1e-9, 60
_LARGEST = 1e3  # bounds hold for shares up to so many times what is needed
_LIKING = 1e-7  # weight of the middle of a box against the squares of the shares


class Shares(NamedTuple):
    """Shares λ ≥ 0 of k generators that bring A λ into a box of r rows, or nearest to it.

    Args:
        shares: (n, k).
        missing: (n, r): s − A λ for the nearest s of the box.
        bound: (n,) lower bound on |s − A λ| for all λ ≥ 0, proven by the direction of `missing`; 0 where attained.
        attained: (n,) whether |missing| is zero to 1e-9 of the numbers of the box.
    """

    shares: Array
    missing: Array
    bound: Array
    attained: Flags


def shares_for(A: Array, use: Flags, lower: Array, upper: Array) -> Shares:
    """The least shares with lower ≤ A λ ≤ upper, or those with the least violation.

    [contact.shares]   Samples that the search leaves undecided are solved
    one by one with bounded least squares (Stark and Parker 1995).

    Args:
        A: (n, r, k) generators in columns.
        use: (n, k) which of them count.
        lower: (n, r).
        upper: (n, r); equal to lower for equations.
    """
    unit = float(np.sqrt(np.mean(A * A) * A.shape[1])) if A.size else 1.0  # a typical length of a generator
    unit = unit if unit > 0.0 else 1.0
    scale = np.abs(np.clip(0.0, lower, upper)).max(axis=1, initial=0.0)
    found = _searched(A / unit, use, lower, upper, scale, 1.0 / (_LIKING * unit**2))
    attained = found.state == 1
    shares, missing, bound = found.shares / unit, found.missing, np.where(attained, 0.0, found.bound)
    for k in np.flatnonzero(found.state == 0):
        shares[k], missing[k] = _one_by_one(A[k], use[k], lower[k], upper[k])
        attained[k] = np.linalg.norm(missing[k]) <= _ATTAINED * scale[k]
        bound[k] = 0.0 if attained[k] else max(_bound(A[k], use[k], lower[k], upper[k], missing[k]), bound[k])
    return Shares(shares, missing, bound, attained)


class _Found(NamedTuple):
    shares: Array
    missing: Array
    bound: Array
    state: NDArray[np.int64]


def _searched(A: Array, use: Flags, lower: Array, upper: Array, scale: Array, give: float) -> _Found:
    """The compiled search; the arrays that it works in are made here."""
    n, rows, columns = A.shape
    out = _Found(np.zeros((n, columns)), np.zeros((n, rows)), np.zeros(n), np.zeros(n, dtype=np.int64))
    if not n:
        return out
    middle = np.where(np.isfinite(lower) & np.isfinite(upper), 0.5 * (lower + upper), np.clip(0.0, lower, upper))
    given = [np.ascontiguousarray(x, dtype=float) for x in (lower, upper, middle, np.full(rows, give), scale)]
    A, counts = np.ascontiguousarray(A), np.ascontiguousarray(use, dtype=np.int64)
    work = [
        np.zeros(max(size, 1)) for size in (rows, rows, rows, columns, rows, rows * rows, rows * columns, rows, columns)
    ]
    SHARE_SEARCH["find_shares"](
        A.ctypes.data, counts.ctypes.data, n, rows, columns, *(x.ctypes.data for x in given),
        *(x.ctypes.data for x in work), _SOFTNESS.ctypes.data, len(_SOFTNESS), _ATTAINED, _STEPS, _LARGEST,
        *(x.ctypes.data for x in out),
    )  # fmt: skip
    return out


def _one_by_one(A: Array, use: Flags, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Shares (k,) and missing (r,) of one sample: min |A λ − s| over λ ≥ 0 and s in its box."""
    equal = lower == upper
    middle = np.where(equal, lower, 0.0)
    slack = np.eye(len(A))[:, ~equal]
    columns = np.hstack([A[:, use], -slack])
    low, high = np.r_[np.zeros(use.sum()), lower[~equal]], np.r_[np.full(use.sum(), np.inf), upper[~equal]]
    shares, s = np.zeros(A.shape[1]), np.array(middle)
    if columns.shape[1]:
        x = lsq_linear(columns, middle, (low, high), method="bvls", tol=1e-14, max_iter=50 * columns.shape[1]).x
        shares[use] = np.maximum(x[: use.sum()], 0.0)
    s = np.where(equal, lower, np.clip(A @ shares, lower, upper))
    return shares, s - A @ shares


def _bound(A: Array, use: Flags, lower: Array, upper: Array, missing: Array) -> float:
    """The lower bound of one sample; see `share_search.bound_of`."""
    size = float(np.linalg.norm(missing))
    lengths = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    worst = np.max((A.T @ missing / lengths)[use], initial=0.0)
    matters, ends = np.abs(missing) > 1e-12 * size, np.where(missing > 0.0, lower, upper)
    most = _LARGEST * float(np.abs(np.clip(0.0, lower, upper)).max())
    return max((float(missing[matters] @ ends[matters]) - worst * most) / size, 0.0)
