"""`ForceSchedule`: torques and forces of the drives over time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.control.drive_index import drive_index
from surefoot.motion import Command, State
from surefoot.motion.checks import finite_array, increasing_times
from surefoot.motion.interpolation import linear_at, place_of
from surefoot.robot import Robot

__all__ = ["ForceSchedule"]

Array = NDArray[np.float64]


class ForceSchedule:
    """Torques that run straight from point to point; the first is held before, the last after.

    Args:
        robot: The robot.
        points: Times [s], increasing, each with torques [N m] or forces [N] of drives by joint name; joints that are
            not named keep their value, at first 0. Without points all drives are off.

    Raises:
        ShapeError: Times do not increase, or a torque is no finite number.
        UnknownNameError: A joint has no drive, or does not exist.
    """

    def __init__(self, robot: Robot, points: Sequence[tuple[float, Mapping[str, float]]]) -> None:
        self._times = increasing_times([time for time, _ in points] or [0.0], "times of the forces")
        self._torques = np.zeros((len(self._times), robot.nu))
        for k, (_, torques) in enumerate(points):
            self._torques[k] = self._torques[max(k - 1, 0)]
            for joint, value in torques.items():
                torque = float(finite_array(value, (), f"torque of joint `{joint}`"))
                self._torques[k, drive_index(robot, joint)] = torque

    def command(self, t: float, state: State) -> Command:
        """The command at a time; the state does not matter.

        Args:
            t: Time [s].
            state: The state.
        """
        inside = float(np.clip(t, self._times[0], self._times[-1]))
        return Command(torque=linear_at(self._torques, place_of(self._times, inside)))
