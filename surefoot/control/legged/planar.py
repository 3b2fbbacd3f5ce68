"""Poses (x, y, z, yaw) of flat feet, relative to each other, and points in convex polygons."""

from __future__ import annotations

from math import atan2, cos, pi, sin

import numpy as np

from surefoot.arrays import Array

__all__ = ["closest_inside", "flat_pose", "local", "placement_of", "turned", "world", "wrapped"]


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
    x, y, *rest = vector.tolist()
    return np.array([c * x - s * y, s * x + c * y, *rest])


def world(anchor: Array, pose: Array) -> Array:
    """(4,) pose in the world of a pose that is given relative to an anchor.

    Args:
        anchor: (4,) in the world.
        pose: (4,) relative to it.
    """
    (ax, ay, az, turn), (x, y, z, yaw) = anchor.tolist(), pose.tolist()
    c, s = cos(turn), sin(turn)
    return np.array([ax + c * x - s * y, ay + s * x + c * y, az + z, wrapped(turn + yaw)])


def local(anchor: Array, pose: Array) -> Array:
    """(4,) pose relative to an anchor of a pose in the world.

    Args:
        anchor: (4,) in the world.
        pose: (4,) in the world.
    """
    (ax, ay, az, turn), (px, py, z, yaw) = anchor.tolist(), pose.tolist()
    c, s = cos(turn), sin(turn)
    x, y = px - ax, py - ay
    return np.array([c * x + s * y, c * y - s * x, z - az, wrapped(yaw - turn)])


def flat_pose(T: Array) -> Array:
    """(4,) x, y, z, yaw of a placement (4, 4)."""
    (cx, _, _, x), (cy, _, _, y), (_, _, _, z), _ = T.tolist()
    return np.array([x, y, z, atan2(cy, cx)])


def placement_of(pose: Array) -> Array:
    """(4, 4) placement of a flat pose (4,)."""
    x, y, z, yaw = pose.tolist()
    c, s = cos(yaw), sin(yaw)
    return np.array([[c, -s, 0.0, x], [s, c, 0.0, y], [0.0, 0.0, 1.0, z], [0.0, 0.0, 0.0, 1.0]])


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
