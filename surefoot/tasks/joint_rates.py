"""Speeds and accelerations of joints as tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array as Numbers
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.joint_task import JointTask, joint_rows, measures_of


@dataclass(frozen=True, eq=False)
class _JointRates(JointTask):
    """A target for a rate of joints: its order decides which."""

    target: ArrayLike = 0.0
    joints: Sequence[str] | None = None

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Radians and metres, per second or per second squared."""
        per = "/s" if self.order == 1 else "/s²"
        return measures_of([f"{unit}{per}" for unit in self.joint_rows.units])

    def numbers_of(self, target: Any) -> Numbers:
        """Rates (rows,)."""
        values = np.full(self.rows, target) if np.ndim(target) == 0 else target
        return self.checked_target(values, (self.rows,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """The target."""
        return target


@dataclass(frozen=True, eq=False)
class JointSpeeds(_JointRates):
    """Give joints speeds; with margins, keep their speeds inside them.

        JointSpeeds(robot)                                          # stand still
        JointSpeeds.limits(robot, share=0.8)                        # |v| ≤ 0.8 v_max

    Args:
        robot: The robot.
        target: (rows,) [rad/s] or [m/s], or one number for all.
        joints: Joints that count; all but the base if omitted.
        name: Unique among the tasks; "joint_speeds" if omitted.
        priority: See `Task`, and so for weight, gain, below and above (which are speeds here).
        weight: See `Task`.
        gain: Has no meaning here.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    @classmethod
    def limits(cls, robot: Robot, share: float = 1.0, **options: Any) -> JointSpeeds:
        """Keep all joints below a share of their speed limits.

        Args:
            robot: The robot.
            share: Of the limits.
            **options: Further arguments of the constructor.
        """
        rows = joint_rows(robot, options.get("joints")).v
        most = share * robot.limits.velocity[list(rows)]
        return cls(robot, **({"below": most, "above": most} | options))

    @property
    def order(self) -> int:
        """1: it asks for a velocity."""
        return 1


@dataclass(frozen=True, eq=False)
class JointAccelerations(_JointRates):
    """Give joints accelerations; with margins, keep their accelerations inside them.

        JointAccelerations(robot)                                   # keep the speeds
        JointAccelerations.limits(robot, 20.0)                      # |a| ≤ 20 rad/s²

        target − below ≤ a ≤ target + above        [tasks.accelerations]

    At velocity level it is a bound on the change since the last tick: a = (v − v_last) / dt. A joint that has to stop
    somewhere needs room for it: together with `JointLimits` on one priority, let its gain be at most a / v.

    Args:
        robot: The robot.
        target: (rows,) [rad/s²] or [m/s²], or one number for all.
        joints: Joints that count; all but the base if omitted.
        name: Unique among the tasks; "joint_accelerations" if omitted.
        priority: See `Task`, and so for weight, gain, below and above (which are accelerations here).
        weight: See `Task`.
        gain: Has no meaning here.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    @classmethod
    def limits(cls, robot: Robot, most: ArrayLike, **options: Any) -> JointAccelerations:
        """Keep the accelerations of joints small.

        Args:
            robot: The robot.
            most: The largest: (rows,) or one number for all, inf for none [rad/s²] or [m/s²].
            **options: Further arguments of the constructor.
        """
        return cls(robot, **({"below": most, "above": most} | options))

    @property
    def order(self) -> int:
        """2: it asks for an acceleration."""
        return 2
