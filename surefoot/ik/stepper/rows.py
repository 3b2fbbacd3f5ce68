"""What a `Stepper` asks for at one tick, as compiled kernels: rows of all tasks, bounds on the joints, integration."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.ik.position import FreeMotion
from surefoot.ik.stepper.limit_parabola import stopping_speed
from surefoot.kinematics import integrate
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks import Task, checked_tasks, row_slices, target_slices

SETTINGS = ("scale", "gain", "below", "above", "rate")
"""Run-time numbers of every row: root of the weight, gain, margins, rate of the target."""


@dataclass(frozen=True, eq=False)
class JointBounds:
    """Which velocities u (k,) of the free motion are allowed at a tick.

        v dt + v² / (2 a) ≤ q_U − q,   |v| ≤ v_max,   |v − v_last| ≤ a dt        [ik.step-bounds]

    The first is the parabola of braking with a (`limit_parabola`) for a velocity that is held for dt: a joint that
    keeps to it can keep to it again at the next tick by braking with a. Without a, it may stop at once:
    v dt ≤ q_U − q. Where a joint is beyond its limit, it may not go further out; limits of position and speed go before
    those of acceleration.

    Args:
        motion: The motions that are allowed, with their position limits.
        speed: (k,) largest |u|, inf for none.
        acceleration: (k,) largest |du/dt|, inf for none.
        margin: Distance that is kept from position limits [rad] or [m].
        dt: Length of a tick [s].
    """

    motion: FreeMotion
    speed: Numbers
    acceleration: Numbers
    margin: float
    dt: float

    def bounds(self, q: Array, last: Array) -> tuple[Array, Array]:
        """Least and largest u (k,), over `ops`.

        Args:
            q: (nq,) configuration.
            last: (k,) u of the last tick.
        """
        pairs = [self._of_column(k, q, last[k]) for k in range(len(self.speed))]
        return ops.array([low for low, _ in pairs]), ops.array([high for _, high in pairs])

    def _of_column(self, k: int, q: Array, last: Array) -> tuple[Any, Any]:
        entry, most, a = int(self.motion.entry[k]), float(self.speed[k]), float(self.acceleration[k])
        low: Any = -most
        high: Any = most
        if np.isfinite(self.motion.lower[k]):
            low = ops.maximum(low, -stopping_speed(q[entry] - (self.motion.lower[k] + self.margin), a, self.dt))
        if np.isfinite(self.motion.upper[k]):
            high = ops.minimum(high, stopping_speed(self.motion.upper[k] - self.margin - q[entry], a, self.dt))
        if np.isfinite(a):
            least, most = (ops.maximum(ops.minimum(last + side * a * self.dt, high), low) for side in (-1.0, 1.0))
            return least, most
        return low, high


class StepperRows:
    """The tasks of a stepper in the order of their levels, and the kernels that evaluate them.

    Tasks are fully active here; `activations` holds their first activation.

    Args:
        bounds: Which velocities are allowed.
        tasks: The tasks.
        one_level: Whether all tasks are on one level (and only weights tell them apart).
    """

    def __init__(self, bounds: JointBounds, tasks: Sequence[Task], one_level: bool) -> None:
        self.limits, self.motion = bounds, bounds.motion
        given = sorted(checked_tasks(tasks), key=lambda task: task.priority)
        self.activations = [float(task.activation) for task in given]
        self.tasks = [task if task.activation == 1.0 else replace(task, activation=1.0) for task in given]
        self.slices = row_slices(self.tasks)
        self.targets = target_slices(self.tasks)
        self.rows = self.slices[-1].stop
        first = [k for k, task in enumerate(self.tasks) if k == 0 or task.priority > self.tasks[k - 1].priority]
        self.starts = (0, self.rows) if one_level else (*(self.slices[k].start for k in first), self.rows)

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.motion.robot

    @cached_property
    def kernel(self) -> Kernel:
        """Kernel: q, last u (k,), targets and settings (5, rows) → A (rows, k), lower and upper (rows + k,)."""
        shapes = {
            "last": (self.motion.S.shape[1],),
            "targets": (self.targets[-1].stop,),
            "settings": (len(SETTINGS), self.rows),
        }
        return compile_robot(self.robot, functions={"stepper_rows": (self._rows, shapes)}).stepper_rows

    @cached_property
    def integrator(self) -> Kernel:
        """Kernel of q and u (k,): the configuration after a tick, and v (nv,)."""
        shapes = {"u": (self.motion.S.shape[1],)}
        return compile_robot(self.robot, functions={"stepper_moved": (self._moved, shapes)}).stepper_moved

    def _rows(self, robot: Robot, q: Array, last: Array, targets: Array, settings: Array) -> tuple[Array, Array, Array]:
        """Scaled rows of the tasks: gain (error − below) ≤ J v − rate ≤ gain (error + above).   [ik.step-rows].

        For accelerations dt is the gain, and J v_last the rate.
        """
        parts = list(zip(self.tasks, self.targets, strict=True))
        errors = ops.concatenate([task.error(robot, q, targets[at]) for task, at in parts])
        J = [task.jacobian(robot, q, targets[at]) @ self.motion.S for task, at in parts]
        before = [A @ last if task.order == 2 else np.zeros(task.rows) for task, A in zip(self.tasks, J, strict=True)]
        scale, gain, below, above, rate = settings
        rate = rate + ops.concatenate(before)
        low, high = self.limits.bounds(q, last)
        lower = scale * (gain * (errors - below) + rate)
        upper = scale * (gain * (errors + above) + rate)
        return scale[:, None] * ops.concatenate(J), ops.concatenate([lower, low]), ops.concatenate([upper, high])

    def _moved(self, robot: Robot, q: Array, u: Array) -> tuple[Array, Array]:
        """The next configuration; rounding does not carry a joint out of its limits."""
        v = self.motion.S @ u
        new = integrate(robot.tree, q, v * self.limits.dt)
        for entry, low, high in zip(self.motion.entry, self.motion.lower, self.motion.upper, strict=True):
            if entry >= 0:
                new[entry] = ops.maximum(
                    ops.minimum(new[entry], ops.maximum(q[entry], high)), ops.minimum(q[entry], low)
                )
        for follower in self.motion.followers:
            new[follower.entry] = follower.offset + follower.ratio * new[follower.leader]
        return new, v
