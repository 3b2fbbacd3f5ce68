"""Where the centre of mass is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.kinematics import com, com_bias, com_jacobian
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task, masked, rows_of

__all__ = ["CenterOfMass"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class CenterOfMass(Task):
    """Put the centre of mass somewhere.

    Args:
        name: Unique among the tasks.
        target: (3,) in world [m].
        mask: Rows that count, of "xyz"; all if left out.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
    """

    target: ArrayLike = (0.0, 0.0, 0.0)
    mask: Sequence[bool] | str | None = None

    def __post_init__(self) -> None:
        _ = self.kept, self.numbers  # refuse wrong ones now
        super().__post_init__()

    @cached_property
    def kept(self) -> tuple[int, ...]:
        """Rows that count."""
        return rows_of(self.mask, "xyz", f"task `{self.name}`")

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres."""
        return (("m", len(self.kept)),)

    def numbers_of(self, target: Any) -> Numbers:
        """Position (3,).

        Args:
            target: As in the constructor.
        """
        return self.checked_target(target, (3,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Target − centre of mass.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: (3,).
        """
        return masked(target - com(robot.tree, q), self.kept)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of the Jacobian of the centre of mass.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: (3,).
        """
        return masked(com_jacobian(robot.tree, q), self.kept)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Rows of J̇ v.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            v: (nv,) velocity.
            target: (3,).
        """
        return masked(com_bias(robot.tree, q, v), self.kept)
