"""Tasks of a robot that stands, as data: what is held or looked at, from when to when, and before what it goes.

A task fades in, stays, fades out, and is out: it then takes no part in the problem. Directions and places are those of
the stance: x forward, y to the left, z up, from the middle between the feet.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.control.balance.body import BalancedBody
from surefoot.control.balance.hands import places_in
from surefoot.control.balance.moves import Vector, rise
from surefoot.control.whole_body import TaskHandle
from surefoot.errors import ShapeError, one_of
from surefoot.spatial import so3
from surefoot.tasks import FrameOrientation, FramePosition, Gaze, Task

__all__ = ["Goal", "HoldOrientation", "HoldPosition", "LookAt", "TimedTask", "TimedTasks"]

Level = Literal["limbs", "reach", "posture"]
LEVELS: tuple[Level, ...] = ("limbs", "reach", "posture")
"""Before the centre of mass, after it, or last, beside the trunk and the posture by weight."""
_ON = 0.3  # share of the fade in which a task that begins comes to count: its target begins where the frame is


class Goal(ABC):
    """What a task is about."""

    frame: str
    rows: ClassVar[str] = "m"

    @abstractmethod
    def task(self, name: str, priority: int, weight: float) -> Task:
        """What is compiled; the arguments are those of `Task`."""

    @abstractmethod
    def lead(self, handle: TaskHandle, T: Array, begin: Array, share: Array) -> None:
        """Set the target.

        Args:
            handle: Of the task.
            T: (4, 4) of the stance in world.
            begin: (4, 4) of the frame in the stance when the task began.
            share: (3,) of the way that is made; its rate and acceleration.
        """


@dataclass(frozen=True)
class HoldPosition(Goal):
    """Bring the origin of a frame somewhere, and hold it there.

    Args:
        frame: Link or frame.
        offset: From where it is when the task begins [m].
        target: Place in the stance [m], instead of an offset.
    """

    frame: str
    offset: Vector = (0.0, 0.0, 0.0)
    target: Vector | None = None

    def task(self, name: str, priority: int, weight: float) -> Task:
        """See `Goal`."""
        return FramePosition(self.frame, np.zeros(3), name=name, priority=priority, weight=weight)

    def lead(self, handle: TaskHandle, T: Array, begin: Array, share: Array) -> None:
        """See `Goal`."""
        way = np.array(self.offset) if self.target is None else np.array(self.target) - begin[:3, 3]
        handle.target[:] = T[:3, 3] + T[:3, :3] @ (begin[:3, 3] + share[0] * way)
        handle.set_rates(share[1] * (T[:3, :3] @ way), share[2] * (T[:3, :3] @ way))


@dataclass(frozen=True)
class HoldOrientation(Goal):
    """Turn a frame, and hold it so.

    Args:
        frame: Link or frame.
        turn: Rotation vector in the stance, from how it is when the task begins [rad].
    """

    frame: str
    turn: Vector = (0.0, 0.0, 0.0)
    rows: ClassVar[str] = "rad"

    def task(self, name: str, priority: int, weight: float) -> Task:
        """See `Goal`."""
        return FrameOrientation(self.frame, np.eye(3), name=name, priority=priority, weight=weight)

    def lead(self, handle: TaskHandle, T: Array, begin: Array, share: Array) -> None:
        """See `Goal`."""
        way = np.array(self.turn)
        handle.target[:] = (T[:3, :3] @ so3.exp(share[0] * way) @ begin[:3, :3]).ravel()
        handle.set_rates(share[1] * (T[:3, :3] @ way), share[2] * (T[:3, :3] @ way))


@dataclass(frozen=True)
class LookAt(Goal):
    """Turn an axis of a frame to a point.

    Args:
        frame: Link or frame.
        target: The point in the stance [m].
        axis: In the frame: where it looks.
    """

    frame: str
    target: Vector = (1.0, 0.0, 1.0)
    axis: Vector = (1.0, 0.0, 0.0)
    rows: ClassVar[str] = "rad"

    def task(self, name: str, priority: int, weight: float) -> Task:
        """See `Goal`."""
        return Gaze(self.frame, self.target, self.axis, name=name, priority=priority, weight=weight)

    def lead(self, handle: TaskHandle, T: Array, begin: Array, share: Array) -> None:
        """See `Goal`."""
        axis, target = np.array(self.axis), np.array(self.target)
        far = np.linalg.norm(target - begin[:3, 3]) / np.linalg.norm(axis)
        before = begin[:3, 3] + begin[:3, :3] @ axis * far
        handle.target[:] = T[:3, 3] + T[:3, :3] @ (before + share[0] * (target - before))


@dataclass(frozen=True)
class TimedTask:
    """A task with its place among the others and its times.

    Args:
        goal: What it is about.
        name: Unique among the tasks.
        level: One of `LEVELS`.
        weight: Among the tasks of its level.
        stiffness: [1/s²]; critically damped.
        start: When it begins [s]; None: when it is begun by its name.
        end: When it begins to fade out [s]; None: when it is ended by its name.
        fade: How long it fades, and moves to its target [s].
    """

    goal: Goal
    name: str
    level: Level = "reach"
    weight: float = 1.0
    stiffness: float = 200.0
    start: float | None = 0.0
    end: float | None = None
    fade: float = 0.5

    def __post_init__(self) -> None:
        if self.level not in LEVELS:
            raise one_of("level", self.level, LEVELS)
        if not (self.fade > 0.0 and self.stiffness > 0.0 and self.weight > 0.0):
            raise ShapeError(f"fade, stiffness and weight of the task `{self.name}` must be above 0")
        if self.start is not None and self.end is not None and self.end < self.start + self.fade:
            raise ShapeError(
                f"the task `{self.name}` ends before it has faded in",
                next_step=f"give it an end of at least {self.start + self.fade:g} s, or a shorter fade",
            )

    @property
    def task(self) -> Task:
        """What is compiled."""
        return self.goal.task(f"task {self.name}", LEVELS.index(self.level), self.weight)


class TimedTasks:
    """Begins, leads and ends tasks.

    Args:
        tasks: All that may be used; the problem is compiled with them.
        body: Has them.
    """

    def __init__(self, tasks: Sequence[TimedTask], body: BalancedBody) -> None:
        self._tasks, self._body = {task.name: task for task in tasks}, body
        self._start = {task.name: task.start for task in tasks}
        self._end = {task.name: task.end for task in tasks}
        self._begun: dict[str, Array] = {}
        self.active: dict[str, float] = {}
        """How far each task counts now, from 0 to 1; those that are out are missing."""
        for task in tasks:
            handle = body[task.task.name]
            handle.set_gains(task.stiffness)
            handle.set_activation(0.0)

    def begin(self, name: str, t: float) -> None:
        """Begin a task, again if it has ended.

        Args:
            name: Of the task.
            t: When [s].
        """
        self._known(name)
        self._start[name], self._end[name] = t, None
        self._begun.pop(name, None)

    def end(self, name: str, t: float) -> None:
        """Let a task fade out.

        Args:
            name: Of the task.
            t: When [s].
        """
        self._known(name)
        self._end[name] = t

    def _known(self, name: str) -> None:
        if name not in self._tasks:
            raise one_of("task", name, self._tasks)

    def lead(self, t: float, q: Array, T: Array) -> None:
        """Set targets and activations.

        Args:
            t: Now [s].
            q: (nq,) configuration.
            T: (4, 4) of the stance in world.
        """
        for name, task in self._tasks.items():
            start, end, handle = self._start[name], self._end[name], self._body[f"task {name}"]
            is_on = start is not None and t >= start and (end is None or t < end + task.fade)
            if start is None or not is_on:
                if self.active.pop(name, None) is not None:
                    handle.set_activation(0.0)
                continue
            if name not in self._begun:
                self._begun[name] = places_in(self._body.robot, q, T, {task.goal.frame})[task.goal.frame]
            share = rise(t - start, task.fade)
            task.goal.lead(handle, T, self._begun[name], share)
            left = 1.0 if end is None else 1.0 - float(rise(t - end, task.fade)[0])
            self.active[name] = float(rise(t - start, _ON * task.fade)[0]) * left
            handle.set_activation(self.active[name])

    def error(self, rows: str) -> float:
        """Largest error of the tasks that count in full [m] or [rad].

        Args:
            rows: "m" or "rad".
        """
        full = [name for name, share in self.active.items() if share == 1.0 and self._tasks[name].goal.rows == rows]
        errors = [self._body.problem.error_of(f"task {name}") for name in full]
        return max((float(np.linalg.norm(error)) for error in errors), default=0.0)
