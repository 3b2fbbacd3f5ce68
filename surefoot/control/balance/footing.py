"""`Footing`: where the feet of a robot stand, relative to a frame that follows them."""

from __future__ import annotations

from collections.abc import Sequence
from math import atan2

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged import local, turned, world, wrapped
from surefoot.geometry import convex_hull

__all__ = ["Footing"]

_FOLLOW_TIME = 0.1  # time constant with which the frame follows the feet [s]


class Footing:
    """The feet in a frame between them, x forward. The frame follows the estimate of the feet that stand.

    Args:
        poses: (4,) each, of the feet in world.
        soles: (k, 2) corners of each sole in the frame of its foot [m].
        heading: Where the robot looks [rad].
    """

    def __init__(self, poses: Sequence[Array], soles: Sequence[Array], heading: float) -> None:
        self.frame = np.append(np.mean([pose[:3] for pose in poses], axis=0), heading)
        """(4,) x, y, z, yaw in world."""
        self.soles = soles
        self.places = [local(self.frame, pose) for pose in poses]
        """(4,) each: feet in the frame."""

    def put(self, foot: int, pose: Array) -> None:
        """Set where a foot stands.

        Args:
            foot: Its number.
            pose: (4,) in world.
        """
        self.places[foot] = local(self.frame, pose)

    def follow(self, poses: Sequence[Array], standing: Sequence[bool], dt: float) -> None:
        """Let the frame follow the feet that stand: the rigid motion that fits the corners of their soles best.

        Args:
            poses: (4,) each, of the feet in world.
            standing: Whether each foot stands.
            dt: Since the last time [s].
        """
        feet = [k for k, stands in enumerate(standing) if stands]
        if not feet:
            return
        here = np.concatenate([self.corners(k) for k in feet])
        there = np.concatenate([_placed(self.soles[k], poses[k]) for k in feet])
        middle, target = here.mean(axis=0), there.mean(axis=0)
        a, b = here - middle, there - target
        along, across = float((a * b).sum()), float((a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]).sum())
        yaw = atan2(across, along) if len(a) > 1 else self.frame[3]
        height = float(np.mean([poses[k][2] - self.places[k][2] for k in feet]))
        fit = np.array([*(target - turned(middle, yaw)), height, yaw])
        gap = fit - self.frame
        gap[3] = wrapped(gap[3])
        self.frame = self.frame + min(1.0, dt / _FOLLOW_TIME) * gap

    def corners(self, foot: int) -> Array:
        """(k, 2) corners of a sole in the frame."""
        return _placed(self.soles[foot], self.places[foot])

    def polygon(self, feet: Sequence[int]) -> Array:
        """(k, 2) support polygon of some feet in the frame, counter-clockwise.

        Args:
            feet: Their numbers.
        """
        corners = np.concatenate([self.corners(k) for k in feet])
        return convex_hull(corners) if len(corners) > 2 else corners

    def shares(self, zmp: Array, feet: Sequence[int]) -> Array:
        """(feet,) shares of the weight on all feet whose centre of pressure is a point, as even as can be.

        Args:
            zmp: (2,) in the frame.
            feet: Numbers of those that carry.
        """
        out = np.zeros(len(self.places))
        middles = np.array([self.places[k][:2] for k in feet])
        A = np.vstack([middles.T, np.ones(len(feet))])
        even = np.full(len(feet), 1.0 / len(feet))
        change = np.linalg.lstsq(A, np.array([*zmp, 1.0]) - A @ even, rcond=1e-6)[0]
        some = np.maximum(even + change, 0.0)
        out[list(feet)] = some / some.sum()
        return out

    def seen(self, point: Array, rate: Array) -> tuple[Array, Array]:
        """A point (3,) and its rate in the frame, given in world."""
        yaw = -self.frame[3]
        return turned(point - self.frame[:3], yaw), turned(rate, yaw)

    def in_world(self, pose: Array) -> Array:
        """(4,) in world of a pose in the frame."""
        return world(self.frame, pose)


def _placed(points: Array, pose: Array) -> Array:
    """(k, 2) points in the frame in which a pose is given."""
    c, s = np.cos(pose[3]), np.sin(pose[3])
    return np.asarray(points @ np.array([[c, s], [-s, c]]) + pose[:2])
