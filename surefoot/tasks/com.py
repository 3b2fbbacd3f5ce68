"""Where the centre of mass is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from surefoot.kinematics import com, com_bias, com_jacobian
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import VectorTask, masked


@dataclass(frozen=True, eq=False)
class CenterOfMass(VectorTask):
    """Put the centre of mass somewhere.

    Args:
        target: (3,) in world [m].
        mask: Rows that count, of "xyz"; all if omitted.
        name: Unique among the tasks; "com" if omitted.
        priority: See `Task`, and so for weight, gain, below and above.
        weight: See `Task`.
        gain: See `Task`.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    @property
    def default_name(self) -> str:
        """Short for centre of mass."""
        return "com"

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Metres."""
        return (("m", len(self.kept)),)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """Target − centre of mass."""
        return masked(target - com(robot.tree, q), self.kept)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of the Jacobian of the centre of mass."""
        return masked(com_jacobian(robot.tree, q), self.kept)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Rows of J̇ v."""
        return masked(com_bias(robot.tree, q, v), self.kept)
