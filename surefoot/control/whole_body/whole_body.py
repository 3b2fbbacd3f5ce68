"""`WholeBody`: torques of a whole robot from tasks with priorities, within what contacts and drives can do."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.control.whole_body.clearance import BodyClearance
from surefoot.control.whole_body.problem import NamedProblem
from surefoot.control.whole_body.rows import FREE, PHYSICS, SETTINGS, WRENCH, WholeBodyRows, WholeBodySettings
from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot
from surefoot.solvers.hierarchy import (
    OUTCOMES,
    ActiveSetError,
    HierarchySolver,
    Limits,
    Optimum,
    StackedHierarchy,
)
from surefoot.tasks import Task

__all__ = ["TROUBLES", "ContactHandle", "TaskHandle", "WholeBody", "WholeBodySolution"]

_SCALE, _STIFFNESS, _DAMPING, _ACCELERATION, _VELOCITY, _SLACK = range(len(SETTINGS))
_LARGEST_WRENCH = 1e6
_FASTEST, _FARTHEST = 300.0, 1e5  # states beyond are taken for broken [m/s] or [rad/s], [m] or [rad]
_BREAKS_AWAY = 50.0  # by which the acceleration of a contact that carries may miss what it should be [m/s²]
_IMPOSSIBLE = 0.01  # violation of the physics that is reported, share of the weight
_UNIT = 1e-6  # how far the square of a quaternion may be from 1
_FADE = 10.0  # slack of a task at half its activation [m/s²] or [rad/s²]
TROUBLES = ("implausible state", "infeasible stance", *OUTCOMES)
"""Why there is no solution, in a word or two."""


@dataclass(frozen=True, eq=False)
class WholeBodySolution:
    """What the drives should do now.

    Args:
        torques: (nu,) within the limits [N m] or [N].
        acceleration: (nv,).
        wrenches: (6,) by contact, on the robot, in the axes of the contact's target; zero for those that do not carry.
        passes: Sets of binding inequalities that were tried.
        violation: Largest violation of the physics [N] or [N m]: not zero if the robot cannot do what it must.
        trouble: Why there is no solution, one of `TROUBLES`; None if there is one.
    """

    torques: Array
    acceleration: Array
    wrenches: dict[str, Array]
    passes: int
    violation: float
    trouble: str | None = None


class TaskHandle:
    """The run-time numbers of a task, each a view (rows,) that can be written.

    Args:
        task: The task.
        settings: (6, rows) of this task.
        target: Its numbers.
    """

    def __init__(self, task: Task, settings: Array, target: Array) -> None:
        self.task, self._settings = task, settings
        self.target = target
        """The numbers of the target; nothing is checked when they are written."""
        self._scale = np.sqrt(task.weights)
        self.stiffness, self.damping = settings[_STIFFNESS], settings[_DAMPING]
        self.acceleration, self.velocity = settings[_ACCELERATION], settings[_VELOCITY]
        self.scale, self.slack = settings[_SCALE], settings[_SLACK]
        settings[_SCALE] = self._scale
        self.stiffness[:], self.damping[:] = task.gain**2, 2.0 * task.gain

    def set_target(self, target: ArrayLike) -> None:
        """Give the task another target.

        Args:
            target: As in its constructor.
        """
        self.target[:] = self.task.numbers_of(target)

    def set_gains(self, stiffness: ArrayLike, damping: ArrayLike | None = None) -> None:
        """Set the stiffness [1/s²] and the damping [1/s], critical if omitted.

        Args:
            stiffness: A number, or one for each row.
            damping: A number, or one for each row.
        """
        self.stiffness[:] = stiffness
        self.damping[:] = 2.0 * np.sqrt(self.stiffness) if damping is None else damping

    def set_rates(self, velocity: ArrayLike, acceleration: ArrayLike) -> None:
        """Set what the target does.

        Args:
            velocity: (rows,) or a number.
            acceleration: (rows,) or a number.
        """
        self.velocity[:], self.acceleration[:] = velocity, acceleration

    def set_activation(self, activation: float) -> None:
        """Fade the task: 0 switches it off, 1 is its full weight.

        Between, its weight is less and it may miss what it asks for by a slack. Weights alone would not fade a task
        that has a level of its own.

        Args:
            activation: From 0 to 1.
        """
        self._settings[_SCALE] = np.sqrt(activation) * self._scale
        self._settings[_SLACK] = min(FREE, _FADE * (1.0 - activation) / max(activation, 1e-9))


class ContactHandle(TaskHandle):
    """A contact: held and carrying, or led like any other task."""

    def put(self, T: Array) -> None:
        """Set the target, unchecked.

        Args:
            T: (4, 4) placement of the contact frame in world.
        """
        self.target[:9], self.target[9:] = T[:3, :3].ravel(), T[:3, 3]

    carries: bool = True
    most: float = np.inf
    """Largest normal force [N]; for ramps when a contact is made or broken."""
    least: float = 0.0
    """Least normal force [N]; the same as `most` prescribes it."""
    wish: Array
    """(tied,) wrench that is wished for with the freedom that is left."""
    slides: bool = False
    """Whether it moves along what it touches: then only its normal force is relied on."""
    pivot: tuple[int, float] | None = None
    """Axis (3: x, 4: y) about which it may tip over an edge, and the lever of the normal force there: y or −x [m]."""


class WholeBody:
    """Solves one strict hierarchy a tick; see `rows` for its levels.

        body = WholeBody(robot, [[], [CenterOfMass(…)], [Posture(robot)]])
        body["com"].set_target(…);  body.contact("left_foot").carries = False
        found = body.solve(q, v)

    Args:
        robot: The robot.
        levels: Tasks by level, first priority first. The contacts are added to the first.
        contacts: Contact surfaces that may carry; all of the robot if omitted.
        settings: Margins.
        clearance: Keeps links apart; nothing does if omitted.
        walls: Keeps links off obstacles, before most tasks; see `wall_clearance`.
    """

    def __init__(
        self,
        robot: Robot,
        levels: Sequence[Sequence[Task]],
        contacts: Sequence[str] | None = None,
        settings: WholeBodySettings | None = None,
        clearance: BodyClearance | None = None,
        walls: BodyClearance | None = None,
    ) -> None:
        pairs, off = (0 if part is None else part.settings.count for part in (clearance, walls))
        self.rows = rows = WholeBodyRows(robot, levels, contacts, settings, pairs, off)
        self._clearance, parts = clearance, [(rows.pairs, clearance), (rows.walls, walls)]
        self._clearances = [(where, part) for where, part in parts if part is not None]
        self.robot = robot
        self._settings = np.zeros((len(SETTINGS), rows.rows[-1].stop))
        self._targets = np.concatenate([task.numbers for task in rows.tasks])
        self._handles = {task.name: self._handle(k) for k, task in enumerate(rows.tasks)}
        self._numbers = {name: k for k, name in enumerate(self._handles)}
        self._contacts: dict[str, Any] = {name: self._handles[f"contact {name}"] for name in rows.contacts}
        self._bounds = np.full(rows.unknowns, _LARGEST_WRENCH)
        self._starts: dict[tuple[bool, ...], Optimum] = {}
        self._stance: tuple[bool, ...] | None = None
        self._solver = HierarchySolver(limits=Limits(rows.settings.passes, rows.settings.seconds))
        self._impossible = _IMPOSSIBLE * robot.mass * float(np.linalg.norm(robot.tree.gravity)) + 1e-6
        self._damping = (0.0,) * (len(rows.starts) - 1)
        self._kernel = rows.kernel
        begin = rows.starts[2]
        self._held_rows = {
            name: slice(begin + part.start, begin + part.stop)
            for name, part in zip(rows.contacts, rows.rows[: len(rows.contacts)], strict=True)
        }
        base = robot.base_joint if robot.base == "floating" else None
        at = 0 if base is None else int(robot.tree.q_index[base]) + 3
        self._turn = None if base is None else slice(at, at + 4)
        self.solver_time = 0.0
        """Wall-clock time of the last solution [s]."""
        self.problem: StackedHierarchy | None = None
        """The last problem."""
        self.errors, self.rates = np.zeros(rows.rows[-1].stop), np.zeros(rows.rows[-1].stop)
        """(rows,) errors and velocities of all tasks in the last problem."""

    def _handle(self, k: int) -> TaskHandle:
        task, rows, at = self.rows.tasks[k], self.rows.rows[k], self.rows.targets[k]
        if k >= len(self.rows.contacts):
            return TaskHandle(task, self._settings[:, rows], self._targets[at])
        handle = ContactHandle(task, self._settings[:, rows], self._targets[at])
        handle.wish = np.zeros(task.rows)
        return handle

    def __getitem__(self, name: str) -> TaskHandle:
        if name not in self._handles:
            raise one_of("task", name, self._handles)
        return self._handles[name]

    def contact(self, name: str) -> ContactHandle:
        """The run-time numbers of a contact.

        Args:
            name: The contact surface.
        """
        if name not in self._contacts:
            raise one_of("contact surface", name, self._contacts)
        found: ContactHandle = self._contacts[name]
        return found

    def error_of(self, name: str) -> Array:
        """(rows,) error of a task in the last problem.

        Args:
            name: Of the task.
        """
        return self.errors[self.rows.rows[self._numbers[name]]]

    def rate_of(self, name: str) -> Array:
        """(rows,) velocity of a task in the last problem.

        Args:
            name: Of the task.
        """
        return self.rates[self.rows.rows[self._numbers[name]]]

    def solve(self, q: Array, v: Array, t: float = 0.0) -> WholeBodySolution:
        """What the drives should do in a state. Nothing is raised: see `WholeBodySolution.trouble`.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            t: Time [s], for what is not computed anew at each tick.
        """
        rows, self.solver_time = self.rows, 0.0
        if not self.is_plausible(q, v):
            return self._nothing("implausible state")
        A, lower, upper, self.errors, self.rates, h = self._kernel(q, v, self._targets, self._settings)
        for name, handle in self._contacts.items():
            if handle.pivot is not None:
                self._tip(name, handle.pivot, A, lower, upper)
        for where, clearance in self._clearances:
            part, (gradients, lower[where]) = A[where], clearance.rows(t, q, v)
            part[:, : rows.C.shape[1]] = gradients @ rows.C
        lower, upper = self._with_contacts(lower, upper)
        self.problem = StackedHierarchy(A, lower, upper, rows.starts, self._damping)
        before = clock.perf_counter()
        try:
            self._solver.check_stacked(self.problem)
            found = self._solver.solve_stacked(self.problem)
        except ActiveSetError as error:
            self._solver.forget()
            return self._nothing(error.outcome)
        finally:
            self.solver_time = clock.perf_counter() - before
        solution, stance = self._solution(found, self.problem, h), self._stance
        if stance is None:
            return solution
        if solution.trouble is None:
            self._starts[stance] = found
        else:  # what binds when nothing can be held is far from what binds in the next tick
            self._solver.remember(self._starts.get(stance))
        return solution

    def named_problem(self) -> NamedProblem:
        """A copy of the last problem with names, to be stored, solved again and explained.

        Raises:
            NotSupportedError: There is none yet.
        """
        if self.problem is None:
            raise NotSupportedError("there is no problem yet", next_step="call `solve` first")
        p, rows = self.problem, self.rows
        wrenches = [f"wrench {name}" for name, part in rows.wrench.items() for _ in range(part.stop - part.start)]
        unknowns = [f"acceleration {k}" for k in range(rows.C.shape[1])] + wrenches
        unknowns += ["wrench of a loop"] * (rows.unknowns - len(unknowns))
        copy = StackedHierarchy(p.A.copy(), p.lower.copy(), p.upper.copy(), p.starts, p.damping)
        return NamedProblem(copy, tuple(rows.names), tuple(unknowns))

    def room(self, columns: NDArray[np.int64]) -> Array:
        """(k,) how far degrees of freedom should turn to keep links comfortably apart; see `BodyClearance.room`."""
        return np.zeros(len(columns)) if self._clearance is None else self._clearance.room(columns)

    def torques_of(self, wrenches: Mapping[str, Array]) -> Array:
        """(nu,) −S Jᵀ w: torques of the drives that hold wrenches on the contacts, in the last problem.

        Args:
            wrenches: (6,) by contact, in the axes of its target.
        """
        rows, out = self.rows, np.zeros(self.robot.nu)
        A = np.zeros((0, 0)) if self.problem is None else self.problem.A
        for name, w in wrenches.items() if len(A) else ():
            out += A[rows.torques, rows.wrench[name]] @ w[list(rows.tied[name])] / PHYSICS
        return out

    def is_plausible(self, q: Array, v: Array) -> bool:
        """Whether a state can be that of the robot: finite, not absurdly far or fast, and with a unit quaternion.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        if not (np.abs(q).max(initial=0.0) < _FARTHEST and np.abs(v).max(initial=0.0) < _FASTEST):
            return False
        return self._turn is None or abs(float(q[self._turn] @ q[self._turn]) - 1.0) < _UNIT

    def _tip(self, name: str, pivot: tuple[int, float], A: Array, lower: Array, upper: Array) -> None:
        """Hold a contact at an edge instead of its middle: it may turn about it, with its centre of pressure there."""
        rows, tied, (axis, lever) = self.rows, self.rows.tied[name], pivot
        first = rows.physics + len(rows.limited) + rows.rows[self._numbers[f"contact {name}"]].start
        z, k, wrench = first + tied.index(2), first + tied.index(axis), rows.wrench[name].start
        for part in (A, lower, upper):
            part[z] += lever * part[k]
            part[k] = 0.0
        A[k, [wrench + tied.index(axis), wrench + tied.index(2)]] = PHYSICS, -PHYSICS * lever

    def _with_contacts(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        """Bounds with those of the wrenches; a change of stance begins the search where that stance ended last."""
        rows, bounds = self.rows, self._bounds
        least = -bounds
        stance = tuple(bool(self._contacts[name].carries) for name in rows.contacts)
        if stance != self._stance:
            self._solver.remember(self._starts.get(stance))
            self._stance = stance
        at = rows.shares.start
        for name, carries in zip(rows.contacts, stance, strict=True):
            part, handle = rows.wrench[name], self._contacts[name]
            size = part.stop - part.start
            bounds[part] = _LARGEST_WRENCH if carries and not handle.slides else 0.0
            least[part] = -bounds[part]
            if carries:
                lower[at : at + size] = upper[at : at + size] = WRENCH * handle.wish
                z = part.start + rows.tied[name].index(2)
                bounds[z], least[z] = min(handle.most, _LARGEST_WRENCH), handle.least
            else:
                lower[rows.cones[name]] = -FREE
            at += size
        return np.concatenate([lower, least]), np.concatenate([upper, bounds])

    def _solution(self, found: Optimum, problem: StackedHierarchy, h: Array) -> WholeBodySolution:
        rows, x = self.rows, found.x
        beyond = np.maximum(found.values - problem.upper, problem.lower - found.values)
        violation = float(beyond[: rows.physics].max(initial=0.0)) / PHYSICS
        torques = found.values[rows.torques] / PHYSICS + h
        wrenches = {}
        for name, part in rows.wrench.items():
            wrenches[name] = np.zeros(6)
            wrenches[name][list(rows.tied[name])] = x[part]
        return WholeBodySolution(
            np.clip(torques, -rows.torque_limits, rows.torque_limits),
            rows.C @ x[: rows.C.shape[1]],
            wrenches,
            found.passes,
            violation,
            "infeasible stance" if violation > self._impossible or self._breaks_away(beyond) else None,
        )

    def _breaks_away(self, beyond: Array) -> bool:
        """Whether a contact that carries cannot be held by far; from the distances (m,) of all rows to their bounds."""
        held = self._held_rows.items()
        return any(beyond[rows].max() > _BREAKS_AWAY for name, rows in held if self._contacts[name].carries)

    def _nothing(self, trouble: str) -> WholeBodySolution:
        return WholeBodySolution(np.zeros(self.robot.nu), np.zeros(self.robot.nv), {}, 0, np.inf, trouble)
