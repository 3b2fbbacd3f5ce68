"""What tasks with rows for joints have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

import numpy as np

from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.joint_rows import JointRows, joint_rows
from surefoot.tasks.task import Task

__all__ = ["JointTask", "measures_of"]


def measures_of(units: Sequence[str]) -> tuple[tuple[str, int], ...]:
    """Measures of rows with these units.

    Args:
        units: Of every row.
    """
    return tuple((unit, len(list(run))) for unit, run in groupby(units))


@dataclass(frozen=True, eq=False)
class JointTask(Task):
    """Rows that are joints."""

    robot: Robot = field(kw_only=False)

    def __post_init__(self) -> None:
        _ = self.measures  # refuse wrong joints now
        super().__post_init__()

    @cached_property
    def joint_rows(self) -> JointRows:
        """The joints of the rows."""
        return joint_rows(self.robot, getattr(self, "joints", None))

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Radians, metres for joints that slide."""
        return measures_of(self.joint_rows.units)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Ones where a row has its joint.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: Its numbers.
        """
        return self.joint_rows.selection(robot.nv)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Zero.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            v: (nv,) velocity.
            target: Its numbers.
        """
        return np.zeros(self.rows)
