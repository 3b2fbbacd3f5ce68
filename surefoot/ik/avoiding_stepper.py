"""`AvoidingStepper`: a stepper that keeps volumes apart, before all tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array as Numbers
from surefoot.collision import CollisionModel
from surefoot.errors import ShapeError
from surefoot.ik.avoidance_braking import Braking, BrakingPath
from surefoot.ik.avoidance_damper import VelocityDamper
from surefoot.ik.avoidance_rows import AvoidanceRows
from surefoot.ik.stepper import Stepper, StepResult
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.tasks import Task

__all__ = ["AvoidingStepper"]

_TRIES = 3  # velocities that are looked at before the rest is braking
_SHARES = (0.6, 0.2, 0.05)  # of the way from braking to the velocity that was found
_SPARE = 2e-4  # [m]: for what lies between samples of the way; asked for at first, and spent before joints must brake
_BEYOND = 0.01  # [m]: distances are exact so far beyond the influence distance


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
    """Velocity-level inverse kinematics that hits nothing: pairs slow down, and joints can always brake in time.

        model = sf.collision.CollisionModel(robot, world)
        stepper = AvoidingStepper(robot, tasks, 0.005, model, VelocityDamper(influence=0.06, security=0.01, speed=0.5))

    The velocity dampers of the pairs that the least motion of the joints brings together, and the distances that they
    keep where the joints would come to rest (`surefoot.ik.avoidance_rows`), are a level of their own, below the bounds
    of the joints and above all tasks. Then the way until rest is looked at, with the velocity that was found: if any
    pair comes too near on it, rows about that posture are added and the tick is solved again; and if that does not
    help, the velocity gives way to braking as far as it must. As long as nothing but the robot moves, there is a way to
    brake at each tick that keeps all distances: to 0.2 mm, which are spent before joints must brake, and to what lies
    between the postures that are looked at on the way.

    Pairs that begin nearer than the security distance may come nearer by no more than `damper.give`.

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
        self.model, self.damper = model, damper
        rows = _NearestPairs(" nearest pairs", count=2 * damper.nearest, nv=robot.nv)
        super().__init__(robot, [rows, *tasks], dt, **options)
        self._braking = Braking(self._rows)

    def reset(self, q: ArrayLike, time: float = 0.0) -> None:
        """Begin anew, at rest; the next tick tells how near pairs may be that are nearer than the security distance.

        Args:
            q: (nq,) configuration.
            time: [s].
        """
        super().reset(q, time)
        self._allowed: Numbers | None = None
        self._ahead: tuple[CollisionModel, BrakingPath] | None = None
        self._limits: AvoidanceRows | None = None

    def step(self, q: Numbers | None = None) -> StepResult:
        """The velocity for the next dt, from which all pairs can stop in time; as in `Stepper`.

        Args:
            q: (nq,) configuration, float64; where the last tick ended if left out.
        """
        start, self._limits, before = self.q if q is None else q, None, (self.q, self._last, self.time)
        for k, give_way in enumerate(self._attempts()):
            give_way()
            self.q, self._last, self.time = before
            found = super().step(q)
            self._tried = self._braking.path(self.model, start, self._last, self._within)
            self._short = self._avoided.short(self._tried, _SPARE * max(1.0 - k, -1.0))
            if not self._short.any():
                break
        self._ahead = self.model, self._tried
        return found

    def _attempts(self) -> Iterator[Callable[[], None]]:
        """What is done before a tick is solved once more: rows, then joints that brake, at last a full stop of all."""
        self._held = np.zeros(0, dtype=np.intp), np.zeros(0)
        yield lambda: None
        for _ in range(_TRIES - 1):
            yield lambda: self._avoided.tighten(self._tried, np.flatnonzero(self._short))
        wanted, braked = self._tried.u, self._avoided.braked.u
        for share in _SHARES:
            yield partial(self._hold, self._braking.slow, braked + share * (wanted - braked))
        yield partial(self._hold, np.arange(len(braked)), braked)

    def _hold(self, motions: NDArray[np.intp], u: Numbers) -> None:
        self._held = motions, u[motions]

    def _level_damping(self, without: frozenset[int]) -> tuple[float, ...]:
        """Inequalities have no direction that could become singular."""
        return (0.0, *super()._level_damping(without)[1:])

    def _problem(self, q: Numbers) -> StackedHierarchy:
        problem = super()._problem(q)
        if self._limits is None:
            self._limits = self._rows_from(q)
        count = 2 * self.damper.nearest
        A, lower = self._avoided.filled()
        scale = self._settings[0, :count]
        problem.A[:count], problem.lower[:count] = scale[:, None] * A, scale * lower
        motions, u = self._held
        problem.lower[problem.rows + motions] = problem.upper[problem.rows + motions] = u
        return problem

    def _rows_from(self, q: Numbers) -> AvoidanceRows:
        path = self._way_to_rest(q)
        if self._allowed is None:
            self._allowed = self.damper.allowed(path.distances[0])
        braked = self._braking.after_braking(path)
        return AvoidanceRows(self.model, self.damper, self._rows.motion.S, self.dt, self._allowed, path, braked)

    def _way_to_rest(self, q: Numbers) -> BrakingPath:
        """If braking begins now: known from the last tick, unless the robot or an obstacle is elsewhere."""
        if self._ahead is not None:
            model, path = self._ahead
            if model is self.model and np.array_equal(path.postures[0], q):
                return path
        return self._braking.from_now(self.model, np.asarray(q, dtype=float), self._last, self._within)

    @property
    def _avoided(self) -> AvoidanceRows:
        """The rows of this tick."""
        if self._limits is None:
            raise ShapeError("rows of a tick are there only while it is solved")
        return self._limits

    @property
    def _within(self) -> float:
        return self.damper.influence + _BEYOND
