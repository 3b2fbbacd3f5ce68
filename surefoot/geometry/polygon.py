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
            while len(chain) >= 2 and not _turn_left(chain[-2], chain[-1], point, tolerance):
                chain.pop()
            chain.append(point)
        chains.append(chain[:-1])
    return np.array(chains[0] + chains[1])


def _turn_left(a: Array, b: Array, c: Array, tolerance: float) -> NDArray[np.bool_]:
    """Whether points b (..., 2) lie more than `tolerance` to the right of the lines from a to c."""
    along, back = c - a, a - b
    area = along[..., 0] * back[..., 1] - along[..., 1] * back[..., 0]
    return np.asarray(area > tolerance * np.hypot(along[..., 0], along[..., 1]))


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


def convex_hulls(points: ArrayLike, active: ArrayLike | None = None, tolerance: float = 1e-9) -> Array:
    """Convex hulls of many small sets of points at once (Andrew's monotone chain, 1979).

    Args:
        points: (n, k, 2): n sets of k points.
        active: (n, k): which points count; all if left out.
        tolerance: Corners that stick out by less than this [m] are dropped, but for those with the least and the
            largest x.

    Returns:
        (n, c, 2): corners, counter-clockwise; hulls of fewer than c corners repeat their first one at the end. Hulls
        of no points are NaN.
    """
    p = np.asarray(points, dtype=float)
    use = np.ones(p.shape[:2], dtype=bool) if active is None else np.asarray(active, dtype=bool)
    ordered = _in_order(p, use)
    lower, upper = _chains(ordered, tolerance), _chains(ordered[:, ::-1], tolerance)
    hulls = _joined(lower, upper)
    hulls[~use.any(axis=1)] = np.nan
    return hulls


def _in_order(p: Array, use: NDArray[np.bool_]) -> Array:
    """(n, max(k, 1), 2): the points that count by x, then y; the first of them in place of those that do not."""
    if not p.shape[1]:
        return np.full((len(p), 1, 2), np.nan)
    first = np.take_along_axis(p, use.argmax(axis=1)[:, None, None], axis=1)
    used = np.where(use[:, :, None], p, first)
    order = np.lexsort((used[:, :, 1], used[:, :, 0]), axis=1)
    return np.asarray(np.take_along_axis(used, order[:, :, None], axis=1))


def _chains(ordered: Array, tolerance: float) -> tuple[Array, NDArray[np.int64]]:
    """(n, k, 2) corners from the first to the last of ordered points (n, k, 2), all others on their left; (n,) how many."""
    n, k, _ = ordered.shape
    rows, corners, size = np.arange(n), np.empty((n, k, 2)), np.zeros(n, dtype=np.int64)
    for j in range(k):
        point = ordered[:, j]
        while True:
            before, last = corners[rows, np.maximum(size - 2, 0)], corners[rows, np.maximum(size - 1, 0)]
            drop = (size >= 2) & ~_turn_left(before, last, point, tolerance)
            if not drop.any():
                break
            size -= drop
        corners[rows, size] = point
        size += 1
    return corners, size


def _joined(lower: tuple[Array, NDArray[np.int64]], upper: tuple[Array, NDArray[np.int64]]) -> Array:
    """(n, c, 2): one chain after the other, each without its last corner; the first corner fills up."""
    (below, m), (above, k) = lower, upper
    rows, count = np.arange(len(m)), m + k - 2
    at = np.arange(max(1, count.max(initial=1)))[:, None]
    of_below = below[rows, np.minimum(at, m - 1)]
    of_above = above[rows, np.clip(at - (m - 1), 0, k - 1)]
    hulls = np.where((at < m - 1)[..., None], of_below, np.where((at < count)[..., None], of_above, below[:, 0]))
    return np.ascontiguousarray(hulls.swapaxes(0, 1))


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
