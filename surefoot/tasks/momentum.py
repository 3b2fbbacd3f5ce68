"""Angular momentum about the centre of mass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.dynamics import centroidal_momentum_bias, centroidal_momentum_matrix
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task, masked, rows_of

__all__ = ["AngularMomentum"]

Numbers = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class AngularMomentum(Task):
    """Give the robot an angular momentum about its centre of mass, none if left out.

        l_C = A_ω(q) v        [tasks.momentum]   Buschmann 2014, section 5.3 (vertical part alone: mask "z")

    Args:
        name: Unique among the tasks.
        target: (3,) in world axes [N m s].
        mask: Rows that count, of "xyz"; all if left out.
        priority: See `Task`, and so for weight, gain, below and above (which are momenta here).
        weight: See `Task`.
        gain: Has no meaning here.
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

    @property
    def order(self) -> int:
        """1: a momentum is linear in the velocity."""
        return 1

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Newton metre seconds."""
        return (("N m s", len(self.kept)),)

    def numbers_of(self, target: Any) -> Numbers:
        """Momentum (3,).

        Args:
            target: As in the constructor.
        """
        return self.checked_target(target, (3,))

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """The target.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: (3,).
        """
        return masked(target, self.kept)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of the centroidal momentum matrix.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            target: (3,).
        """
        return masked(centroidal_momentum_matrix(robot.tree, q)[3:], self.kept)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Rows of its rate times v.

        Args:
            robot: The robot.
            q: (nq,) configuration.
            v: (nv,) velocity.
            target: (3,).
        """
        return masked(centroidal_momentum_bias(robot.tree, q, v)[3:], self.kept)
