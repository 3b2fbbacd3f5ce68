"""`AvoidingStepper`: a stepper that keeps volumes apart, before all tasks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.collision import CollisionModel
from surefoot.errors import ShapeError
from surefoot.ik.avoidance_damper import VelocityDamper
from surefoot.ik.stepper import Stepper
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.tasks import Task

__all__ = ["AvoidingStepper"]

Numbers = NDArray[np.float64]
_STILL = 1e-6  # [m/rad]: pairs whose distance changes less than that with the joints are left alone
_WEAK, _SLOW = 4e-3, 1.0  # [m/rad], [rad/s]: where it changes less than that, joints may always move slowly
_AWAY = 0.2  # [rad/s]: joints need not be faster than that to lead pairs away that are too near


@dataclass(frozen=True, eq=False)
class _NearestPairs(Task):
    """Rows that are filled in at every tick, on a level of their own before all others."""

    count: int = 1
    nv: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "priority", -1)
        object.__setattr__(self, "above", np.inf)

    @cached_property
    def measures(self) -> tuple[tuple[str, int], ...]:
        return (("m", self.count),)

    def numbers_of(self, target: Any) -> Numbers:
        return np.zeros(0)

    def error(self, robot: Robot, q: Array, target: Array) -> Array:
        return np.zeros(self.count)

    def jacobian(self, robot: Robot, q: Array, target: Array) -> Array:
        return np.zeros((self.count, self.nv))


class AvoidingStepper(Stepper):
    """Velocity-level inverse kinematics that hits nothing: the approach of the nearest pairs slows down.

        model = sf.collision.CollisionModel(robot, world)
        stepper = AvoidingStepper(robot, tasks, 0.005, model, VelocityDamper(influence=0.06, security=0.01, speed=0.5))

    The velocity dampers (Faverjon & Tournassoud 1987) of the pairs that the least motion of the joints brings together
    are a level of their own, below the bounds of the joints and above all tasks. Pairs that begin nearer than the
    security distance are kept from coming nearer than they were at the first tick. With limits of acceleration, pairs
    beyond the influence distance count as soon as joints have to brake. Where joints cannot brake in time after all
    (a distance that falls faster as they turn), bounds of the joints go first.

    Args:
        robot: The robot.
        tasks: The tasks.
        dt: Length of a tick [s].
        model: What must not touch; obstacles may be changed between ticks (`stepper.model = model.moved(…)`).
        damper: How the approach slows down, and how many pairs are looked at.
        **options: As in `Stepper`.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        dt: float,
        model: CollisionModel,
        damper: VelocityDamper,
        **options: Any,
    ) -> None:
        if model.robot is not robot:
            raise ShapeError("the collision model belongs to another robot", evidence={"robot": model.robot.name})
        if damper.longest_step < dt:
            raise ShapeError(
                "the damper is too fast for this tick: distances could be passed in one",
                evidence={"tick [s]": dt, "longest [s]": damper.longest_step},
                next_step="give a lower speed, or a larger influence distance",
            )
        rows = _NearestPairs(" nearest pairs", count=damper.nearest, nv=robot.nv)
        super().__init__(robot, [rows, *tasks], dt, **options)
        self._damping = (0.0, *self._damping[1:])  # inequalities have no direction that could become singular
        self.model, self.damper = model, damper
        self._brake = float(self._rows.limits.acceleration.min())

    def reset(self, q: ArrayLike, time: float = 0.0) -> None:
        """Begin anew, at rest; the next tick tells how near pairs may be that are nearer than the security distance.

        Args:
            q: (nq,) configuration.
            time: [s].
        """
        super().reset(q, time)
        self._first: Numbers | None = None

    def _problem(self, q: Numbers) -> StackedHierarchy:
        problem = super()._problem(q)
        rows, lower = self._most_urgent(q)
        k, last = len(rows), self.damper.nearest
        problem.A[:k], problem.lower[:k] = rows, lower
        problem.A[k:last], problem.lower[k:last] = 0.0, -np.inf
        return problem

    def _most_urgent(self, q: Numbers) -> tuple[Numbers, Numbers]:
        """Rows with lower ends [m/s], of the pairs that the least motion of the joints brings together."""
        columns, allowed = self._in_reach(q)
        found = self.model.proximity(q, columns)
        rows = found.gradient @ self._rows.motion.S
        length, room = np.linalg.norm(rows, axis=1), found.distance - allowed
        lever = np.maximum(length, _STILL)
        pace = np.maximum(-(rows @ self._last), 0.0) / lever
        left = room / lever - pace * (self.dt + pace / (2.0 * self._brake))  # where joints come to rest
        chosen = np.argsort(np.where(length > _STILL, left, np.inf), kind="stable")[: self.damper.nearest]
        chosen = chosen[length[chosen] > _STILL]
        return rows[chosen], -self._fastest(room[chosen], length[chosen], allowed[chosen])

    def _in_reach(self, q: Numbers) -> tuple[NDArray[np.intp], Numbers]:
        """Pairs within the influence distance, or as near to it as their approach needs to slow down; least distances.

        Joints that brake as hard as they may take |u| / (2 a) times their approach; and a tick passes until then.
        """
        distances = self.model.distances(q)
        if self._first is None:
            self._first = self._before = distances
        approach = np.maximum(self._before - distances, 0.0) / self.dt
        self._before = distances
        limited = np.isfinite(self._rows.limits.acceleration)
        braking = np.abs(self._last[limited]).max(initial=0.0) / (2.0 * self._brake)
        columns = np.flatnonzero(distances < self.damper.influence + approach * (2.0 * self.dt + braking))
        return columns, np.minimum(self._first[columns], self.damper.security)

    def _fastest(self, room: Numbers, length: Numbers, allowed: Numbers) -> Numbers:
        """Largest approach (k,) [m/s] of pairs that have room [m] and change by a length [m/rad] with the joints.

        It is that of the damper inside the influence distance, and outside as much more as joints can brake until
        there; and from it they can stop within the room.
        """
        damper = self.damper
        wide = damper.influence - allowed
        outside = np.maximum(room - wide, 0.0)
        approach = damper.speed * np.minimum(room / wide, 1.0) + length * self._stopping(outside / length)
        least = np.where(length < _WEAK, _SLOW * (1.0 - length / _WEAK), -_AWAY)
        return np.maximum(np.minimum(approach, length * self._stopping(room / length)), least * length)

    def _stopping(self, way: Numbers) -> Numbers:
        """The largest rates [rad/s] from which the joints can stop within a way [rad], as in `JointBounds`."""
        way = np.maximum(way, 0.0)
        if not np.isfinite(self._brake):
            return way / self.dt
        return np.asarray(2.0 * way / (np.sqrt(self.dt**2 + 2.0 * way / self._brake) + self.dt))
