"""Hobby servos: positions only, with finite rate, a stiff spring and a dead band."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.robot import Drive
from surefoot.sim.drive_group import DriveGroup, Flags, numbers, short_way

__all__ = ["HobbyServos"]


class HobbyServos(DriveGroup):
    """A reference goes to the commanded position at the speed limit of the drive at most, and the joint after it.

    A spring holds the joint to the reference and a damper to rest, both within the torque limit, as in [sim.drive]. The
    servo hears the commanded position alone, in steps of `servo_step`; torque, velocity and gains of the command
    are not for it. The spring reaches to the edge of the dead band about the reference, and is off inside. As the
    damper brakes against rest (the back-EMF of the small motor), the joint does not outrun the reference; it lags
    behind it by damping · rate / stiffness. Supply and loss are those of an ideal source.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end.
        dt: Step [s].
    """

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self._stride = dt * numbers(drives, "speed_limit")
        self._stiffness, self._damping = numbers(drives, "servo_stiffness"), numbers(drives, "servo_damping")
        self._dead_band, step = numbers(drives, "servo_dead_band"), numbers(drives, "servo_step")
        self._steps = step if step.any() else None
        super().__init__(drives, turns, dt)

    def start(self, position: Array, velocity: Array) -> None:
        """The reference is where the joint is."""
        self._reference = position.copy()

    def shape(self, position: Array, velocity: Array) -> None:
        """Move the reference by one step and put spring and damper on it."""
        way = self._near(self._rounded(self.rows[1]) - self._reference)
        self._reference = self._reference + np.minimum(np.maximum(way, -self._stride), self._stride)
        error = self._near(self._reference - position)
        edge = np.minimum(np.maximum(error, -self._dead_band), self._dead_band)
        self.rows[0] = self.rows[3] = 0.0
        self.rows[1] = position + (error - edge)
        self.rows[2] = np.where(np.abs(error) >= self._dead_band, self._stiffness, 0.0)
        self.rows[4] = self._damping

    def _near(self, way: Array) -> Array:
        """The short way round where joints turn without end."""
        return way if self.turns is None else np.where(self.turns, short_way(way), way)

    def _rounded(self, target: Array) -> Array:
        """Targets as the servo resolves them."""
        if self._steps is None:
            return target
        step = np.where(self._steps > 0.0, self._steps, 1.0)
        return np.where(self._steps > 0.0, step * np.round(target / step), target)

    def readings(self) -> dict[str, Array]:
        """Power at the joint [W], reference [rad] or [m]."""
        return {**super().readings(), "servo_reference": self._reference}
