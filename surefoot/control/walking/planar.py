"""Poses (x, y, z, yaw) of flat feet, relative to each other, and points in convex polygons."""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np

from surefoot.arrays import Array

__all__ = ["closest_inside", "flat_pose", "local", "placement_of", "turned", "wrapped", "world"]


def wrapped(angle: float) -> float:
    """The same angle between −π and π."""
    return (angle + pi) % (2.0 * pi) - pi


def turned(vector: Array, yaw: float) -> Array:
    """(2,) or (3,) vector turned about the vertical.

    Args:
        vector: In one frame.
        yaw: Heading of that frame [rad].
    """
    c, s = cos(yaw), sin(yaw)
    out = np.array(vector, dtype=float)
    out[0], out[1] = c * vector[0] - s * vector[1], s * vector[0] + c * vector[1]
    return out


def world(anchor: Array, pose: Array) -> Array:
    """(4,) pose in the world of a pose that is given relative to an anchor.

    Args:
        anchor: (4,) in the world.
        pose: (4,) relative to it.
    """
    c, s = cos(anchor[3]), sin(anchor[3])
    return np.array(
        [
            anchor[0] + c * pose[0] - s * pose[1],
            anchor[1] + s * pose[0] + c * pose[1],
            anchor[2] + pose[2],
            wrapped(anchor[3] + pose[3]),
        ]
    )


def local(anchor: Array, pose: Array) -> Array:
    """(4,) pose relative to an anchor of a pose in the world.

    Args:
        anchor: (4,) in the world.
        pose: (4,) in the world.
    """
    c, s = cos(anchor[3]), sin(anchor[3])
    x, y = pose[0] - anchor[0], pose[1] - anchor[1]
    return np.array([c * x + s * y, c * y - s * x, pose[2] - anchor[2], wrapped(pose[3] - anchor[3])])


def flat_pose(T: Array) -> Array:
    """(4,) x, y, z, yaw of a placement (4, 4)."""
    return np.array([T[0, 3], T[1, 3], T[2, 3], atan2(T[1, 0], T[0, 0])])


def placement_of(pose: Array) -> Array:
    """(4, 4) placement of a flat pose (4,)."""
    c, s = cos(pose[3]), sin(pose[3])
    return np.array([[c, -s, 0.0, pose[0]], [s, c, 0.0, pose[1]], [0.0, 0.0, 1.0, pose[2]], [0.0, 0.0, 0.0, 1.0]])


def closest_inside(point: Array, polygon: Array) -> Array:
    """(2,) the point of a convex polygon that is nearest to a point: itself if it is inside.

    Args:
        point: (2,).
        polygon: (k, 2) corners, counter-clockwise; one or two for a point or a line.
    """
    px, py = float(point[0]), float(point[1])
    best, nearest = np.inf, (px, py)
    inside = len(polygon) > 2
    corners = polygon.tolist()
    for (ax, ay), (bx, by) in zip(corners, [*corners[1:], corners[0]], strict=True):
        ex, ey = bx - ax, by - ay
        if ex * (py - ay) - ey * (px - ax) >= 0.0 and len(polygon) > 2:
            continue
        inside = False
        along = ex * ex + ey * ey
        s = 0.0 if along == 0.0 else min(1.0, max(0.0, ((px - ax) * ex + (py - ay) * ey) / along))
        x, y = ax + s * ex, ay + s * ey
        way = (x - px) ** 2 + (y - py) ** 2
        if way < best:
            best, nearest = way, (x, y)
    return np.array((px, py) if inside else nearest)
