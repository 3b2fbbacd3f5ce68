"""The rows of a whole-body problem: physics, limits and tasks of one robot as one compiled kernel.

Unknowns are x = (u̇, w): accelerations of the independent joints, v̇ = C u̇ (followers move with their leaders), and the
wrenches of the contacts and closed chains in the directions that they tie. The torques are eliminated:

    τ = S (Cᵀ M C u̇ + Cᵀ h − Cᵀ Jᵀ w)                                   [control.whole-body]
    0 = the same rows of what no drive moves (base and passive joints)

Springs of passive joints count with the torque that they will have after T, f − k (T v + T²/2 v̇) − d T v̇: with that of
now, the moment on a foot with an elastic ankle would be given, and arms and trunk would balance the robot.

    level 0   dynamics of what no drive moves, closed chains, torque limits, friction and tipping of the contacts
    level 1   joint limits and speeds, as accelerations that still let a joint stop
    level 2…  contacts and tasks:  J v̇ = acceleration + stiffness e + damping (velocity − J v) − J̇ v
    on the last of these, with their weight: links keep apart
    last      wrenches that are wished for, with the freedom that is left

Herzog et al. 2016; Escande, Mansard and Wieber 2014; Nenchev & Konno 2019, §5.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.contact import wrench_cone
from surefoot.control.driven_joints import coupled_motion
from surefoot.dynamics import crba, nonlinear_effects
from surefoot.errors import NotSupportedError
from surefoot.geometry import convex_hull, distance_inside
from surefoot.ops import Array
from surefoot.robot import ContactSurface, Robot
from surefoot.tasks import Contact, Task, checked_tasks, loop_tasks, row_slices, target_slices

__all__ = ["FREE", "PHYSICS", "SETTINGS", "WRENCH", "WholeBodyRows", "WholeBodySettings", "control_sole"]

SETTINGS = ("scale", "stiffness", "damping", "acceleration", "velocity", "slack")
"""Run-time numbers of every row of a task: root of the weight, gains, what the target does, and the slack around it."""
FREE = 1e9
"""A slack that switches a row off."""
WRENCH = 0.01
"""Scale of the rows of wished wrenches."""
PHYSICS = 0.05
"""Scale of rows in newtons beside rows in m/s²."""
_LOOP_RATE = 20.0  # [1/s] with which closed chains are pulled shut
_RETURN = 10.0  # how many times more slowly joints go back from beyond their limits than they stop


@dataclass(frozen=True)
class WholeBodySettings:
    """Margins of a whole-body problem.

    Args:
        friction: Largest coefficient that is relied on; that of a surface if it is smaller.
        sole_share: Share of the soles, about their middles, in which centres of pressure may lie.
        torque_share: Share of the torque limits that is used.
        joint_margin: Distance that is kept from joint limits [rad] or [m].
        stopping_time: Time over which a joint may go from its speed to the largest one that lets it stop [s].
        braking: Largest deceleration with which joints stop before their limits [rad/s²] or [m/s²].
        spring_time: Time after which the springs of passive joints shall have the torque that is wanted [s].
        passes: Most sets of binding inequalities that are tried in a tick.
        seconds: Longest time of a solution [s]; no limit if omitted. With one, results depend on the machine.
    """

    friction: float = 0.6
    sole_share: float = 0.9
    torque_share: float = 1.0
    joint_margin: float = 0.03
    stopping_time: float = 0.02
    braking: float = 60.0
    spring_time: float = 0.1
    passes: int = 400
    seconds: float | None = None


class WholeBodyRows:
    """Rows of all levels, their names, and the kernel that fills them.

    Args:
        robot: The robot; its base floats or it is fixed.
        levels: Tasks of each level after the limits; tasks of contacts are added to the first.
        contacts: Contact surfaces that may carry; all of the robot if omitted.
        settings: Margins.
        pairs: Number of rows for pairs of links that keep apart.
        walls: The same for links and obstacles, on the second level of tasks.
    """

    def __init__(
        self,
        robot: Robot,
        levels: Sequence[Sequence[Task]],
        contacts: Sequence[str] | None = None,
        settings: WholeBodySettings | None = None,
        pairs: int = 0,
        walls: int = 0,
    ) -> None:
        self.robot, self.settings = robot, settings or WholeBodySettings()
        self.contacts = tuple(robot.contacts if contacts is None else contacts)
        self.loops = loop_tasks(robot)
        holds = [Contact(robot, name, name=f"contact {name}") for name in self.contacts]
        stack = [[*holds, *levels[0]], *levels[1:]]
        self.tasks: list[Task] = list(checked_tasks([task for level in stack for task in level], robot))
        self.rows, self.targets = row_slices(self.tasks), target_slices(self.tasks)
        self._motion()
        self._wrenches(holds)
        self._limits()
        carried = sum(task.rows for task in holds)
        own = [sum(task.rows for task in level) for level in stack]
        level = min(1, len(own) - 1)
        gaps = [(sum(own[: level + 1]), walls), (sum(own[:-1]), pairs)]
        self._gaps = sorted(gaps, key=lambda gap: gap[0])  # after how many rows of tasks others follow, and how many
        own[-1] += pairs
        own[level] += walls
        sizes = [self.physics, len(self.limited), *own, carried]
        self.starts = tuple(int(end) for end in np.cumsum([0, *sizes]))
        self.shares = slice(self.starts[-2], self.starts[-1])
        """Where the rows of wished wrenches are."""
        self.pairs = slice(self.starts[-3], self.starts[-3] + pairs)
        """Where the rows of pairs of links are; they are filled from outside."""
        self.walls = slice(self.starts[3 + level] - walls, self.starts[3 + level])
        """The same for links and obstacles."""

    def _motion(self) -> None:
        """Independent, driven and undriven coordinates."""
        robot, C = self.robot, coupled_motion(self.robot)
        followers = [int(robot.tree.v_index[robot.joint_index(item.joint)]) for item in robot.couplings]
        kept = np.setdiff1d(np.arange(robot.nv), followers)
        self.C = C[:, kept]
        """(nv, k): v = C u."""
        places = {int(row): k for k, row in enumerate(kept)}
        self.driven = np.array([places[int(row)] for row in robot.driven], dtype=np.int64)
        self.undriven = np.setdiff1d(np.arange(len(kept)), self.driven)
        self.kept = kept

    def _wrenches(self, holds: Sequence[Contact]) -> None:
        """Unknown wrenches, and the faces of their cones."""
        k = self.C.shape[1]
        sizes = [task.rows for task in holds]
        ends = np.cumsum([k, *sizes])
        self.wrench = {name: slice(int(a), int(b)) for name, a, b in zip(self.contacts, ends, ends[1:], strict=False)}
        """Where in x the wrench of each contact is."""
        closing = sum(task.rows for task in self.loops)
        self.unknowns = int(ends[-1]) + closing
        self.tied = {name: task.kept for name, task in zip(self.contacts, holds, strict=True)}
        """Which of (x, y, z, rx, ry, rz) each wrench has."""
        faces = [self._faces(name) for name in self.contacts]
        self.dynamics = slice(0, len(self.undriven))
        self.torques = slice(self.dynamics.stop, self.dynamics.stop + len(self.driven))
        at = self.torques.stop + closing
        ends = np.cumsum([at, *(len(part) for part in faces)])
        self.cones = {name: slice(int(a), int(b)) for name, a, b in zip(self.contacts, ends, ends[1:], strict=False)}
        """Where among the rows the cone of each contact is."""
        self.physics = int(ends[-1])
        self._cone_rows = np.zeros((self.physics - at, self.unknowns))
        for name, part in zip(self.contacts, faces, strict=True):
            rows = self.cones[name]
            self._cone_rows[rows.start - at : rows.stop - at, self.wrench[name]] = part

    def _faces(self, name: str) -> Numbers:
        """(m, tied): faces of the cone of a contact, of unit length times the scale of forces."""
        surface = control_sole(self.robot.contacts[name], self.settings.sole_share)
        friction = min(surface.friction, self.settings.friction)
        faces = wrench_cone(surface, friction, inscribed=True).faces[:, self.tied[name]]
        lengths = np.linalg.norm(faces, axis=1, keepdims=True)
        keep = lengths[:, 0] > 1e-9
        return np.asarray(PHYSICS * faces[keep] / lengths[keep])

    def _limits(self) -> None:
        """Independent one-axis joints with limits of position or speed."""
        robot, tree = self.robot, self.robot.tree
        self.limited: list[tuple[int, int, float, float, float]] = []
        for i in range(tree.n):
            if tree.nv_of(i) != 1 or tree.nq_of(i) != 1 or int(tree.v_index[i]) not in self.kept:
                continue
            row, entry = int(tree.v_index[i]), int(tree.q_index[i])
            speed = float(robot.limits.velocity[row])
            ends = float(robot.limits.lower[entry]), float(robot.limits.upper[entry])
            if np.isfinite([*ends, speed]).any() and speed > 0.0:
                self.limited.append((row, entry, *ends, speed))
        places = {int(row): k for k, row in enumerate(self.kept)}
        self.limit_columns = np.array([places[item[0]] for item in self.limited], dtype=np.int64)

    @cached_property
    def torque_limits(self) -> Numbers:
        """(nu,) [N m] or [N]."""
        limits = np.array([drive.torque_limit for drive in self.robot.drives])
        if not (limits > 0.0).all():
            weak = self.robot.drives[int(np.argmin(limits))].joint
            raise NotSupportedError(f"the drive of joint `{weak}` has no torque", next_step="give it a torque limit")
        return np.minimum(self.settings.torque_share * limits, FREE)

    @cached_property
    def names(self) -> list[str]:
        """What each row asks for."""
        joints = [self.robot.drives[k].joint for k in range(len(self.driven))]
        out = [f"dynamics {k}" for k in range(len(self.undriven))] + [f"torque {name}" for name in joints]
        out += [f"loop {task.name}" for task in self.loops for _ in range(task.rows)]
        out += [f"cone {name}" for name, rows in self.cones.items() for _ in range(rows.stop - rows.start)]
        out += [f"limit {self._joint_of(item[0])}" for item in self.limited]
        tasks = [task.name for task in self.tasks for _ in range(task.rows)]
        out += [name for part in self._among(tasks, lambda count: ["clearance"] * count) for name in part]
        return out + [f"wrench {name}" for name, part in self.wrench.items() for _ in range(part.stop - part.start)]

    def _joint_of(self, row: int) -> str:
        return self.robot.tree.joint_names[int(np.flatnonzero(self.robot.tree.v_index == row)[0])]

    @cached_property
    def kernel(self) -> Kernel:
        """Of q, v, targets, settings (6, task rows): A (rows, n), lower, upper (rows,), e, J v (task rows,), h."""
        shapes = {"targets": (self.targets[-1].stop,), "settings": (len(SETTINGS), self.rows[-1].stop)}
        return compile_robot(self.robot, functions={"whole_body_rows": (self._rows, shapes)}).whole_body_rows

    def _rows(self, robot: Robot, q: Array, v: Array, targets: Array, settings: Array) -> tuple[Array, ...]:
        parts = [(task, targets[at]) for task, at in zip(self.tasks, self.targets, strict=True)]
        e = ops.concatenate([_position_error(task, robot, q, target) for task, target in parts])
        J = ops.concatenate([task.jacobian(robot, q, target) for task, target in parts])
        bias = ops.concatenate([task.bias(robot, q, v, target) for task, target in parts])
        scale, stiffness, damping, acceleration, velocity, slack = settings
        Jv = J @ v
        wanted = acceleration + stiffness * e + damping * (velocity - Jv) - bias
        A, lower, upper, h = self._physics_rows(robot, q, v, J)
        limits, least, largest = self._limit_rows(q, v)
        n, wrenches = self.unknowns, self.unknowns - self.C.shape[1]
        own = ops.concatenate([scale[:, None] * (J @ self.C), np.zeros((J.shape[0], wrenches))], axis=1)
        carried = self.shares.stop - self.shares.start
        shares = np.zeros((carried, n))
        shares[:, self.C.shape[1] : self.C.shape[1] + carried] = WRENCH * np.eye(carried)
        free = np.zeros(carried)
        low, high = scale * (wanted - slack), scale * (wanted + slack)
        A = ops.concatenate([A, limits, *self._among(own, lambda count: np.zeros((count, n))), shares])
        lower = ops.concatenate([lower, least, *self._among(low, lambda count: np.full(count, -FREE)), free])
        upper = ops.concatenate([upper, largest, *self._among(high, lambda count: np.full(count, FREE)), free])
        return A, lower, upper, e, Jv, h

    def _among(self, own: Any, between: Callable[[int], Any]) -> list[Any]:
        """Parts of the rows of tasks, with rows between them that are filled from outside."""
        (first, some), (then, more) = self._gaps
        return [own[:first], between(some), own[first:then], between(more), own[then:]]

    def _physics_rows(self, robot: Robot, q: Array, v: Array, J: Array) -> tuple[Array, Array, Array, Array]:
        """Rows of level 0, and Cᵀ h of what is driven."""
        C, u = self.C, list(self.undriven)
        d = list(self.driven)
        M = C.T @ crba(robot.tree, q) @ C
        passive = robot.spring_forces.torque(q, v) - np.array(robot.model.damping) * v
        h = C.T @ (nonlinear_effects(robot.tree, q, v) - passive)
        stiffness, inertia = self._yielding(q)
        h, M = h + stiffness @ v[self.kept], M + inertia
        held = sum(self.wrench[name].stop - self.wrench[name].start for name in self.contacts)
        closing = [(task, task.numbers) for task in self.loops]
        K = [task.jacobian(robot, q, target) for task, target in closing]
        lift = ops.concatenate([J[:held].T, *(part.T for part in K)], axis=1)
        D = ops.concatenate([M, -(C.T @ lift)], axis=1) * PHYSICS
        least, most = self._torque_bounds(v)
        rows = [D[u], D[d]]
        lower, upper = ([-PHYSICS * h[u], PHYSICS * (end - h[d])] for end in (least, most))
        for (task, target), part in zip(closing, K, strict=True):
            rate = part @ v
            pull = _LOOP_RATE**2 * task.error(robot, q, target) - 2.0 * _LOOP_RATE * rate
            wanted = pull - task.bias(robot, q, v, target)
            rows.append(ops.concatenate([part @ C, np.zeros((task.rows, self.unknowns - C.shape[1]))], axis=1))
            lower.append(wanted)
            upper.append(wanted)
        count = len(self._cone_rows)
        rows.append(self._cone_rows + 0.0 * D[0, 0])
        return (
            ops.concatenate(rows),
            ops.concatenate([*lower, np.zeros(count)]),
            ops.concatenate([*upper, np.full(count, FREE)]),
            h[d],
        )

    def _yielding(self, q: Array) -> tuple[Array, Array]:
        """T K and T²/2 K + T D (k, k) of the springs between joints that no drive moves."""
        springs, free = self.robot.spring_forces, np.zeros(len(self.kept))
        free[self.undriven] = 1.0
        shares = springs.shares @ self.C * free
        length = q @ springs.positions.T
        is_below = ops.where(ops.less(length, springs.rest[1]), 1.0, 0.0)
        is_slack = is_below * ops.where(ops.less(springs.rest[0], length), 1.0, 0.0)
        K = shares.T @ (((1.0 - is_slack) * springs.stiffness)[:, None] * shares)
        own = free * (np.abs(shares).sum(axis=0) > 0.0) * np.array(self.robot.model.damping)[self.kept]
        D = shares.T @ (springs.damping[:, None] * shares) + np.diag(own)
        T = self.settings.spring_time
        return T * K, 0.5 * T**2 * K + T * D

    def _torque_bounds(self, v: Array) -> tuple[Array, Array]:
        """Least and largest torques (nu,) at a speed: less than the limit only in the direction of the motion."""
        least, most = [], []
        for drive, row, limit in zip(self.robot.drives, self.robot.driven, self.torque_limits, strict=True):
            low: Any = -limit
            high: Any = limit
            if np.isfinite(drive.corner_speed) and drive.corner_speed < drive.speed_limit < np.inf:
                slope = limit / (drive.speed_limit - drive.corner_speed)
                high = ops.maximum(ops.minimum(high, slope * (drive.speed_limit - v[row])), 0.0)
                low = ops.minimum(ops.maximum(low, -slope * (drive.speed_limit + v[row])), 0.0)
            least.append(low)
            most.append(high)
        return ops.array(least), ops.array(most)

    def _limit_rows(self, q: Array, v: Array) -> tuple[Array, Array, Array]:
        """Accelerations that keep joints from their limits: the speed that still lets a joint stop, after some time."""
        s = self.settings
        rows = np.zeros((len(self.limited), self.unknowns))
        rows[np.arange(len(self.limited)), self.limit_columns] = 1.0
        least, largest = [], []
        for row, entry, low, high, speed in self.limited:
            top: Any = speed
            bottom: Any = -speed
            margin = min(s.joint_margin, 0.25 * (high - low))
            if np.isfinite(high):
                top = ops.maximum(ops.minimum(top, _stopping_speed(high - margin - q[entry], s)), -speed)
            if np.isfinite(low):
                bottom = ops.minimum(ops.maximum(bottom, -_stopping_speed(q[entry] - low - margin, s)), speed)
            largest.append((top - v[row]) / s.stopping_time)
            least.append((bottom - v[row]) / s.stopping_time)
        return rows + 0.0 * q[0], ops.array(least), ops.array(largest)


def _stopping_speed(way: Array, s: WholeBodySettings) -> Array:
    """Largest speed that still lets a joint stop on its way; slowly back where it is beyond its limit.

    A joint that begins at its limit must not be torn off it: the feet have to hold against the recoil of that.
    """
    slow = ops.maximum(way / s.stopping_time, way / (_RETURN * s.stopping_time))
    return ops.minimum(ops.sqrt(ops.maximum(2.0 * s.braking * way, 0.0)), slow)


def _position_error(task: Task, robot: Robot, q: Array, target: Array) -> Array:
    """The error of a task; 0 where its value is a velocity, which damping alone takes care of."""
    return task.error(robot, q, target) if task.order == 0 else np.zeros(task.rows)


def control_sole(surface: ContactSurface, share: float) -> ContactSurface:
    """The part of a sole that is relied on: with at most four corners, shrunk about its middle.

    Args:
        surface: The contact surface.
        share: Of its size.
    """
    if surface.kind not in ("rectangle", "polygon"):
        return surface
    corners = surface.corners
    if surface.kind == "polygon" and len(corners) > 4:
        corners = _inner_box(corners)
        surface = replace(surface, kind="rectangle")
    middle = corners.mean(axis=0)
    return replace(surface, corners=middle + share * (corners - middle))


def _inner_box(corners: Numbers) -> Numbers:
    """(4, 3): the bounding box of a polygon, shrunk about its middle until it is inside."""
    hull = convex_hull(corners[:, :2])
    low, high = corners.min(axis=0), corners.max(axis=0)
    middle, half = 0.5 * (low + high), 0.5 * (high - low)
    signs = np.array([[-1.0, -1.0], [1.0, -1.0], [1.0, 1.0], [-1.0, 1.0]])

    def box(share: float) -> Numbers:
        return np.asarray(middle[:2] + share * signs * half[:2])

    inside, outside = 0.0, 1.0
    for _ in range(30):
        share = 0.5 * (inside + outside)
        fits = all(distance_inside(corner, hull) >= 0.0 for corner in box(share))
        inside, outside = (share, outside) if fits else (inside, share)
    return np.column_stack([box(inside), np.full(4, corners[:, 2].mean())])
