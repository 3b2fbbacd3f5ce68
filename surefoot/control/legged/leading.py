"""`Heading`: orientations that turn with the robot. `LegBend`: how a robot bends its legs at the start."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.control.legged.planar import placement_of
from surefoot.control.whole_body import FREE, TaskHandle

__all__ = ["Heading", "LegBend"]

# Weight of the joints of the legs while they are led, of their usual one; with 600, the soles of straight legs chatter.
_STIFF = 60.0
_FIRM = 10.0 / 3.0  # … and their stiffness
_THERE = 0.7  # when the legs are bent, share of the time to settle
_FADE = 10.0  # how far the height may miss what it should do once it leads by half [m/s²]


def _turn(yaw: float) -> Array:
    """(3, 3) about the vertical."""
    return placement_of(np.array([0.0, 0.0, 0.0, yaw]))[:3, :3]


class Heading:
    """Orientations that turn about the vertical with the robot, as those of its trunk.

    Args:
        start: Where the robot looks at the start [rad].
    """

    def __init__(self, start: float) -> None:
        self._back, self._turned = _turn(-start), list[tuple[TaskHandle, Array]]()

    def add(self, handle: TaskHandle) -> None:
        """Let an orientation turn with the robot; its target is that at the start.

        Args:
            handle: Of the task.
        """
        self._turned.append((handle, self._back @ handle.target.reshape(3, 3)))

    @property
    def last(self) -> TaskHandle:
        """The task that was added last."""
        return self._turned[-1][0]

    def turn(self, yaw: float) -> None:
        """Let all look somewhere.

        Args:
            yaw: In world [rad].
        """
        R = _turn(yaw)
        for handle, upright in self._turned:
            handle.target[:] = (R @ upright).ravel()


class LegBend:
    """Leads the legs by their joints to the posture that is kept: knees that are straight yield to either side.

    Meanwhile nothing is asked of what straight legs cannot do: height of the centre of mass and angular momentum.

    Args:
        posture: Its task, with its usual target and gains.
        com: The task of the centre of mass, with its usual gains.
        spin: That of the angular momentum.
        q0: (nq,) posture in which the robot begins.
        legs: (rows,) which rows of the posture are of legs.
    """

    def __init__(
        self, posture: TaskHandle, com: TaskHandle, spin: TaskHandle, q0: Array, legs: NDArray[np.bool_]
    ) -> None:
        self._posture, self._com, self._spin, self._q0, self._legs = posture, com, spin, q0, legs
        self._way = posture.target - q0
        self._usual = posture.scale[legs], posture.stiffness[legs], float(com.stiffness[2])
        self.free = 0.0
        """Share in which height and angular momentum lead the legs, 0…1."""

    def lead(self, settled: float) -> float:
        """Lead the joints; once they are there, hand over to the height of the centre of mass.

        Args:
            settled: Share of the time to settle, from 0.

        Returns:
            Share of the way from the first posture, 0…1.
        """
        if self.free == 1.0:
            return 1.0
        done = min(1.0, settled / _THERE)
        self.free = free = min(1.0, max(0.0, (settled - _THERE) / (1.0 - _THERE)))
        done = done**3 * (10.0 - 15.0 * done + 6.0 * done**2)
        scale, stiffness, height = self._usual
        self._posture.scale[self._legs] = scale * np.sqrt(_STIFF ** (1.0 - free))
        self._posture.stiffness[self._legs] = stiffness * (_FIRM + free * (1.0 - _FIRM))
        self._posture.target[:] = self._q0 + done * self._way
        self._com.stiffness[2], self._com.slack[2] = free * height, min(FREE, _FADE * (1.0 - free) / max(free, 1e-9))
        self._spin.set_activation(free)
        return done
