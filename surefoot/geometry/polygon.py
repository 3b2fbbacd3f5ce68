"""Convex polygons in the plane."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["convex_hull", "is_rectangle"]

Array = NDArray[np.float64]


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
