"""Angular momentum about the centre of mass."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from surefoot.dynamics import centroidal_momentum_bias, centroidal_momentum_matrix
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import VectorTask, masked


@dataclass(frozen=True, eq=False)
class AngularMomentum(VectorTask):
    """Give the robot an angular momentum about its centre of mass, none if omitted.

        l_C = A_ω(q) v        [tasks.momentum]   Buschmann 2014, section 5.3 (vertical part alone: mask "z")

    Args:
        target: (3,) in world axes [N m s].
        mask: Rows that count, of "xyz"; all if omitted.
        name: Unique among the tasks; "angular_momentum" if omitted.
        priority: See `Task`, and so for weight, gain, below and above (which are momenta here).
        weight: See `Task`.
        gain: Has no meaning here.
        below: See `Task`.
        above: See `Task`.
        activation: See `Task`.
    """

    @property
    def order(self) -> int:
        """1: a momentum is linear in the velocity."""
        return 1

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        """Newton metre seconds."""
        return (("N m s", len(self.kept)),)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        """The target."""
        return masked(target, self.kept)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        """Rows of the centroidal momentum matrix."""
        return masked(centroidal_momentum_matrix(robot.tree, q)[3:], self.kept)

    def bias(self, robot: Robot, q: Array, v: Array, target: Array) -> Array:
        """Rows of its rate times v."""
        return masked(centroidal_momentum_bias(robot.tree, q, v)[3:], self.kept)
