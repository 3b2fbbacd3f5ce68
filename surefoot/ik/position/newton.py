"""Newton's method with line search: the textbook form of position-level inverse kinematics."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.ik.position.result import IkResult
from surefoot.robot import Robot
from surefoot.tasks import Task, TaskSet

_ENOUGH = 1e-4  # share of the decrease that the derivative promises
_SHORTEST = 1e-6  # of the whole step


def newton(
    robot: Robot, tasks: Sequence[Task], q0: ArrayLike | None = None, tolerance: float = 1e-8, most_steps: int = 100
) -> IkResult:
    """Joint positions for equations, without limits: Δq = J⁺ e, shortened until the error falls enough.

        J Δq = e,   q ← q ⊕ s Δq,   s = 1, ½, ¼, …        [ik.newton]   Buschmann 2014, Alg. 9; Armijo 1966

    It ends in a local minimum of the error if it does not find a solution, and it knows no limits: `solve` does.

    Args:
        robot: The robot.
        tasks: Equations of order 0; their weights, priorities and margins do not count.
        q0: (nq,) start; home if omitted.
        tolerance: Largest entry of the error.
        most_steps: When to give up.
    """
    evaluated = TaskSet(robot, tasks)
    q = np.array(robot.home if q0 is None else robot.checked_q(q0))
    error, J = _stacked(evaluated, q)
    steps = 0
    while np.abs(error).max() > tolerance and steps < most_steps:
        step: Array = np.linalg.lstsq(J, error, rcond=1e-10)[0].astype(float)
        shortened = _line_search(evaluated, q, step, error, J)
        if shortened is None:
            break
        q, error, J = shortened
        steps += 1
    left: dict[str, dict[str, float]] = {}
    start = 0
    for task in tasks:
        left[task.name] = {}
        for unit, count in task.measures:
            left[task.name][unit] = float(np.linalg.norm(error[start : start + count]))
            start += count
    return IkResult(q, bool(np.abs(error).max() <= tolerance), left, steps, 1)


def _stacked(tasks: TaskSet, q: Array) -> tuple[Array, Array]:
    error, J = tasks.kernel(q, tasks.targets)
    return error, J


def _line_search(tasks: TaskSet, q: Array, step: Array, error: Array, J: Array) -> tuple[Array, Array, Array] | None:
    """The first of the steps 1, ½, ¼, … that lowers ½|e|² enough; None if none does."""
    cost, slope = 0.5 * error @ error, -(error @ J @ step)
    share = 1.0
    while share > _SHORTEST:
        there = pin.integrate(tasks.robot.model, q, share * step)
        new, J_new = _stacked(tasks, there)
        if 0.5 * new @ new <= cost + _ENOUGH * share * slope:
            return there, new, J_new
        share *= 0.5
    return None
