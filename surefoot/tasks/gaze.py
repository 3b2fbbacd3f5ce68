"""Look at a point."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.errors import ShapeError
from surefoot.kinematics import frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task

_NEAR = 1e-6  # [m]: a point in the eye itself has no direction


@dataclass(frozen=True, eq=False)
class Gaze(Task):
    """Turn an axis of a frame to a point.

        e = −2 (a · d, b · d) / √(2 (1 + c · d)),   d from the frame's origin to the point        [tasks.gaze]

    with a, b, c the frame's axes of which c looks. |e| = 2 sin(angle / 2): that is the angle for small ones, and there
    is no maximum before the point is behind.

    Args:
        frame: The frame that looks, a camera for instance.
        target: (3,) the point in world [m].
        axis: (3,) in the frame: where it looks; z if omitted.
        name: Unique among the tasks; "gaze" if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    frame: str
    target: ArrayLike = (1.0, 0.0, 0.0)
    axis: ArrayLike = (0.0, 0.0, 1.0)

    def _check(self) -> None:
        _ = self._axes
        super()._check()

    @cached_property
    def _axes(self) -> Numbers:
        """(3, 3) rows a, b, c in the frame."""
        c = self.checked_target(self.axis, (3,))
        if float(np.linalg.norm(c)) < 1e-9:
            raise ShapeError(f"axis of task `{self.name}` is zero")
        c = c / np.linalg.norm(c)
        a = np.cross(np.eye(3)[int(np.argmin(np.abs(c)))], c)
        a = a / np.linalg.norm(a)
        return np.array([a, np.cross(c, a), c])

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Radians."""
        return (("rad", 2),)

    def numbers_of(self, target: Any) -> Numbers:
        """The point (3,)."""
        return self.checked_target(target, (3,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Angles about the two axes across the line of sight."""
        T = frame_placement(robot.tree, frame_of(robot, self.frame), q)
        way = self._axes @ (T[:3, :3].T @ (target - T[:3, 3]))
        d = way / ops.sqrt(way @ way + _NEAR**2)
        return -2.0 * d[:2] / ops.sqrt(2.0 * ops.maximum(1.0 + d[2], 1e-9))
