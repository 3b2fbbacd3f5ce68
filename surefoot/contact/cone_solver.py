"""Forces within cones that carry a load as well as such forces can.

`shares_for`: generators with shares ≥ 0, many samples at once; attained to rounding, or proven not to be attainable.
`ConeForces`: forces at points in friction cones, one problem after another, as a controller needs it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.contact.cone_search import FORCE_SEARCH, SHARE_SEARCH
from surefoot.errors import ShapeError

Flags = NDArray[np.bool_]
_SOFTNESS = np.r_[np.full(3, 1e-5), np.logspace(-6, -12, 7), np.full(6, 1e-12)]  # δ of each round
_ATTAINED, _STEPS = 1e-9, 60
_EXACT, _FORCE_STEPS = 1e-9, 200  # what may be left of the optimality conditions, as a share of the load
_LARGEST = 1e3  # bounds hold for shares up to so many times what is needed
_ON_CONE = 1e-9  # distance from a cone that counts as on it, as a share of the largest force
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
        np.zeros(max(size, 1))
        for size in (rows, rows, rows, columns, rows, rows * rows, rows * columns, rows, columns, columns)
    ]
    SHARE_SEARCH["find_shares"](
        A.ctypes.data, counts.ctypes.data, n, rows, columns, *(x.ctypes.data for x in given),
        *(x.ctypes.data for x in work), _SOFTNESS.ctypes.data, len(_SOFTNESS), _ATTAINED, _STEPS, _LARGEST,
        *(x.ctypes.data for x in out),
    )  # fmt: skip
    return out


def _one_by_one(A: Array, use: Flags, lower: Array, upper: Array) -> tuple[Array, Array]:
    """Shares (k,) and missing (r,) of one sample: min |A λ − s| over λ ≥ 0 and s in its box."""
    from scipy.optimize import lsq_linear  # slow to import, and seldom needed

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
    """The lower bound of one sample; see `cone_search.bound_of`."""
    size = float(np.linalg.norm(missing))
    lengths = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    worst = np.max((A.T @ missing / lengths)[use], initial=0.0)
    matters, ends = np.abs(missing) > 1e-12 * size, np.where(missing > 0.0, lower, upper)
    most = _LARGEST * float(np.abs(np.clip(0.0, lower, upper)).max())
    return max((float(missing[matters] @ ends[matters]) - worst * most) / size, 0.0)


class ConeForces:
    """Forces f at k points that the ground can give and that carry a load b as well as such forces can.

        min ½ |f|² + ½ |A f − b|²_S⁻¹   with  |f_i − n_i (f_i · n_i)| ≤ μ_i f_i · n_i        [contact.cone-forces]

    The cones are exact. A small S puts the load first. Where no forces in the cones carry the load, S⁻¹ measures what
    is left; S from an inertia matrix then leaves the smallest acceleration: Gauss's principle. Each solution begins
    from the one before, which saves steps and changes nothing else. The first one in a process takes about half a
    second more, for compilation.

    Args:
        friction: (k,) Coulomb coefficients μ.
        normals: (k, 3) or (3,) unit normals n of the ground, in the axes of the forces.
        softness: (r, r) S, positive definite.
    """

    def __init__(self, friction: ArrayLike, normals: ArrayLike, softness: ArrayLike) -> None:
        self._friction = np.array(friction, dtype=float)
        k = len(self._friction)
        self._normals = np.array(np.broadcast_to(np.asarray(normals, dtype=float), (k, 3)), order="C")
        self._whiten = np.linalg.inv(np.linalg.cholesky(np.asarray(softness, dtype=float)))
        rows, columns = len(self._whiten), 3 * k
        self._shape, self._use = (rows, columns), np.ones(columns, dtype=np.int64)
        self._multipliers = np.zeros(rows)
        sizes = (rows, rows, columns, rows, rows * rows, rows * columns, rows, columns)
        self._work = [np.zeros(max(size, 1)) for size in sizes]
        given = (self._friction, self._normals, *self._work, self._multipliers, self._use)
        *self._given, self._to, self._counted = (x.ctypes.data for x in given)  # these arrays stay where they are

    def reset(self) -> None:
        """Begin the next solution from nothing."""
        self._multipliers[:] = 0.0

    def solve(self, lift: Array, load: Array) -> Array:
        """(3 k,) the best forces.

        Args:
            lift: (r, 3 k) A: generalised forces of unit forces at the points.
            load: (r,) b.

        Raises:
            ShapeError: Their shapes are others.
        """
        if lift.shape != self._shape or load.shape != self._shape[:1]:
            raise ShapeError(f"lift {lift.shape} and load {load.shape} must be {self._shape} and {self._shape[:1]}")
        A, b = np.ascontiguousarray(self._whiten @ lift), self._whiten @ load
        force = np.zeros(self._shape[1])
        FORCE_SEARCH["find_forces"](
            A.ctypes.data, self._counted, *self._shape, b.ctypes.data, *self._given,
            _EXACT * float(np.abs(b).max(initial=0.0)), _FORCE_STEPS, self._to, force.ctypes.data,
        )  # fmt: skip
        return force

    def holds(self, force: Array) -> bool:
        """Whether every force is in its cone.

        Args:
            force: (3 k,).
        """
        each = force.reshape(-1, 3)
        normal = np.sum(each * self._normals, axis=1)
        across = each - normal[:, None] * self._normals
        sliding = np.sqrt(np.sum(across * across, axis=1))
        return bool((sliding <= self._friction * normal + _ON_CONE * np.abs(each).max(initial=0.0)).all())
