"""The run-time numbers of a problem against its definition."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import ShapeError
from surefoot.ik.position.free_motion import free_motion
from surefoot.ik.position.problem import PositionProblem
from surefoot.tasks import CenterOfMass, FramePosition, Task

TOLERANCES = {"m": 1e-3, "rad": 1e-2, "1": 1e-4}


@pytest.fixture(scope="module")
def problem() -> PositionProblem:
    robot = sf.load("panda")
    return PositionProblem(free_motion(robot), [hand([0.4, 0.0, 0.5]), centre()])


def hand(target: list[float], weight: object = 1.0) -> FramePosition:
    return FramePosition("panda_hand_tcp", target, name="hand", weight=weight)  # type: ignore[arg-type]


def centre(above: object = 0.5) -> CenterOfMass:
    return CenterOfMass([0.0, 0.1, 0.2], name="centre", above=above, priority=1)  # type: ignore[arg-type]


def by_hand(tasks: list[Task], tolerances: dict[str, float]) -> list[float]:
    """Target, roots of the weights over the largest of their priority, margins of inequalities, 1 / tolerance²."""
    first, second = tasks
    scale = [1.0 / tolerances["m"] ** 2]
    return [
        *first.numbers, *np.sqrt(first.weights / first.weights.max()), *scale,
        *second.numbers, *np.sqrt(second.weights / second.weights.max()),
        *np.minimum(second.margins[0], 1e30), *np.minimum(second.margins[1], 1e30), *scale,
    ]  # fmt: skip


def test_parameters_are_those_of_the_tasks_whatever_came_before(problem: PositionProblem) -> None:
    """Each with each before it: other targets, weights, margins, activations or tolerances, in numbers and arrays."""
    plain, fine = [hand([0.4, 0.0, 0.5]), centre()], {**TOLERANCES, "m": 1e-5}
    cases: list[tuple[list[Task], dict[str, float]]] = [
        (list(plain), TOLERANCES),
        (list(plain), fine),
        ([hand([0.1, 0.2, 0.3]), centre()], TOLERANCES),
        ([hand([0.4, 0.0, 0.5], np.array([1.0, 2.0, 3.0])), centre()], TOLERANCES),
        ([hand([0.4, 0.0, 0.5], np.array([1.0, 2.0, 4.0])), centre()], TOLERANCES),
        ([plain[0], centre(0.25)], TOLERANCES),
        ([plain[0], centre(np.inf)], TOLERANCES),
        ([plain[0], centre(np.array([0.5, 0.5, 0.25]))], TOLERANCES),
        ([replace(plain[0], activation=0.5), plain[1]], TOLERANCES),
    ]
    for before, after in itertools.product(cases, cases):
        problem.parameters(*before)
        np.testing.assert_array_equal(problem.parameters(*after), by_hand(*after))


def test_parameters_belong_to_the_caller(problem: PositionProblem) -> None:
    tasks = [hand([0.4, 0.0, 0.5]), centre()]
    problem.parameters(tasks, TOLERANCES)[:] = np.nan
    np.testing.assert_array_equal(problem.parameters(tasks, TOLERANCES), by_hand(tasks, TOLERANCES))


def test_tolerances_that_the_caller_changes_count(problem: PositionProblem) -> None:
    tasks, tolerances = [hand([0.4, 0.0, 0.5]), centre()], dict(TOLERANCES)
    problem.parameters(tasks, tolerances)
    tolerances["m"] = 0.5
    np.testing.assert_array_equal(problem.parameters(tasks, tolerances), by_hand(tasks, tolerances))


def test_rows_without_weight_are_refused_again_and_again(problem: PositionProblem) -> None:
    tasks = [hand([0.4, 0.0, 0.5], np.array([1.0, 0.0, 1.0])), centre()]
    for _ in range(2):
        with pytest.raises(ShapeError, match="some rows of task `hand` have weight 0"):
            problem.parameters(tasks, TOLERANCES)


def test_a_task_that_is_off_does_not_decide_what_must_hold() -> None:
    robot = sf.load("panda")
    T = robot.placements(robot.q_of({"panda_joint2": 0.4, "panda_joint4": -1.2}))["panda_hand_tcp"]
    off = sf.tasks.Posture(robot, robot.home, name="rest", priority=0, activation=0.0)
    result = sf.ik.solve(robot, [off, sf.tasks.FramePose("panda_hand_tcp", T, name="hand", priority=1)])
    alone = sf.ik.solve(robot, [sf.tasks.FramePose("panda_hand_tcp", T, name="hand")])
    assert result.success
    assert alone.success
    assert np.abs(robot.placements(result.q)["panda_hand_tcp"] - T).max() < 1e-3
