"""`Observer`: what a controller may see beside the state."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Estimator, Observation
from surefoot.motion.world import STANDARD_GRAVITY
from surefoot.robot import Robot
from surefoot.sim.sensors import Sensors, SensorSettings, TouchBits, Truth


class Observer:
    """Makes the observations of one controller.

    Whether contacts touch is taken from the estimator, where it has `touching`; else from the contact bits of the
    sensors (a bit that does not arrive keeps its last value, 0.5 before the first); else from the true forces, with the
    thresholds of the default sensors.

    Args:
        robot: The robot.
        sensors: Its sensors; None for none.
        estimator: Its estimator; None for none.
    """

    def __init__(self, robot: Robot, sensors: Sensors | None, estimator: Estimator | None) -> None:
        self._contacts = tuple(robot.contacts)
        self._sensed, self._estimator = sensors is not None, estimator if hasattr(estimator, "touching") else None
        self._bits = TouchBits(len(self._contacts), robot.mass * STANDARD_GRAVITY, SensorSettings())
        self._last = np.full(len(self._contacts), 0.5)

    def look(self, truth: Truth, readings: Mapping[str, Array]) -> Observation:
        """The observation now."""
        return Observation(truth.t, self._touching(truth, readings), readings)

    def _touching(self, truth: Truth, readings: Mapping[str, Array]) -> Array:
        """(contacts,) probabilities of touch."""
        if self._estimator is not None:
            return np.array(self._estimator.touching)
        if not self._sensed:
            forces = np.array([truth.wrenches[name][2] for name in self._contacts])
            return self._bits.update(forces).astype(float)
        bits = np.array([readings[f"contact.{name}.touching"][0] for name in self._contacts])
        self._last = np.where(np.isnan(bits), self._last, bits)
        return self._last
