"""Convex polygons in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array

Whole = NDArray[np.int64]
_SHORT = 1e-9  # edges below this have no direction [m]
_WHOLE = 2.0**96  # turns numbers into whole ones, exactly down to 1e-13 and to 1e-29 below


def convex_hull(points: ArrayLike, tolerance: float = 1e-9) -> Array:
    """Corners of the convex hull, counter-clockwise (Andrew's monotone chain, 1979).

    Signs are found in whole numbers: corners that lie in line up to rounding would break the chain otherwise.

    Args:
        points: (n, 2).
        tolerance: Corners that stick out by less than this [m] are dropped, but for those with the least and the
            largest x.

    Returns:
        (k, 2); one corner for a point, two for a segment.
    """
    ordered = np.unique(np.asarray(points, dtype=float), axis=0)
    if len(ordered) <= 2:
        return ordered
    whole = [(int(x), int(y)) for x, y in ordered * _WHOLE]
    forth, back = range(len(whole)), range(len(whole) - 1, -1, -1)
    lower, upper = (_without_flat_corners(ordered[_chain(whole, order)], tolerance) for order in (forth, back))
    return np.array(lower[:-1] + upper[:-1])


def _chain(whole: list[tuple[int, int]], order: range) -> list[int]:
    """Numbers of the points that leave all others on their left, from the first to the last."""
    chain: list[int] = []
    for k in order:
        x, y = whole[k]
        while len(chain) >= 2:
            (ax, ay), (bx, by) = whole[chain[-2]], whole[chain[-1]]
            if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                break
            chain.pop()
        chain.append(k)
    return chain


def _without_flat_corners(chain: Array, tolerance: float) -> list[Array]:
    """A chain (k, 2) without corners that are nearer than `tolerance` to the segment between their neighbours."""
    kept: list[Array] = []
    for corner in chain:
        while len(kept) >= 2 and _distance_to_segment(kept[-1], kept[-2], corner) <= tolerance:
            kept.pop()
        kept.append(corner)
    return kept


def _distance_to_segment(point: Array, start: Array, end: Array) -> float:
    along, away = end - start, point - start
    share = np.clip(away @ along / max(float(along @ along), _SHORT**2), 0.0, 1.0)
    return float(np.linalg.norm(away - share * along))


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
    """Convex hulls of many small sets of points at once (Andrew's monotone chain, 1979).

    Corners are rounded to whole parts of 2⁻²⁹ of the extent of their set (a nanometre for two feet), so that signs are
    exact: corners that lie in line up to rounding would break the chain otherwise.

    Args:
        points: (n, k, 2): n sets of k points.
        active: (n, k): which points count; by default all.

    Returns:
        (n, c, 2): corners, counter-clockwise; hulls of fewer than c corners repeat their first one at the end. Hulls
        of no points are NaN.
    """
    p = np.asarray(points, dtype=float)
    use = np.ones(p.shape[:2], dtype=bool) if active is None else np.asarray(active, dtype=bool)
    known = use.any(axis=1) & np.isfinite(np.where(use[:, :, None], p, 0.0)).all(axis=(1, 2))
    hulls = np.full((len(p), 1, 2), np.nan)
    if known.any():
        found = _hulls(p[known], use[known])
        hulls = np.full((len(p), *found.shape[1:]), np.nan)
        hulls[known] = found
    return hulls


def _hulls(p: Array, use: NDArray[np.bool_]) -> Array:
    """Hulls of sets with at least one point, all finite."""
    first = np.take_along_axis(p, use.argmax(axis=1)[:, None, None], axis=1)
    away = np.where(use[:, :, None], p - first, 0.0)
    unit = np.exp2(np.ceil(np.log2(np.maximum(np.abs(away).max(axis=(1, 2)), 1e-300))) - 29.0)[:, None, None]
    whole = np.rint(away / unit).astype(np.int64)
    order = np.lexsort((whole[:, :, 1], whole[:, :, 0]), axis=1)
    ordered = np.take_along_axis(whole, order[:, :, None], axis=1)
    return np.asarray(first + unit * _joined(_chains(ordered), _chains(ordered[:, ::-1])))


def _chains(ordered: Whole) -> tuple[Whole, Whole]:
    """(n, k, 2) corners from the first to the last of ordered points, with all others on their left; (n,) how many."""
    n, k, _ = ordered.shape
    rows, corners, size = np.arange(n), np.zeros((n, k, 2), dtype=np.int64), np.zeros(n, dtype=np.int64)
    for j in range(k):
        point = ordered[:, j]
        while True:
            before, last = corners[rows, np.maximum(size - 2, 0)], corners[rows, np.maximum(size - 1, 0)]
            edge, to = last - before, point - before
            drop = (size >= 2) & (edge[:, 0] * to[:, 1] <= edge[:, 1] * to[:, 0])
            if not drop.any():
                break
            size -= drop
        corners[rows, size] = point
        size += 1
    return corners, size


def _joined(lower: tuple[Whole, Whole], upper: tuple[Whole, Whole]) -> Whole:
    """(n, c, 2): one chain after the other, each without its last corner; the first corner fills up."""
    (below, m), (above, k) = lower, upper
    rows, count = np.arange(len(m)), m + k - 2
    at = np.arange(max(1, count.max()))[:, None]
    of_below = below[rows, np.minimum(at, m - 1)]
    of_above = above[rows, np.clip(at - (m - 1), 0, k - 1)]
    hulls = np.where((at < m - 1)[..., None], of_below, np.where((at < count)[..., None], of_above, below[:, 0]))
    return np.asarray(hulls.swapaxes(0, 1))


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
    # Twice the area (...) of each polygon; without one there is no inside
    from_first = corners - corners[..., :1, :]
    after = np.roll(from_first, -1, axis=-2)
    area = (from_first[..., 0] * after[..., 1] - from_first[..., 1] * after[..., 0]).sum(axis=-1)
    inside = (left | ~edges).all(axis=-1) & edges.any(axis=-1) & ~np.asarray(area <= _SHORT * length.sum(axis=-1))
    return np.where(inside, nearest, -nearest)
