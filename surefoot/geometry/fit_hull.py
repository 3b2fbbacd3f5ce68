"""Triangles and planes of the convex hull of points, whatever their dimension."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.geometry.polygon import convex_hull

__all__ = ["hull_planes", "hull_triangles"]

_FLAT = 1e-9  # thickness, as a share of the size, below which points lie in a plane


def hull_planes(points: Array) -> Array:
    """Planes n·x + d ≤ 0 of the hull of points (n, 3), (m, 4); none for points in a plane."""
    from scipy.spatial import ConvexHull

    return ConvexHull(points).equations if _dimension(points) == 3 else np.zeros((0, 4))


def hull_triangles(points: Array) -> NDArray[np.int64]:
    """Triangles that cover the surface of the hull of points (n, 3), (m, 3); of points in a plane, the hull itself.

    Points on a line give a triangle without area, a single point gives one that is that point.
    """
    from scipy.spatial import ConvexHull

    dimension = _dimension(points)
    if dimension == 3:
        return np.asarray(ConvexHull(points).simplices, dtype=np.int64)
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    flat = centred @ axes[:, :2]
    if dimension < 2:
        first, last = int(np.argmin(flat[:, 0])), int(np.argmax(flat[:, 0]))
        return np.array([[first, last, last]])
    corners = convex_hull(flat, tolerance=0.0)
    around = np.argmin(np.linalg.norm(flat[None] - corners[:, None], axis=2), axis=1)
    return np.array([[around[0], around[i], around[i + 1]] for i in range(1, len(around) - 1)])


def _dimension(points: Array) -> int:
    """0 for a point, 1 for a line, 2 for a plane, 3."""
    centred = points - points.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) if len(points) > 1 else np.zeros(1)
    return int((spread > _FLAT * max(float(spread[0]), 1e-300) * np.sqrt(len(points))).sum())
