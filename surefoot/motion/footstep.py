"""`Footstep`: where a foot stands; `StepSource`: where the next ones go."""

from __future__ import annotations

from dataclasses import dataclass
from math import atan2
from typing import Protocol, runtime_checkable

from surefoot.arrays import Array, placement_matrix
from surefoot.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Footstep:
    """A foot on the ground.

    Args:
        foot: Name of the foot.
        T: T_world_foot (4, 4): origin in the middle of the sole, on the ground; z is the normal of the ground, x the
            forward direction of the robot.
    """

    foot: str
    T: Array

    def __post_init__(self) -> None:
        if not isinstance(self.foot, str) or not self.foot:
            raise ShapeError(f"a footstep needs the name of a foot, got {self.foot!r}")
        object.__setattr__(self, "T", placement_matrix(self.T, f"T of a footstep of `{self.foot}`"))

    @property
    def position(self) -> Array:
        """(3,) of the middle of the sole in world [m]."""
        return self.T[:3, 3]

    @property
    def yaw(self) -> float:
        """Heading about the vertical [rad], −π…π: 0 where x of the foot points along x of the world."""
        return atan2(self.T[1, 0], self.T[0, 0])


@runtime_checkable
class StepSource(Protocol):
    """Decides where to step. Pure and cheap: it is asked in the control loop, once a step."""

    def upcoming(self, t: float, support: Footstep, count: int) -> tuple[Footstep, ...]:
        """The next steps, with alternating feet.

        Args:
            t: Now, when a step begins [s].
            support: The foot that carries the robot in this step, where it really stands.
            count: Most steps to return; the first is that of the other foot.

        Returns:
            At most `count` steps; none: stop here.
        """
        ...
