"""`PredictiveIk`: inverse kinematics of a redundant arm that looks ahead; `LocalIk`, which does not."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.predictive.cost import LimitBand, Repulsion
from surefoot.ik.predictive.descent import DescentSettings, descend
from surefoot.ik.predictive.horizon import FreeStartProblem, HorizonProblem, SmoothProblem, Window
from surefoot.ik.predictive.kernels import SelfMotionModel, predictive_kernels
from surefoot.ik.predictive.motion import TaskRows
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Robot

Reference = Callable[[NDArray[Any]], tuple[Array, Array]]
"""Poses T_world_frame (N, 4, 4) and twists (N, 6), in world axes and linear first, at times (N,)."""
_FIRST_SIZE = 0.5  # the exact one where speed alone counts, with weight 1
_MOST_STEPS = 100  # of the default sampling


@dataclass(frozen=True)
class PredictiveWeights:
    """Weights of what a motion costs.

    Args:
        velocity: Of q'ᵀ q'.
        collision: Of the potentials of distances.
        limits: Of nearness to joint limits.
        change: Of the squared rate of the null-space velocity [s²]; only where that is the input.
    """

    velocity: float = 1.0
    collision: float = 1.0
    limits: float = 0.6
    change: float = 0.0

    def __post_init__(self) -> None:
        number(self.velocity, "weight of the velocity", positive=True)
        for what in ("collision", "limits", "change"):
            if not getattr(self, what) >= 0.0:
                raise ShapeError(f"weight `{what}` is negative", evidence={what: getattr(self, what)})


@dataclass(frozen=True)
class Following:
    """How a task is followed.

    Args:
        rows: Coordinates of the frame that are given, of its twist in world axes, linear first: (0, 1, 2) is position.
        gain: Rate at which errors are taken back [1/s].
        damping: Of the pseudoinverse, against singular postures [m or rad].
        limit_share: Width of the band in front of each joint limit, by the range of the joint.
    """

    rows: Sequence[int] = (0, 1, 2)
    gain: float = 10.0
    damping: float = 1e-3
    limit_share: float = 0.1


@dataclass(frozen=True, eq=False)
class Prediction:
    """A motion over a horizon.

    Args:
        time: (N + 1,) [s].
        q: (N + 1, n) postures [rad or m].
        v: (N, n) joint velocities in each step.
        u: (N, n) null-space velocities.
        costs: (steps + 1,) cost before and after every step of the descent.
    """

    time: Array
    q: Array
    v: Array
    u: Array
    costs: Array


class LocalIk:
    """Redundancy resolved in the moment: the null-space velocity is the negative gradient of the posture's cost.

        q' = J# (w'_d + K e) − (I − J# J) ∇H / w_v        [ik.local]   Liégeois 1977; Buschmann 2014, (5.14)

    Args:
        robot: A robot whose joints turn or slide.
        frame: The frame that is led.
        reference: Where it is led.
        weights: Of the cost.
        repulsion: Which volumes keep clear of each other.
        following: How the task is followed.

    Raises:
        NotSupportedError: A joint neither turns nor slides.
        UnknownNameError: The robot has no such frame.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        reference: Reference,
        weights: PredictiveWeights | None = None,
        repulsion: Repulsion | None = None,
        following: Following | None = None,
    ) -> None:
        _require_plain_joints(robot)
        how, repulsion = following or Following(), repulsion or Repulsion()
        task = TaskRows(frame_of(robot, frame), _rows(how.rows), number(how.gain, "gain", positive=True), how.damping)
        band = LimitBand(robot.limits.lower, robot.limits.upper, how.limit_share)
        self.robot, self.reference, self.weights = robot, reference, weights or PredictiveWeights()
        self.kernels = predictive_kernels(robot, SelfMotionModel(robot.tree, task, repulsion, band))
        self._obstacles = repulsion.obstacle_vertices()
        self._weights = np.array([self.weights.velocity, self.weights.collision, self.weights.limits])

    def step(self, t: float, q: ArrayLike, obstacles: ArrayLike | None = None) -> Array:
        """Joint velocities (n,) for this moment.

        Args:
            t: Time [s].
            q: (n,) posture.
            obstacles: (k, 3) vertices of the obstacles now, as in `Repulsion.obstacle_vertices`; where they were if
                omitted [m].
        """
        q = finite_array(q, (self.robot.nq,), "posture")
        pose, twist = (a[0] for a in self._sampled(np.array([t])))
        return np.asarray(self.kernels.local(q, pose, twist, self._vertices(obstacles, 1)[0], self._weights))

    def distances(self, q: ArrayLike, obstacles: ArrayLike | None = None) -> Array:
        """Distances of all pairs (N, pairs) [m].

        Args:
            q: (N, n) postures.
            obstacles: (k, 3) or (N, k, 3) vertices of the obstacles [m].
        """
        q = finite_array(q, (None, self.robot.nq), "postures")
        return np.asarray(self.kernels.distances(q, self._vertices(obstacles, len(q))))

    def _sampled(self, times: NDArray[Any]) -> tuple[Array, Array]:
        poses, twists = self.reference(times)
        if np.shape(poses) != (len(times), 4, 4) or np.shape(twists) != (len(times), 6):
            raise ShapeError(
                "the reference gives arrays of the wrong shape",
                evidence={"poses": np.shape(poses), "twists": np.shape(twists), "times": len(times)},
                next_step="return poses (times, 4, 4) and twists (times, 6)",
            )
        return np.ascontiguousarray(poses, dtype=float), np.ascontiguousarray(twists, dtype=float)

    def _vertices(self, obstacles: ArrayLike | None, steps: int) -> Array:
        """Vertices of the obstacles (steps, k, 3) through time."""
        shape = self._obstacles.shape
        if obstacles is None:
            found = self._obstacles
        elif np.ndim(obstacles) == 2:
            found = finite_array(obstacles, shape, "vertices of the obstacles")
        else:
            found = finite_array(obstacles, (steps, *shape), "vertices of the obstacles")
        return np.ascontiguousarray(np.broadcast_to(found, (steps, *shape)))


class HorizonOptions(TypedDict, total=False):
    """How a `PredictiveIk` looks ahead.

    Attributes:
        sampling: Length of a step of the prediction [s]; if omitted the cycle, or longer so that there are 100 steps.
        smooth: Continuous joint velocities; `weights.change` must be positive.
        settings: Of the descent in each cycle; one step if omitted.
    """

    sampling: float | None
    smooth: bool
    settings: DescentSettings | None


class PredictiveIk(LocalIk):
    """Redundancy resolved over a horizon, again in every cycle, with the last solution as first guess.

        ∫ (w_v q'ᵀ q' + w_c Σ H(d) + w_l …) dt → min,  q' = J# w'_e + (I − J# J) u        [ik.predictive]
        Schuetz, Buschmann, Baur, Pfaff & Ulbrich 2014; Buschmann 2014, section 5.6, Alg. 11 and 12

        ik = PredictiveIk(robot, "gripper", reference, horizon=2.0, dt=0.01, repulsion=Repulsion(pairs))
        q = q + 0.01 * ik.step(t, q)           # in a control loop
        ik.plan(0.0, q).v                      # one horizon, to the optimum

    With `smooth=True` the input is du/dt, so that joint velocities are continuous from cycle to cycle.

    Args:
        robot: A robot whose joints turn or slide.
        frame: The frame that is led.
        reference: Where it is led.
        horizon: How far it looks ahead [s].
        dt: Cycle of the control loop [s].
        weights: Of the cost.
        repulsion: Which volumes keep clear of each other.
        following: How the task is followed.
        **options: As in `HorizonOptions`.

    Raises:
        NotSupportedError: A joint neither turns nor slides.
        ShapeError: A number is not positive, or the gain is too large for the sampling.
        UnknownNameError: The robot has no such frame.
    """

    def __init__(
        self,
        robot: Robot,
        frame: str,
        reference: Reference,
        horizon: float,
        dt: float,
        weights: PredictiveWeights | None = None,
        repulsion: Repulsion | None = None,
        following: Following | None = None,
        **options: Unpack[HorizonOptions],
    ) -> None:
        super().__init__(robot, frame, reference, weights, repulsion, following)
        self.horizon, self.dt = number(horizon, "horizon", positive=True), number(dt, "cycle", positive=True)
        sampling, self.smooth = options.get("sampling"), options.get("smooth", False)
        wanted = max(self.dt, self.horizon / _MOST_STEPS) if sampling is None else sampling
        self.steps = max(1, round(self.horizon / number(wanted, "sampling", positive=True)))
        self.h = self.horizon / self.steps
        self.settings = options.get("settings") or DescentSettings()
        if self.smooth and not self.weights.change > 0.0:
            raise ShapeError("a smooth motion needs a positive weight of change")
        if self.h * self.kernels.model.task.gain >= 2.0:
            raise ShapeError(
                "the gain is too large for the steps of the prediction",
                evidence={"gain": self.kernels.model.task.gain, "step": self.h},
                next_step="make gain · sampling smaller than 2, better 1",
            )
        self.reset()

    def reset(self) -> None:
        """Forget the last solution."""
        self._x: Array = np.zeros((self.steps, self.robot.nv))
        self._u: Array = np.zeros(self.robot.nv)
        self._size = _FIRST_SIZE / self.weights.velocity
        self.costs: Array = np.zeros(0)

    def step(self, t: float, q: ArrayLike, obstacles: ArrayLike | None = None) -> Array:
        """Joint velocities (n,) until the next cycle: the first ones of the best motion on the horizon.

        They are meant to be applied at once (Alg. 12 plans from the next cycle on, since planning takes it a cycle).
        """
        problem = self._problem(t, q, obstacles)
        found = descend(problem, self._x, self.settings, self._size)
        u = problem.velocities(found.x)
        self._x, self._size, self.costs = _shifted(found.x, self.dt / self.h), found.size, found.costs
        self._u = _shifted(u, self.dt / self.h)[0]
        return np.asarray((found.postures[1] - found.postures[0]) / self.h)

    def plan(
        self,
        t: float,
        q0: ArrayLike,
        obstacles: ArrayLike | None = None,
        free_start: bool = False,
        settings: DescentSettings | None = None,
        u: ArrayLike | None = None,
    ) -> Prediction:
        """The best motion on one horizon; what the control loop remembers is left alone.

        Args:
            t: Time at the start [s].
            q0: (n,) posture at the start.
            obstacles: As in `step`.
            free_start: The self-motion at the start is free as well: the global optimum, if it is found.
            settings: Of the descent; up to 300 steps if omitted.
            u: (steps, n) null-space velocities to begin with; zero if omitted. Not for smooth motions.
        """
        settings = settings or DescentSettings(iterations=300, tolerance=1e-7, refine=True)
        if self.smooth and (free_start or u is not None):
            raise NotSupportedError("a smooth motion starts from the given posture and from rates of zero")
        problem = (
            FreeStartProblem(self.kernels, self._window(t, q0, obstacles))
            if free_start
            else self._problem(t, q0, obstacles, fresh=True)
        )
        x = np.zeros((self.steps, self.robot.nv)) if u is None else finite_array(u, self._x.shape, "velocities")
        if free_start:
            x = problem.settled(np.concatenate([problem.window.q[None], x]))
        found = descend(problem, x, settings, _FIRST_SIZE / self.weights.velocity)
        time = np.asarray(t + self.h * np.arange(self.steps + 1), dtype=float)
        rates = np.diff(found.postures, axis=0) / self.h
        return Prediction(time, found.postures, rates, problem.velocities(found.x), found.costs)

    def _window(self, t: float, q: ArrayLike, obstacles: ArrayLike | None) -> Window:
        q = finite_array(q, (self.robot.nq,), "posture")
        pose, twist = self._sampled(t + self.h * np.arange(self.steps))
        return Window(q, pose, twist, self._vertices(obstacles, self.steps), self._weights, self.h)

    def _problem(self, t: float, q: ArrayLike, obstacles: ArrayLike | None, fresh: bool = False) -> HorizonProblem:
        window = self._window(t, q, obstacles)
        if self.smooth:
            u = np.zeros(self.robot.nv) if fresh else self._u
            return SmoothProblem(self.kernels, window, u, self.weights.change)
        return HorizonProblem(self.kernels, window)


def _shifted(x: Array, steps: float) -> Array:
    """Rows (N, n) as they are some steps later; between two rows in proportion, beyond the end the last one."""
    place = np.minimum(np.arange(len(x)) + steps, len(x) - 1.0)
    first = place.astype(int)
    second, part = np.minimum(first + 1, len(x) - 1), (place - first)[:, None]
    return (1.0 - part) * x[first] + part * x[second]


def _rows(rows: Sequence[int]) -> tuple[int, ...]:
    found = tuple(int(row) for row in rows)
    if not found or len(set(found)) < len(found) or not set(found) <= set(range(6)):
        raise ShapeError("rows of a task must be distinct numbers from 0 to 5", evidence={"rows": list(rows)})
    return found


def _require_plain_joints(robot: Robot) -> None:
    others = sorted(set(robot.tree.kinds) - {"revolute", "prismatic", "helical"})
    if others:
        raise NotSupportedError(
            f"`{robot.name}` has joints that neither turn nor slide between limits",
            evidence={"kinds": others},
            next_step="fix the base and those joints",
        )
