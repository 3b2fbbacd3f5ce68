"""Convex polygons in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["convex_hull", "convex_hulls", "distance_inside", "is_rectangle"]

Array = NDArray[np.float64]
_SHORT = 1e-9  # edges below this have no direction [m]


def convex_hull(points: ArrayLike, tolerance: float = 1e-9) -> Array:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain, 1979).

    Args:
        points: (n, 2).
        tolerance: Corners that stick out by less than this [m] are dropped.

    Returns:
        (k, 2); one corner for a point, two for a segment.
    """
    ordered = np.unique(np.asarray(points, dtype=float), axis=0)
    if len(ordered) <= 2:
        return ordered
    chains = []
    for sequence in (ordered, ordered[::-1]):
        chain: list[Array] = []
        for point in sequence:
            while len(chain) >= 2 and not _turns_left(chain[-2], chain[-1], point, tolerance):
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _turns_left(a: Array, b: Array, c: Array, tolerance: float) -> bool:
    """Whether b lies more than `tolerance` to the right of the line from a to c."""
    along = c - a
    length = float(np.hypot(along[0], along[1]))
    area = along[0] * (a[1] - b[1]) - along[1] * (a[0] - b[0])
    return bool(area > tolerance * length)


def is_rectangle(corners: ArrayLike, tolerance: float = 1e-3) -> bool:
    """Whether four corners in order form a rectangle, to `tolerance` [m] in the corners.

    Args:
        corners: (k, 2), in order.
        tolerance: Largest distance of the fourth corner from its place [m].
    """
    p = np.asarray(corners, dtype=float)
    if len(p) != 4:
        return False
    edge, other = p[1] - p[0], p[3] - p[0]
    closes = float(np.linalg.norm(p[0] + edge + other - p[2]))
    slant = abs(float(edge @ other)) / max(float(np.linalg.norm(edge)), 1e-12)
    return closes <= tolerance and slant <= tolerance


def convex_hulls(points: ArrayLike, active: ArrayLike | None = None) -> Array:
    """Convex hulls of many small sets of points at once (gift wrapping, Jarvis 1973).

    Args:
        points: (n, k, 2): n sets of k points.
        active: (n, k): which points count; all if left out.

    Returns:
        (n, c, 2): corners, counter-clockwise; hulls of fewer than c corners repeat their first one at the end. Hulls
        of no points are NaN.
    """
    p = np.asarray(points, dtype=float)
    use = np.ones(p.shape[:2], dtype=bool) if active is None else np.asarray(active, dtype=bool)
    n, k = use.shape
    rows, empty = np.arange(n), ~use.any(axis=1)
    corner = _lowest(p, use)
    first = np.array(p[rows, corner]) if k else np.full((n, 2), np.nan)
    corners, open_ = [first], ~empty
    for _ in range(k - 1):
        corner = _rightmost(p, use, corner)
        open_ &= (p[rows, corner] != first).any(axis=1)
        if not open_.any():
            break
        corners.append(np.where(open_[:, None], p[rows, corner], first))
    hulls = np.stack(corners, axis=1)
    hulls[empty] = np.nan
    return hulls


def _lowest(p: Array, use: NDArray[np.bool_]) -> NDArray[np.int64]:
    """(n,) index of the point with the least x, of these the least y."""
    x = np.where(use, p[:, :, 0], np.inf)
    y = np.where(use & (x == x.min(axis=1, initial=np.inf)[:, None]), p[:, :, 1], np.inf)
    return np.asarray(y.argmin(axis=1)) if p.shape[1] else np.zeros(len(p), dtype=np.int64)


def _rightmost(p: Array, use: NDArray[np.bool_], corner: NDArray[np.int64]) -> NDArray[np.int64]:
    """(n,) index of the point that leaves all others to the left, seen from a corner; the farthest of those in line."""
    rows = np.arange(len(p))
    way = p - p[rows, corner][:, None]
    far = np.where(use, np.einsum("nki,nki->nk", way, way), 0.0)
    best = np.where(far.max(axis=1) > 0.0, far.argmax(axis=1), corner)
    for j in range(p.shape[1]):
        to, now = way[:, j], way[rows, best]
        turn = now[:, 0] * to[:, 1] - now[:, 1] * to[:, 0]
        in_line = _SHORT * np.sqrt(np.maximum(far[:, j], far[rows, best]))
        farther = far[:, j] > far[rows, best]
        better = (far[:, j] > 0.0) & ((turn < -in_line) | ((np.abs(turn) <= in_line) & farther))
        best[better] = j
    return best


def distance_inside(points: ArrayLike, polygon: ArrayLike) -> Array:
    """How far points lie inside convex polygons, negative outside [m]: the distance from the nearest edge.

    A polygon without area (a segment, a point) has no inside: the distance from it is given, negative, or 0.

    Args:
        points: (..., 2).
        polygon: (..., k, 2), counter-clockwise; corners may repeat. Leading dimensions broadcast.

    Returns:
        (...); NaN where points or polygons are.
    """
    p, corners = np.asarray(points, dtype=float)[..., None, :], np.asarray(polygon, dtype=float)
    along, away = np.roll(corners, -1, axis=-2) - corners, p - corners
    length = np.hypot(along[..., 0], along[..., 1])
    share = np.clip((away * along).sum(axis=-1) / np.maximum(length, _SHORT) ** 2, 0.0, 1.0)
    gap = away - share[..., None] * along
    nearest = np.hypot(gap[..., 0], gap[..., 1]).min(axis=-1)
    left = along[..., 0] * away[..., 1] - along[..., 1] * away[..., 0] >= 0.0
    edges = length > _SHORT
    inside = (left | ~edges).all(axis=-1) & edges.any(axis=-1) & ~_is_flat(corners, length)
    return np.where(inside, nearest, -nearest)


def _is_flat(corners: Array, length: Array) -> NDArray[np.bool_]:
    """Whether polygons (..., k, 2) with edges of these lengths (..., k) have no area."""
    from_first = corners - corners[..., :1, :]
    after = np.roll(from_first, -1, axis=-2)
    area = (from_first[..., 0] * after[..., 1] - from_first[..., 1] * after[..., 0]).sum(axis=-1)
    return np.asarray(area <= _SHORT * length.sum(axis=-1))
