"""`WholeBody`: torques of a whole robot from tasks with priorities, within what contacts and drives can do."""

from __future__ import annotations

import time as clock
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.control.whole_body.clearance import BodyClearance
from surefoot.control.whole_body.outcome import TICK
from surefoot.control.whole_body.problem import NamedProblem
from surefoot.control.whole_body.rows import FREE, PHYSICS, SETTINGS, WRENCH, WholeBodyRows, WholeBodySettings
from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot
from surefoot.solvers.hierarchy import (
    OUTCOMES,
    ActiveSetError,
    HierarchySolver,
    Limits,
    StackedHierarchy,
    Tolerances,
    Workspace,
)
from surefoot.tasks import Task

__all__ = ["TROUBLES", "ContactHandle", "TaskHandle", "WholeBody", "WholeBodySolution"]

_SCALE, _STIFFNESS, _DAMPING, _ACCELERATION, _VELOCITY, _SLACK = range(len(SETTINGS))
_LARGEST_WRENCH = 1e6
_FASTEST, _FARTHEST = 300.0, 1e5  # states beyond are taken for broken [m/s] or [rad/s], [m] or [rad]
_BREAKS_AWAY = 50.0  # by which the acceleration of a contact that carries may miss what it should be [m/s²]
_IMPOSSIBLE = 0.01  # violation of the physics that is reported, share of the weight
_UNIT = 1e-6  # how far the square of a quaternion may be from 1
_Start = tuple[Array, NDArray[np.int64]]  # unknowns and sides
_FADE = 10.0  # slack of a task at half its activation [m/s²] or [rad/s²]
TROUBLES = ("implausible state", "infeasible stance", *OUTCOMES)
"""Why there is no solution, in a word or two."""


@dataclass(frozen=True, eq=False)
class WholeBodySolution:
    """What the drives should do now.

    Args:
        torques: (nu,) within the limits [N m] or [N].
        acceleration: (nv,).
        passes: Sets of binding inequalities that were tried.
        violation: Largest violation of the physics [N] or [N m]: not zero if the robot cannot do what it must.
        trouble: Why there is no solution, one of `TROUBLES`; None if there is one.
        rows: Where everything is; None without a solution.
        forces: Wrenches of all contacts in the directions that they tie.
        targets: Of all tasks.
    """

    torques: Array
    acceleration: Array
    passes: int
    violation: float
    trouble: str | None = None
    rows: WholeBodyRows | None = None
    forces: Array = field(default_factory=lambda: np.zeros(0))
    targets: Array = field(default_factory=lambda: np.zeros(0))

    @classmethod
    def nothing(cls, robot: Robot, trouble: str | None = None) -> WholeBodySolution:
        """No solution, and why."""
        return cls(np.zeros(robot.nu), np.zeros(robot.nv), 0, np.inf, trouble)

    @cached_property
    def wrenches(self) -> dict[str, Array]:
        """(6,) by contact, on the robot, in the axes of the contact's target; zero for those that do not carry."""
        if self.rows is None:
            return {}
        out, begin = {}, self.rows.C.shape[1]
        for name, part in self.rows.wrench.items():
            out[name] = np.zeros(6)
            out[name][list(self.rows.tied[name])] = self.forces[part.start - begin : part.stop - begin]
        return out

    @cached_property
    def force(self) -> Array:
        """(3,) what all contacts exert, in world [N]."""
        out, places = np.zeros(3), () if self.rows is None else self.rows.targets
        for wrench, at in zip(self.wrenches.values(), places, strict=False):  # contacts come first
            out += self.targets[at][:9].reshape(3, 3) @ wrench[:3]
        return out


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
        self._starts: dict[tuple[bool, ...], _Start] = {}  # by stance, from its last solution
        self._stance: tuple[bool, ...] | None = None
        self._held: dict[str, tuple[Any, ...]] = {}  # what the bounds of each wrench were made of
        self._apart = [(np.zeros((0, 0)), np.zeros((0, 0)))] * len(self._clearances)  # of all and of independent joints
        self._impossible = _IMPOSSIBLE * robot.mass * float(np.linalg.norm(robot.tree.gravity)) + 1e-6
        self.solver_time = 0.0
        """Wall-clock time of the last solution [s]."""
        self.errors, self.rates = np.zeros(rows.rows[-1].stop), np.zeros(rows.rows[-1].stop)
        """(rows,) errors and velocities of all tasks in the last problem, until the next one."""
        self._make_tick()

    def _make_tick(self) -> None:
        """Bind kernel, search and outcome to the arrays of one tick, and load their machine code."""
        rows, robot, s = self.rows, self.robot, self.rows.settings
        m, k, count = rows.starts[-1], rows.C.shape[1], len(rows.contacts)
        self._work = work = Workspace(m, rows.unknowns, rows.starts, Tolerances(), Limits(s.passes, s.seconds))
        self._q, self._v, h = np.array(robot.neutral), np.zeros(robot.nv), np.zeros(robot.nu)
        turn = int(robot.tree.q_index[robot.base_joint or 0]) + 3 if robot.base == "floating" else -1
        state = self._q, robot.nq, _FARTHEST, self._v, robot.nv, _FASTEST, turn, _UNIT
        self._is_plausible = TICK.bind("is_plausible", *state)
        given = self._q, self._v, self._targets, self._settings
        self._fill_rows = rows.kernel.bind(*given, work.A, work.lower[:m], work.upper[:m], self.errors, self.rates, h)
        work.lower[m:], work.upper[m:] = -_LARGEST_WRENCH, _LARGEST_WRENCH
        self._is_broken = TICK.bind("is_broken", work.A, work.A.size, work.lower, work.upper, len(work.lower))
        spans = np.array(
            [[rows.starts[2] + end for end in (x.start, x.stop)] for x in rows.rows[:count]], dtype=np.int64
        )
        self._carries, leaders = np.zeros(count, dtype=np.int64), np.abs(rows.C).argmax(axis=1)
        wrenches = sum(part.stop - part.start for part in rows.wrench.values())
        self._found = np.zeros(robot.nu + robot.nv + wrenches + 1)
        self._outcome = TICK.bind(
            "outcome", work.values, work.lower, work.upper, rows.physics, rows.torques.start, robot.nu, h,
            rows.torque_limits, PHYSICS, spans, self._carries, count, _BREAKS_AWAY, leaders,
            rows.C[np.arange(robot.nv), leaders], robot.nv, work.x, k, wrenches, self._found,
        )  # fmt: skip
        self._is_new = True

    @property
    def problem(self) -> StackedHierarchy | None:
        """The last problem, until the next one."""
        work, rows = self._work, self.rows
        if self._is_new:
            return None
        return StackedHierarchy(work.A, work.lower, work.upper, rows.starts, (0.0,) * (len(rows.starts) - 1))

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
        return self.errors[self.rows.rows[self._numbers[name]]].copy()

    def rate_of(self, name: str) -> Array:
        """(rows,) velocity of a task in the last problem.

        Args:
            name: Of the task.
        """
        return self.rates[self.rows.rows[self._numbers[name]]].copy()

    def solve(self, q: Array, v: Array, t: float = 0.0) -> WholeBodySolution:
        """What the drives should do in a state. Nothing is raised: see `WholeBodySolution.trouble`.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
            t: Time [s], for what is not computed anew at each tick.
        """
        self.solver_time = 0.0
        if not self.is_plausible(q, v):
            return WholeBodySolution.nothing(self.robot, "implausible state")
        self._fill_rows()
        self._is_new = False
        for name, handle in self._contacts.items():
            if handle.pivot is not None:
                self._tip(name, handle.pivot)
        self._keep_apart(t, q, v)
        self._hold_contacts()
        before = clock.perf_counter()
        try:
            if self._is_broken.run() and self.problem is not None:
                HierarchySolver.check_stacked(self.problem)
            passes = self._work.run()
        except ActiveSetError as error:
            self._begin_at(None)
            return WholeBodySolution.nothing(self.robot, error.outcome)
        finally:
            self.solver_time = clock.perf_counter() - before
        return self._solution(passes)

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
        for name, w in {} if self._is_new else wrenches.items():
            out += self._work.A[rows.torques, rows.wrench[name]] @ w[list(rows.tied[name])] / PHYSICS
        return out

    def is_plausible(self, q: Array, v: Array) -> bool:
        """Whether a state can be that of the robot: finite, not absurdly far or fast, and with a unit quaternion.

        Args:
            q: (nq,) configuration.
            v: (nv,) velocity.
        """
        self._q[:], self._v[:] = q, v
        return bool(self._is_plausible.run())

    def _tip(self, name: str, pivot: tuple[int, float]) -> None:
        """Hold a contact at an edge instead of its middle: it may turn about it, with its centre of pressure there."""
        rows, work, tied, (axis, lever) = self.rows, self._work, self.rows.tied[name], pivot
        first = rows.physics + len(rows.limited) + rows.rows[self._numbers[f"contact {name}"]].start
        z, k, wrench = first + tied.index(2), first + tied.index(axis), rows.wrench[name].start
        for part in (work.A, work.lower, work.upper):
            part[z] += lever * part[k]
            part[k] = 0.0
        work.A[k, [wrench + tied.index(axis), wrench + tied.index(2)]] = PHYSICS, -PHYSICS * lever

    def _keep_apart(self, t: float, q: Array, v: Array) -> None:
        """Fill the rows of links that keep apart, from each other and from obstacles."""
        for k, (where, clearance) in enumerate(self._clearances):
            gradients, self._work.lower[where] = clearance.rows(t, q, v)
            if gradients is not self._apart[k][0]:
                self._apart[k] = gradients, gradients @ self.rows.C
            self._work.A[where, : self.rows.C.shape[1]] = self._apart[k][1]

    def _hold_contacts(self) -> None:
        """Bounds and wishes of the wrenches; a change of stance begins the search where that stance ended last."""
        rows, lower, upper = self.rows, self._work.lower, self._work.upper
        stance = tuple([bool(handle.carries) for handle in self._contacts.values()])
        if stance != self._stance:
            self._begin_at(self._starts.get(stance))
            self._stance, self._carries[:] = stance, stance
        at, m = rows.shares.start, rows.starts[-1]
        for k, (name, handle) in enumerate(self._contacts.items()):
            part, carries = rows.wrench[name], stance[k]
            end = at + part.stop - part.start
            if carries:
                lower[at:end] = upper[at:end] = WRENCH * handle.wish
            else:
                lower[rows.cones[name]] = -FREE
            held = carries, handle.slides, handle.most, handle.least
            if held != self._held.get(name):
                self._held[name], here = held, slice(m + part.start, m + part.stop)
                upper[here] = _LARGEST_WRENCH if carries and not handle.slides else 0.0
                lower[here] = -upper[here]
                if carries:
                    z = m + part.start + rows.tied[name].index(2)
                    upper[z], lower[z] = min(handle.most, _LARGEST_WRENCH), handle.least
            at = end

    def _begin_at(self, known: _Start | None) -> None:
        """Begin the next search at a solution (unknowns and sides), or from nothing."""
        work = self._work
        work.start[: work.n] = 0.0 if known is None else known[0]
        work.sides[:] = 0 if known is None else known[1]

    def _solution(self, passes: int) -> WholeBodySolution:
        """The solution in the memory of the search, where the next search begins if it is one."""
        rows, work, code = self.rows, self._work, self._outcome.run()
        found, violation = self._found.copy(), float(self._found[-1])
        trouble = "not finite" if code == 2 else "infeasible stance" if code or violation > self._impossible else None
        known = self._starts.get(self._stance or ())
        if trouble is not None:  # what binds when nothing can be held is far from what binds in the next tick
            self._begin_at(known)
        else:
            if known is None:
                known = self._starts[self._stance or ()] = work.x[: work.n].copy(), work.sides.copy()
            known[0][:], known[1][:] = work.x[: work.n], work.sides
            work.start[: work.n] = known[0]
        nu, nv = self.robot.nu, self.robot.nv
        parts = found[:nu], found[nu : nu + nv], passes, violation, trouble, rows, found[nu + nv : -1]
        return WholeBodySolution(*parts, self._targets.copy())
