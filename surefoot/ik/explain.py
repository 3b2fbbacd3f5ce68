"""Why tasks of inverse kinematics cannot all hold: at a tick of a stepper, and at the best posture of a search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import scipy.sparse as sparse

from surefoot.arrays import Array
from surefoot.ik.position import TOLERANCES, FreeMotion, IkResult, free_motion
from surefoot.ik.stepper import StepResult
from surefoot.robot import Robot
from surefoot.solvers import Explanation, Group, explain
from surefoot.tasks import Task, TaskSet, loop_tasks

_LEVEL_WEIGHT = 1e-2  # what a unit of relaxation costs on each level, relative to the level before
_VIOLATED = 1e-6  # violation of a row that makes a level worth asking about, relative to what rows of it ask for
_STEP = 0.5  # [rad] or [m]: how far joints may go while tasks count as linear


def explain_step(
    result: StepResult, tasks: Sequence[Task] = (), robot: Robot | None = None, joints: Sequence[str] | None = None
) -> Explanation:
    """Which tasks and joint bounds conflict at a tick, and how far each would have to yield.

        tick = stepper.step(q)
        print(explain_step(tick, tasks, robot).sentence)

    Lower priorities yield to higher ones: asked is about the first priority that does not get what it wants, together
    with all before it. Bounds of joints are one group each. A unit of relaxation is cheaper on lower levels.

    Args:
        result: The tick.
        tasks: The tasks of the stepper, for their units; those with several, as poses, become one group for each.
        robot: The robot, for names of joints; bounds are numbered without it.
        joints: As in the stepper.
    """
    problem = result.problem
    motions = [(f"{k}", "") for k in range(problem.unknowns)]
    if robot is not None:
        motions = [(name, f"{unit}/s" if unit else "") for name, unit in _motions(free_motion(robot, joints))]
    known = {task.name: task for task in tasks}
    groups = _bounds(motions, problem.lower[problem.rows :], problem.upper[problem.rows :], "bound of")
    found = None
    place = f"at t = {result.time:.4g} s"
    for level, (first, last) in enumerate(pairwise(problem.starts)):
        for name, at in result.rows.items():
            if first <= at.start < last:
                groups += _rate_groups(result, name, at, known.get(name), _LEVEL_WEIGHT**level)
        if found is None or _violated(result, slice(first, last)):
            found = explain(groups, problem.unknowns, place=place)
        if not found.feasible:
            break
    return found if found is not None else explain(groups, problem.unknowns, place=place)


def explain_posture(
    robot: Robot,
    tasks: Sequence[Task],
    result: IkResult,
    *,
    joints: Sequence[str] | None = None,
    limits: bool = True,
    tolerances: Mapping[str, float] | None = None,
) -> Explanation:
    """Which tasks and joint limits conflict at the best posture that was found, and how far each would have to yield.

        found = sf.ik.solve(robot, tasks)
        if not found.success:
            print(explain_posture(robot, tasks, found).sentence)

    Tasks of the highest priority are asked to hold to their tolerances after a step dq from the posture, with

        error − below − tolerance ≤ J dq ≤ error + above + tolerance,   lower ≤ q + dq ≤ upper        [ik.explain]

    Where the search has come to rest, no dq lowers the errors, so that these rows conflict. Steps are at most 0.5 rad
    or m for each joint, as rows are linear at the posture only. Contacts with obstacles are not asked about.

    Args:
        robot: The robot; closed chains stay closed.
        tasks: As in `solve`.
        result: What `solve` found.
        joints: As in `solve`.
        limits: As in `solve`.
        tolerances: As in `solve`.
    """
    motion = free_motion(robot, joints, limits)
    first = min(task.priority for task in tasks)
    loops = [replace(loop, priority=first) for loop in loop_tasks(robot)]
    must = [*(task for task in tasks if task.priority == first), *loops]
    allowed = {**TOLERANCES, **(tolerances or {})}
    groups: list[Group] = []
    for k, (task, terms) in enumerate(zip(must, TaskSet(robot, must).evaluate(result.q), strict=True)):
        below, above = task.margins
        J = terms.jacobian @ motion.S
        for name, unit, at in _measured(task, ""):
            low, high = terms.error[at] - below[at] - allowed[unit], terms.error[at] + above[at] + allowed[unit]
            groups.append(Group(name, J[at], low, high, unit=_shown(unit), may_relax=k < len(must) - len(loops)))
    q = np.asarray(motion.positions(result.q), dtype=float)
    groups += _bounds(_motions(motion), motion.lower - q, motion.upper - q, "limit of")
    count = motion.S.shape[1]
    return explain([*groups, Group.bounds(f"steps of {_STEP:g}", -_STEP, _STEP, count, may_relax=False)], count)


def _rate_groups(result: StepResult, name: str, at: slice, task: Task | None, weight: float) -> list[Group]:
    """What a task asks of its rates, with its weights taken out again."""
    problem, scale = result.problem, result.scale[at]
    off = scale <= 0.0
    back = 1.0 / np.where(off, 1.0, scale)
    A = problem.A[at] * back[:, None]
    low = np.where(off, -np.inf, result.problem.lower[at] * back)
    high = np.where(off, np.inf, result.problem.upper[at] * back)
    parts = [(name, "", slice(None))] if task is None else _measured(task, "/s")
    return [Group(label, A[k], low[k], high[k], weight, unit) for label, unit, k in parts]


def _measured(task: Task, per: str) -> list[tuple[str, str, slice]]:
    """Name, unit and rows of the parts of a task that have one unit each."""
    units = [unit for unit, _ in task.measures]
    ends = np.cumsum([0, *(count for _, count in task.measures)])
    several = len(set(units)) > 1
    found = []
    for k, (unit, (a, b)) in enumerate(zip(units, pairwise(ends.tolist()), strict=True)):
        number = f" {units[: k + 1].count(unit)}" if units.count(unit) > 1 else ""
        label = f"{task.name} [{_shown(unit) or '1'}]{number}" if several or number else task.name
        found.append((label, unit + per if per and not task.order else unit, slice(a, b)))
    return found


def _shown(unit: str) -> str:
    return "" if unit == "1" else unit


def _bounds(motions: Sequence[tuple[str, str]], lower: Array, upper: Array, what: str) -> list[Group]:
    """One group for each motion that has bounds."""
    rows = sparse.eye_array(len(motions), format="csr")
    has = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper)).tolist()
    weight = 1.0 / _LEVEL_WEIGHT
    return [Group(f"{what} {motions[k][0]}", rows[[k]], lower[k], upper[k], weight, motions[k][1]) for k in has]


def _motions(motion: FreeMotion) -> list[tuple[str, str]]:
    """Name and unit of the motions: of the joint, with a number where it has several."""
    tree, found = motion.robot.tree, []
    first = {int(tree.v_index[i]) + k: (i, k) for i in range(tree.n) for k in range(tree.nv_of(i))}
    for column in motion.S.T:
        i, k = first[int(np.argmax(column != 0.0))]
        name = tree.joint_names[i] + (f" {k}" if tree.nv_of(i) > 1 else "")
        found.append((name, {"prismatic": "m", "revolute": "rad"}.get(tree.kinds[i], "")))
    return found


def _violated(result: StepResult, at: slice) -> bool:
    """Whether rows do not get what they ask for."""
    values, low, high = result.optimum.values[at], result.problem.lower[at], result.problem.upper[at]
    beyond = np.abs(values - np.minimum(np.maximum(values, low), high))
    return bool((beyond > _VIOLATED * (1.0 + np.abs(values))).any())
