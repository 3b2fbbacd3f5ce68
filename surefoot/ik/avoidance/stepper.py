"""`AvoidingStepper`: a stepper that keeps volumes apart, before all tasks.

Rows of a tick that keep pairs apart: dampers where the robot is, and the same pairs where it would come to rest.

The dampers (Faverjon & Tournassoud 1987) slow approach down inside the influence distance. The other rows ask that
pairs are apart still where all joints have come to rest,

    d(q_i) + g(q_i) · (u t_i − u' t'_i) ≥ d_s        [ik.damper-ahead]

linear about postures q_i = q ⊕ u' t'_i on the way that braking takes from a velocity u' that is known (the last one, or
one that was tried): what the distance does on that way, however fast it falls there, is in d(q_i) already. That a way
to brake is kept free at any time is the idea of backup barrier functions (Gurriet, Mote, Singletary, Nilsson, Feron &
Ames 2020). No row asks for more than braking gives, so that all of them can be kept together.
"""

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
from surefoot.ik.avoidance.braking import Braking, BrakingPath
from surefoot.ik.avoidance.damper import VelocityDamper
from surefoot.ik.stepper import Stepper, StepResult
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.solvers.hierarchy import StackedHierarchy
from surefoot.tasks import Task

Indices = NDArray[np.intp]
_STILL = 1e-6  # [m/rad]: pairs whose distance changes less than that with the joints are left alone
_AWAY = 0.2  # [rad/s]: joints need not be faster than that to lead pairs away that are too near
_LOST = 1e-6  # [m]: a tick may lose that against braking, where there is more than is needed
_BUFFER = 6e-4  # [m]: more than is needed in rows about it, for what is not linear
_CLOSE = 0.3  # of both for pairs that began too near: they have no more than the give


@dataclass(eq=False)
class AvoidanceRows:
    """The rows of one tick: row @ u ≥ lower, at most `damper.nearest` of either kind.

    Args:
        model: What must not touch.
        damper: How approach slows down.
        S: (nv, k) motions of all joints for unit values of u.
        dt: Length of a tick [s].
        allowed: (pairs,) the least distances [m].
        path: The way that braking takes from now on.
        braked: The same after a tick in which joints brake.
    """

    model: CollisionModel
    damper: VelocityDamper
    S: Array
    dt: float
    allowed: Array
    path: BrakingPath
    braked: BrakingPath

    def __post_init__(self) -> None:
        self._share = np.where(self.allowed < self.damper.security, _CLOSE, 1.0)
        columns, slopes = self._most_urgent()
        self.now = slopes, self._slowed(columns, slopes)
        self.ahead = self._at_rest(self.braked, columns)

    def filled(self) -> tuple[Array, Array]:
        """Rows (2 nearest, k) and lower ends [m/s]; those that are not needed are zero and −inf."""
        count = self.damper.nearest
        A, lower = np.zeros((2 * count, self.S.shape[1])), np.full(2 * count, -np.inf)
        for start, (rows, ends) in ((0, self.now), (count, self.ahead)):
            A[start : start + len(rows)], lower[start : start + len(rows)] = rows, ends
        return A, lower

    def short(self, path: BrakingPath, spare: float) -> NDArray[np.bool_]:
        """(pairs,) which of them come too near, now or later, if a tick with another velocity goes before braking.

        Where braking at once comes nearer than is allowed, it need only be no worse. From beyond the influence
        distance, no pair gets farther than half way to its least distance in one tick.

        Args:
            path: The way from the end of that tick.
            spare: By how much more than is allowed they shall be apart [m]; may be negative.
        """
        least = self.path.least
        braking = np.maximum(least - _LOST, np.minimum(self.allowed, least - 1e-9))
        outside = self.path.distances[0] > self.damper.influence
        floor = np.where(outside, 0.5 * (self.allowed + self.damper.influence), self.allowed)
        too_near = path.least < np.minimum(self.allowed + self._share * spare, braking)
        return np.asarray(too_near | (path.distances[0] < np.minimum(floor, braking)))

    def tighten(self, path: BrakingPath, columns: Indices) -> None:
        """Add rows about a velocity that led too near; the idlest go if they become too many.

        Args:
            path: The way after a tick with it.
            columns: Pairs that are too near there.
        """
        rows, lower = (np.concatenate(both) for both in zip(self._at_rest(path, columns), self.ahead, strict=True))
        keep = np.sort(np.argsort(rows @ path.u - lower, kind="stable")[: self.damper.nearest])
        self.ahead = rows[keep], lower[keep]

    # -- rows -----------------------------------------------------------------------------------------------------

    def _most_urgent(self) -> tuple[Indices, Array]:
        """Pairs that the least motion brings together until rest, and their rows at the present posture."""
        least = self.path.least
        columns = np.flatnonzero(least < self.damper.influence)
        rows = self.model.gradients(self.path.postures[0], columns) @ self.S
        length = np.linalg.norm(rows, axis=1)
        left = (least - self.allowed)[columns] / np.maximum(length, _STILL)
        order = np.argsort(np.where(length > _STILL, left, np.inf), kind="stable")[: self.damper.nearest]
        chosen = np.sort(order[length[order] > _STILL])
        return columns[chosen], rows[chosen]

    def _slowed(self, columns: Indices, rows: Array) -> Array:
        """Lower ends of the rows of pairs where they are now: approach slows down; what is too near moves away."""
        lower = (self._next_floor() - self.path.distances[0])[columns] / self.dt
        inside = self.path.distances[0, columns] >= self.allowed[columns]
        away = np.minimum(lower, _AWAY * np.linalg.norm(rows, axis=1))
        return np.where(inside, np.minimum(lower, rows @ self.braked.u), away)

    def _next_floor(self) -> Array:
        """(pairs,) what the dampers let distances fall to in a tick [m]; from beyond the influence distance, to it."""
        damper, now = self.damper, self.path.distances[0]
        share = np.minimum((now - self.allowed) / (damper.influence - self.allowed), 1.0)
        return np.asarray(np.minimum(now, damper.influence) - self.dt * damper.speed * share)

    def _at_rest(self, path: BrakingPath, columns: Indices) -> tuple[Array, Array]:
        """Rows and lower ends of pairs at the posture of a path where they are nearest, as rates until there."""
        worst = np.argmin(path.distances[:, columns], axis=0)
        samples, at = np.unique(worst, return_inverse=True)
        gradients = self.model.gradients(path.postures[samples], columns)[at, np.arange(len(columns))]
        time = self.dt * (1.0 + path.ticks[worst])
        rows = gradients @ self.S * path.slopes[worst] / time[:, None]
        wanted = (
            self.allowed[columns] + self._share[columns] * _BUFFER - path.distances[worst, columns]
        ) / time + rows @ path.u
        return rows, np.minimum(wanted, rows @ self.braked.u)


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
    keep where the joints would come to rest, are a level of their own, below the bounds
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
                "the damper is too fast for this tick: a pair could cross its distance in one tick",
                evidence={"tick [s]": dt, "longest [s]": damper.longest_step},
                next_step="give a lower speed, or a larger influence distance",
            )
        self.model, self.damper = model, damper
        rows = _NearestPairs(name=" nearest pairs", count=2 * damper.nearest, nv=robot.nv)
        super().__init__(robot, [rows, *tasks], dt, **options)
        self._braking = Braking(self._rows)

    def reset(self, q: ArrayLike, time: float = 0.0) -> None:
        """Begin anew, at rest; the next tick decides how near pairs inside the security distance may come.

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
            q: (nq,) configuration, float64; where the last tick ended if omitted.
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
        """Steps before a tick is solved again: rows, then joints that brake, at last a full stop of all."""
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
            raise ShapeError("rows of a tick exist only while it is being solved")
        return self._limits

    @property
    def _within(self) -> float:
        return self.damper.influence + _BEYOND
