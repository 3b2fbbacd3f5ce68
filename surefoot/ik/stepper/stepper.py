"""`Stepper`: inverse kinematics for control loops, one velocity per tick."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import ShapeError, one_of
from surefoot.ik.position import FreeMotion, free_motion
from surefoot.ik.stepper.fade import Fade, FadingSolver, fading_groups
from surefoot.ik.stepper.rows import SETTINGS, JointBounds, StepperRows
from surefoot.robot import Robot
from surefoot.solvers.hierarchy import Optimum, StackedHierarchy
from surefoot.tasks import Task, require_activation

METHODS = ("hierarchy", "weighted")


@dataclass(frozen=True, eq=False)
class StepResult:
    """One tick.

    Args:
        v: (nv,) velocity for this tick.
        q_next: (nq,) configuration at its end.
        time: Time at its beginning [s].
        optimum: What the solver found.
        problem: The rows of this tick as the tasks want them, scaled by the roots of the weights.
        rows: Which rows each task has.
        scale: (rows,) roots of the weights.
    """

    v: Array
    q_next: Array
    time: float
    optimum: Optimum
    problem: StackedHierarchy
    rows: dict[str, slice]
    scale: Array

    def violation(self, name: str) -> Array:
        """How far J v of a task lies above (+) or below (−) what it asks for (rows,), as a rate of its value."""
        if name not in self.rows:
            raise one_of("task", name, self.rows)
        at = self.rows[name]
        values = self.optimum.values[at]
        outside = values - np.minimum(np.maximum(values, self.problem.lower[at]), self.problem.upper[at])
        return outside / np.where(self.scale[at] > 0.0, self.scale[at], 1.0)

    @property
    def bounds_active(self) -> NDArray[np.int64]:
        """For every free motion: +1 at its upper bound, −1 at its lower one, 0 between."""
        return self.optimum.sides[self.problem.rows :]

    @property
    def passes(self) -> int:
        """How many sets of binding inequalities were tried; 1: the last tick's was right."""
        return self.optimum.passes

    @property
    def damped(self) -> int:
        """Number of directions that were damped."""
        return self.optimum.damped


class BoundOptions(TypedDict, total=False):
    """Which joints of a `Stepper` move, and their bounds.

    Attributes:
        joints: Joints that may move; all if omitted.
        limits: Whether position limits are kept; they are if omitted.
        margin: Distance that is kept from position limits [rad] or [m].
        speed_share: Which share of the robot's speed limits may be used; inf: there are none.
        acceleration: Largest acceleration: one for each free motion, or a number for all joints with one axis; inf:
            there is none. With it, joints brake in time.
    """

    joints: Sequence[str] | None
    limits: bool
    margin: float
    speed_share: float
    acceleration: ArrayLike


class Stepper:
    """Velocity-level inverse kinematics, tick by tick: strict priorities, joint limits that hold, smooth changes.

        stepper = Stepper(robot, [Contact(…), CenterOfMass(…, priority=1), Posture(…, priority=2)], dt=1e-3)
        found = stepper.step(q)
        stepper.set_target("com", c, rate=dc)

    At every tick each task asks for  gain (error − below) ≤ J v − rate ≤ gain (error + above), in the order of
    priorities; bounds on joints go before all tasks and always hold. Lower priorities never change what higher ones
    reach, also near singularities, where weak directions are damped (see `surefoot.solvers.hierarchy.solver`).
    Tasks count as far as they are active: from their `activation` on, `fade` moves that.

    Args:
        robot: The robot; its couplings are kept.
        tasks: The tasks.
        dt: Length of a tick [s].
        method: "hierarchy": strict priorities; "weighted": all tasks on one level, a task of priority p counts
            `softness`^p times its weight.
        damping: Singular values below this times the root of the level's least weight are damped; 0: none are.
        softness: See `method`.
        **bounds: As in `BoundOptions`.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        dt: float,
        *,
        method: str = "hierarchy",
        damping: float = 0.01,
        softness: float = 1e-3,
        **bounds: Unpack[BoundOptions],
    ) -> None:
        if method not in METHODS:
            raise one_of("method", method, METHODS)
        self.robot, self.method, self.dt = robot, method, number(dt, "length of a tick", positive=True)
        joint_bounds = _joint_bounds(robot, self.dt, **bounds)
        self._rows = StepperRows(joint_bounds, tasks, one_level=method == "weighted")
        self._names = {task.name: k for k, task in enumerate(self._rows.tasks)}
        self._row_slices = {task.name: at for task, at in zip(self._rows.tasks, self._rows.slices, strict=True)}
        self._targets = np.concatenate([task.numbers for task in self._rows.tasks])
        self._settings = self._initial_settings(number(softness, "softness", positive=True))
        self._fades = [Fade.at(activation) for activation in self._rows.activations]
        self._share_damped = number(damping, "damping")
        self._joint_motions = int((self._rows.motion.S[list(robot.base_rows)] == 0.0).all(axis=0).sum())
        self._damping, self._dampings = self._level_damping(frozenset()), dict[frozenset[int], tuple[float, ...]]()
        self.reset(robot.home)

    # -- what changes between ticks -------------------------------------------------------------------------------

    def reset(self, q: ArrayLike, time: float = 0.0) -> None:
        """Begin anew, at rest; fades are over.

        Args:
            q: (nq,) configuration.
            time: [s].
        """
        self.q, self.time = self.robot.checked_q(q), float(time)
        self._last = np.zeros(self._rows.motion.S.shape[1])
        self._solver = FadingSolver()
        self._fades = [Fade.at(fade.end) for fade in self._fades]
        self._fading = any(fade.end < 1.0 for fade in self._fades)

    def set_target(self, name: str, target: ArrayLike, rate: ArrayLike | None = None) -> None:
        """Give a task another target.

        Args:
            name: The task.
            target: As in its constructor.
            rate: (rows,) how fast the target moves, in the rows of the task [unit of the error per s]; 0 if omitted.
        """
        k = self._index(name)
        task, rows = self._rows.tasks[k], self._rows.slices[k]
        if rate is not None and task.order:
            raise ShapeError(f"target of task `{name}` is a rate itself", next_step="omit `rate`")
        self._targets[self._rows.targets[k]] = task.numbers_of(target)
        self._settings[4, rows] = 0.0 if rate is None else finite_array(rate, (task.rows,), f"target rate of `{name}`")

    def fade(self, name: str, activation: float, duration: float) -> None:
        """Let a task fade in or out, from its current activation; at first from its `activation`.

        Args:
            name: The task.
            activation: At the end: 0 is off, 1 is on.
            duration: [s].
        """
        k = self._index(name)
        require_activation(activation, name)
        duration = number(duration, "duration of a fade")
        self._fades[k] = Fade(self.time, duration, self._fades[k].activation(self.time), float(activation))
        self._fading = True

    def activation(self, name: str) -> float:
        """How active a task is now, 0 to 1."""
        return self._fades[self._index(name)].activation(self.time)

    # -- a tick ---------------------------------------------------------------------------------------------------

    def step(self, q: Array | None = None) -> StepResult:
        """The velocity for the next dt.

        Args:
            q: (nq,) configuration, float64; where the last tick ended if omitted.

        Raises:
            ShapeError: The configuration has the wrong shape, is not finite, or has quaternions that are not of unit
                length.
        """
        if q is None:
            q = self.q
        elif not np.isfinite(np.sum(q)):
            raise ShapeError("configuration is not finite", evidence={"q": np.asarray(q).tolist()})
        problem = self._problem(q)
        problem, optimum = self._faded(problem) if self._fading else (problem, self._solver.solve(problem))
        u = optimum.x
        q_next, v = self._rows.integrator(q, u)
        if not np.isfinite(q_next.sum()):
            raise ShapeError("configuration or target is not finite", evidence={"q": np.asarray(q).tolist()})
        found = StepResult(v, q_next, self.time, optimum, problem, self._row_slices, self._settings[0])
        self.q, self._last, self.time = q_next, u, self.time + self.dt
        return found

    def _problem(self, q: Array) -> StackedHierarchy:
        """Rows and bounds at a configuration."""
        A, lower, upper = self._rows.kernel(q, self._last, self._targets, self._settings)
        return StackedHierarchy(A, lower, upper, self._rows.starts, self._damping)

    def _faded(self, problem: StackedHierarchy) -> tuple[StackedHierarchy, Optimum]:
        """The hierarchy without what is off, and its optimum with what fades as far as it is active."""
        groups, off = fading_groups(self._fades, self.time)
        self._fading = not all(fade.is_over(self.time) for fade in self._fades)
        problem = self._without(problem, off)
        if not groups:
            return problem, self._solver.solve(problem)
        return problem, self._solver.solve_fading(lambda tasks: self._without(problem, tasks | off), groups)

    def _without(self, problem: StackedHierarchy, tasks: frozenset[int]) -> StackedHierarchy:
        """The hierarchy with the rows of some tasks released."""
        if not tasks:
            return problem
        if tasks not in self._dampings:
            self._dampings[tasks] = self._level_damping(tasks)
        lower, upper = problem.lower.copy(), problem.upper.copy()
        for k in tasks:
            lower[self._rows.slices[k]], upper[self._rows.slices[k]] = -np.inf, np.inf
        return replace(problem, lower=lower, upper=upper, damping=self._dampings[tasks])

    # -- numbers of the rows --------------------------------------------------------------------------------------

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise one_of("task", name, self._names)
        return self._names[name]

    def _initial_settings(self, softness: float) -> Array:
        """(5, rows): scale, gain, below, above, rate."""
        out = np.zeros((len(SETTINGS), self._rows.rows))
        for task, rows in zip(self._rows.tasks, self._rows.slices, strict=True):
            less = softness**task.priority if self.method == "weighted" else 1.0
            out[0, rows] = np.sqrt(less * task.weights)
            out[1, rows] = (task.gain, 1.0, self.dt)[task.order]
            out[2, rows], out[3, rows] = task.margins
        if not (out[0] > 0.0).all():
            raise ShapeError("weights of a stepper's tasks must be positive", next_step="activation=0 turns one off")
        return out

    def _level_damping(self, without: frozenset[int]) -> tuple[float, ...]:
        """Threshold of every level without some tasks; those with a row for each joint, or no equation, need none."""
        there = np.ones(self._rows.rows, dtype=bool)
        for k in without:
            there[self._rows.slices[k]] = False
        found = []
        for a, b in pairwise(self._rows.starts):
            scale, _, below, above, _ = self._settings[:, a:b][:, there[a:b]]
            few = len(scale) < self._joint_motions and not (below + above).all()
            found.append(self._share_damped * float(scale.min()) if few else 0.0)
        return tuple(found)


def _joint_bounds(
    robot: Robot,
    dt: float,
    joints: Sequence[str] | None = None,
    limits: bool = True,
    margin: float = 0.0,
    speed_share: float = 1.0,
    acceleration: ArrayLike = np.inf,
) -> JointBounds:
    motion = free_motion(robot, joints, limits)
    speeds, accelerations = _speeds(robot, motion.S, speed_share), _accelerations(acceleration, motion)
    return JointBounds(motion, speeds, accelerations, _margin(margin, motion), dt)


def _speeds(robot: Robot, S: Array, share: float) -> Array:
    """Largest speed (k,) of every free motion, so that no joint that it moves is too fast."""
    if not share > 0.0:
        raise ShapeError("the share of the speed limits must be positive", evidence={"share": share})
    most = np.full(S.shape, np.inf)
    limits = np.broadcast_to(robot.limits.velocity[:, None], S.shape)
    np.divide(limits, np.abs(S), out=most, where=S != 0.0)
    return np.asarray(share * most.min(axis=0))


def _margin(value: float, motion: FreeMotion) -> float:
    """The margin, if every joint has room for it."""
    margin = number(value, "margin")
    narrow = np.flatnonzero(motion.upper - motion.lower < 2.0 * margin)
    if len(narrow):
        names = [
            name
            for i, name in enumerate(motion.robot.joint_names)
            if motion.robot.tree.q_index[i] in motion.entry[narrow]
        ]
        raise ShapeError(
            f"no position of {', '.join(f'`{name}`' for name in names)} keeps the margin from both limits",
            evidence={"margin": margin},
            next_step="use a smaller margin, or list only other joints in `joints`",
        )
    return margin


def _accelerations(values: ArrayLike, motion: FreeMotion) -> Array:
    """Largest acceleration (k,) of every free motion; a number is for joints with one axis, not for a free base."""
    found, count = np.asarray(values, dtype=float), motion.S.shape[1]
    if found.shape not in ((), (count,)) or not (found > 0.0).all():
        raise ShapeError(
            f"accelerations must be a positive number, or {count} of them", evidence={"given": found.tolist()}
        )
    tree = motion.robot.tree
    single = {int(tree.v_index[i]) for i in range(len(tree.kinds)) if tree.nv_of(i) == 1}
    axes = np.array([int(np.argmax(column != 0.0)) in single for column in motion.S.T])
    return np.where(axes, found, np.inf) if found.ndim == 0 else found.copy()
