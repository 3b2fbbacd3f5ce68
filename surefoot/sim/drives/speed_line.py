"""Torque that falls with speed: the line of a motor at its supply, kept without chattering."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.robot import Drive
from surefoot.sim.drives.group import DriveGroup, Flags, law, numbers

Sides = NDArray[np.int64]
_BOTH = np.array([[-1.0], [1.0]])  # lower and upper


class SpeedCurve:
    """`Drive.torque_at_speed` of n drives.

    Attributes:
        limit: (n,) full torque.
        slope: (n,) fall of the torque per speed beyond the corner; 0 where it ends at once or never.
        at_rest: (n,) where the falling line meets speed 0; the full torque where nothing falls, 0 if that has no bound.
    """

    def __init__(self, drives: Sequence[Drive]) -> None:
        self.limit, self._top = numbers(drives, "torque_limit"), numbers(drives, "speed_limit")
        corner = numbers(drives, "corner_speed")
        bounded = np.isfinite(self.limit)
        falls = (corner < self._top) & np.isfinite(self._top) & bounded
        top, range_ = np.where(falls, self._top, 1.0), np.where(falls, self._top, 1.0) - np.where(falls, corner, 0.0)
        finite = np.where(bounded, self.limit, 0.0)
        self.slope = np.where(falls, finite / range_, 0.0)
        self.at_rest = np.where(falls, self.slope * top, finite)
        self._line = np.where(bounded, self.at_rest, np.inf)

    def limits(self, speed: Array) -> Array:
        """(2, n) least and largest torque at a speed."""
        along = _BOTH * speed
        most = np.minimum(self._line - self.slope * along, self.limit)
        most[along > self._top] = 0.0
        return _BOTH * most


class LineLimited(DriveGroup):
    """Drives whose limits fall with speed, torque ≤ top − slope v and torque ≥ bottom − slope v.

    Limits taken at the speed before a step swing up where slope · dt exceeds twice the inertia, as it does for a small
    joint behind a strong gear. So a drive that was at its limit in the last step, and still wants more, goes along the
    line itself: as a damper, whose torque follows from the speed at the end of the step. So does one that has neither
    spring nor damper. Whoever else comes to the limit anew is only cut there, for a stiff spring may not need that
    torque when the step is over.

    Attributes:
        slope: (n,) of the lines.
        lines: (2, n) torque of the lower and of the upper line at speed 0.
        caps: (2, n) least and largest torque at low speed.
        far: Largest torque on the lower and −least torque on the upper line.
    """

    slope: Array
    lines: Array
    caps: Array
    far: float = np.inf

    def start(self, position: Array, velocity: Array) -> None:
        """No drive is at its limit."""
        self._side: Sides = np.zeros(self.n, dtype=np.int64)
        self._held: Flags | None = None
        self._asked = self.rows

    def limits_at(self, velocity: Array) -> Array:
        """(2, n) least and largest torque at a speed; the lines win over the caps."""
        low, high = self.lines - self.slope * velocity
        return np.minimum(np.maximum(self.caps, low), high)

    def keep_to_lines(self, position: Array, velocity: Array) -> None:
        """Cut `rows` at the limits, or put them on a line.

        Args:
            position: (n,) of the joints now.
            velocity: (n,) of the joints now.
        """
        self._asked = self.rows
        self.rows[5:] = self.limits_at(velocity)
        beyond = _beyond(law(self.rows, position, velocity), self.rows[5:])
        self._held = None
        if beyond.any():
            loose = (self.rows[2] == 0.0) & (self.rows[4] == 0.0)
            self._held = (beyond != 0) & ((beyond == self._side) | loose) & (self.slope > 0.0)
            self._side, self._asked = beyond, self.rows.copy()
            self._put_on_lines(np.flatnonzero(self._held))

    def _put_on_lines(self, k: Sides) -> None:
        upper = self._side[k] > 0
        self.rows[1:4, k] = 0.0
        self.rows[0, k] = np.where(upper, self.lines[1, k], self.lines[0, k])
        self.rows[4, k] = self.slope[k]
        self.rows[5, k] = np.where(upper, -self.far, self.caps[0, k])
        self.rows[6, k] = np.where(upper, self.caps[1, k], self.far)

    def notice(self, wanted: Array, position: Array, velocity: Array) -> None:
        """Remember who wants more than the limit at the end of the step."""
        if self._held is None:
            self._side = _beyond(wanted, self.limits_at(velocity))
            return
        after = _beyond(law(self._asked, position, velocity), self.limits_at(velocity))
        self._side = np.where(self._held & (after != self._side), 0, after)


def _beyond(wanted: Array, limits: Array) -> Sides:
    """(n,) 1 above the upper limit, −1 below the lower one, else 0."""
    return (wanted > limits[1]).astype(np.int64) - (wanted < limits[0])


class TorqueSpeed(LineLimited):
    """Ideal sources whose torque follows `Drive.torque_at_speed` both ways; braking has the full torque.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end.
        dt: Step [s].
    """

    far = 0.0

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self._curve = SpeedCurve(drives)
        self.slope = self._curve.slope
        self.lines = np.array([-self._curve.at_rest, self._curve.at_rest])
        self.caps = np.array([-self._curve.limit, self._curve.limit])
        super().__init__(drives, turns, dt)

    def limits_at(self, velocity: Array) -> Array:
        """(2, n) least and largest torque at a speed."""
        return self._curve.limits(velocity)

    def shape(self, position: Array, velocity: Array) -> None:
        """The command within the limits at this speed, or the line."""
        self.keep_to_lines(position, velocity)
