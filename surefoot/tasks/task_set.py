"""`TaskSet`: all tasks of a robot, evaluated by one compiled kernel."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.codegen import Kernel
from surefoot.compiler import compile_robot
from surefoot.errors import ShapeError, one_of
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks.task import Task


class Terms(NamedTuple):
    """Error, Jacobian and drift of a task at one state.

    Args:
        error: (rows,) target − value.
        jacobian: (rows, nv).
        bias: (rows,) J̇ v; None if no velocity was given.
    """

    error: Numbers
    jacobian: Numbers
    bias: Numbers | None


class TaskSet:
    """The tasks of a robot: errors, Jacobians and J̇ v of all of them in one call.

        tasks = TaskSet(robot, [FramePose("left_hand", T), CenterOfMass(c)])
        hand, com = tasks.evaluate(q)
        tasks.set_target("com", c + 0.01)

    Targets are run-time numbers; the structure of the tasks is compiled in. Errors and Jacobians are the same whatever
    weights and activations are: `weights` has these.

    Args:
        robot: The robot.
        tasks: The tasks; their names differ.
    """

    def __init__(self, robot: Robot, tasks: Sequence[Task]) -> None:
        self.robot, self.tasks = robot, list(checked_tasks(tasks, robot))
        self.slices = target_slices(self.tasks)
        self.rows = row_slices(self.tasks)
        self.targets = np.concatenate([np.zeros(0), *(task.numbers for task in self.tasks)])
        functions = {"task_terms": self._terms, "task_terms_moving": self._terms_moving}
        shapes = {"targets": self.targets.shape}
        self._kernels = compile_robot(robot, functions={k: (f, shapes) for k, f in functions.items()})

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def index(self, name: str) -> int:
        """Number of a task."""
        names = [task.name for task in self.tasks]
        if name not in names:
            raise one_of("task", name, names)
        return names.index(name)

    def set_target(self, name: str, target: ArrayLike) -> None:
        """Give a task another target.

        Args:
            name: The task.
            target: As in its constructor.
        """
        k = self.index(name)
        self.tasks[k] = self.tasks[k].with_target(target)
        self.targets[self.slices[k]] = self.tasks[k].numbers

    def set_activation(self, name: str, activation: float) -> None:
        """Let a task count more or less.

        Args:
            name: The task.
            activation: 0: it does not count; 1: it counts in full.
        """
        k = self.index(name)
        self.tasks[k] = replace(self.tasks[k], activation=activation)

    @property
    def weights(self) -> Numbers:
        """How far every row counts (rows,): the weight of its task times its activation."""
        return np.concatenate([task.weights for task in self.tasks])

    @property
    def kernel(self) -> Kernel:
        """Kernel of q and targets: errors (rows,) and Jacobians (rows, nv) of all tasks, one below the other."""
        return self._kernels.task_terms

    @property
    def moving_kernel(self) -> Kernel:
        """Kernel of q, v and targets: errors (rows,), Jacobians (rows, nv) and J̇ v (rows,) of all tasks."""
        return self._kernels.task_terms_moving

    def evaluate(self, q: ArrayLike, v: ArrayLike | None = None) -> list[Terms]:
        """Errors and Jacobians, with a velocity also J̇ v, of every task.

        Args:
            q: (nq,) or (n, nq).
            v: (nv,) or (n, nv).
        """
        found = self.kernel(q, self.targets) if v is None else self.moving_kernel(q, v, self.targets)
        error, jacobian, bias = (*found, None)[:3]
        return [
            Terms(error[..., rows], jacobian[..., rows, :], None if bias is None else bias[..., rows])
            for rows in self.rows
        ]

    def _terms(self, robot: Robot, q: Array, targets: Array) -> tuple[Array, Array]:
        parts = [(task, targets[part]) for task, part in zip(self.tasks, self.slices, strict=True)]
        errors = ops.concatenate([task.error(robot, q, target) for task, target in parts])
        return errors, ops.concatenate([task.jacobian(robot, q, target) for task, target in parts])

    def _terms_moving(self, robot: Robot, q: Array, v: Array, targets: Array) -> tuple[Array, Array, Array]:
        parts = [(task, targets[part]) for task, part in zip(self.tasks, self.slices, strict=True)]
        biases = [task.bias(robot, q, v, target) for task, target in parts]
        return *self._terms(robot, q, targets), ops.concatenate(biases)


def checked_tasks(tasks: Sequence[Task], robot: Robot | None = None) -> Sequence[Task]:
    """The tasks, or a clear error if there are none, if one is not a task or is for another robot, or if names repeat.

    Args:
        tasks: The tasks.
        robot: The robot that they are for.
    """
    if not isinstance(tasks, list | tuple) or not all(isinstance(task, Task) for task in tasks):
        raise ShapeError("tasks must be a list of tasks", evidence={"given": type(tasks).__name__})
    if not tasks:
        raise ShapeError("there are no tasks", next_step="give at least one, as FramePose(…)")
    names = [task.name for task in tasks]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ShapeError("names of tasks repeat", evidence={"names": repeated}, next_step="give one of them a `name`")
    if robot is not None:
        for task in tasks:
            made_for = getattr(task, "robot", robot)
            if made_for.joint_names != robot.joint_names:
                raise ShapeError(f"task `{task.name}` is for `{made_for.name}`, not for `{robot.name}`")
    return tasks


def target_slices(tasks: Sequence[Task]) -> list[slice]:
    """Where the target of each task is among the numbers of all targets."""
    return _slices([task.target_size for task in tasks])


def row_slices(tasks: Sequence[Task]) -> list[slice]:
    """Where the rows of each task are among the rows of all tasks."""
    return _slices([task.rows for task in tasks])


def _slices(sizes: Sequence[int]) -> list[slice]:
    ends = np.cumsum([0, *sizes])
    return [slice(int(a), int(b)) for a, b in itertools.pairwise(ends)]
