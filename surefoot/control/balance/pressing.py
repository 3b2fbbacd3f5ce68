"""`PressingForces`: what to command so that hands press with the forces that are asked for, friction or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.robot import Robot

__all__ = ["PressingForces"]

_RATE, _SEEK = 4.0, 1.0  # at which the measured force becomes that which is asked for, and before it touches [1/s]
_TOUCH, _SMOOTH = 0.25, 0.05  # share of the force from which on it touches; time over which that is seen [s]
_MORE, _LESS = 1.5, 0.8  # most that is added and taken away, shares of the force


class PressingForces:
    """Integrates what measured normal forces miss; without readings it passes on what is asked for.

    A hand in the air feels nothing, so it is pushed on until it overcomes its friction and meets something. What its
    sensor reads on its way, before it first presses, is taken as zero.

    Args:
        robot: The robot.
    """

    def __init__(self, robot: Robot) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._felt: dict[str, float] = {}
        self._zero: dict[str, tuple[int, Array]] = {}  # number and mean of the forces read before it first pressed
        self._axes: dict[str, Array] = {}  # of contact surfaces in their bodies
        self._readings: Mapping[str, Array] = {}
        self._extra: dict[str, float] = {}
        self.asked: dict[str, float] = {}
        """Normal forces by contact [N]."""

    def observe(self, readings: Mapping[str, Array]) -> None:
        """See the force sensors.

        Args:
            readings: By name; NaN where nothing arrived.
        """
        self._readings = readings

    def commanded(self, contact: str, force: float, dt: float, q: Array, normal: Array) -> float:
        """Normal force to command [N].

        Args:
            contact: The contact surface.
            force: What is asked for [N].
            dt: Since the last time [s].
            q: (nq,) configuration.
            normal: (3,) direction out of what it touches, in world.
        """
        measured = self._readings.get(f"contact.{contact}.wrench")
        if measured is None or not np.isfinite(measured).all():
            return force + self._extra.get(contact, 0.0)
        if contact not in self._extra and force <= 0.0:
            count, mean = self._zero.get(contact, (0, np.zeros(3)))
            self._zero[contact] = count + 1, mean + (measured[:3] - mean) / (count + 1)
            return force
        zero = self._zero[contact][1] if contact in self._zero else 0.0
        now = float(normal @ self._turn(contact, q) @ (measured[:3] - zero))
        smooth = self._felt.get(contact, 0.0)
        self._felt[contact] = smooth = smooth + min(1.0, dt / _SMOOTH) * (now - smooth)
        rate = _RATE if smooth > _TOUCH * force else _SEEK
        extra = self._extra.get(contact, 0.0) + dt * rate * (force - now)
        self._extra[contact] = min(max(extra, -_LESS * force), _MORE * force)
        return force + self._extra[contact]

    def _turn(self, contact: str, q: Array) -> Array:
        """(3, 3) axes of a contact surface in world."""
        model, surface = self._robot.model, self._robot.contacts[contact]
        pin.forwardKinematics(model, self._data, q)
        R = self._data.oMi[self._robot.body_of(surface.frame) + 1].rotation
        if contact not in self._axes:
            self._axes[contact] = R.T @ self._robot.placements(q)[surface.frame][:3, :3] @ surface.placement[:3, :3]
        return np.asarray(R @ self._axes[contact])
