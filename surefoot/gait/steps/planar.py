"""Poses on the ground: (x [m], y [m], yaw [rad]) as plain numbers, which are faster than arrays of three."""

from __future__ import annotations

from math import atan2, cos, hypot, pi, remainder, sin

from surefoot.motion import Footstep

Pose = tuple[float, float, float]


def wrapped(angle: float) -> float:
    """The same angle in −π…π.

    Args:
        angle: [rad].
    """
    return remainder(angle, 2.0 * pi)


def compose(a: Pose, b: Pose) -> Pose:
    """T_a T_b: the pose b, given in a.

    Args:
        a: In world.
        b: In a.
    """
    c, s = cos(a[2]), sin(a[2])
    return a[0] + c * b[0] - s * b[1], a[1] + s * b[0] + c * b[1], wrapped(a[2] + b[2])


def relative(a: Pose, b: Pose) -> Pose:
    """T_a⁻¹ T_b: the pose b, seen from a.

    Args:
        a: In world.
        b: In world.
    """
    c, s = cos(a[2]), sin(a[2])
    x, y = b[0] - a[0], b[1] - a[1]
    return c * x + s * y, -s * x + c * y, wrapped(b[2] - a[2])


def way(a: Pose, b: Pose) -> float:
    """Distance of two poses [m].

    Args:
        a: A pose.
        b: Another.
    """
    return hypot(b[0] - a[0], b[1] - a[1])


def pose_of(step: Footstep) -> Pose:
    """The pose of a foot on the ground.

    Args:
        step: The foot.
    """
    T = step.T
    return float(T[0, 3]), float(T[1, 3]), atan2(T[1, 0], T[0, 0])
