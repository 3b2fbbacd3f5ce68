"""Problems without a solution name the limits that conflict, also where rows are few."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.ocp import Problem, SolverOptions
from surefoot.robot import load
from surefoot.solvers.explain import UnsolvedError
from tests.ocp.problems import stand


def _too_high(intervals: int = 10, home: bool = False) -> Problem:
    problem = stand(intervals)
    problem.constrain("high", lambda node: node.com[2:], 0.9, at="end")
    if home:
        problem.end(problem.robot.home)
    return problem


def _too_fast(name: str, way: np.ndarray, intervals: int, duration: float) -> Problem:
    robot = load(name)
    problem = Problem(robot)
    problem.phase("reach", (), intervals, duration)
    problem.start(robot.home)
    problem.end(robot.home + way)
    problem.cost("torque", 1e-5)
    return problem


CASES = [
    (_too_high, {"high @ stand", "position at the start"}),
    (lambda: _too_high(home=True), {"high @ stand", "position at the end"}),
    (lambda: _too_fast("panda", 0.4 * np.array([1, -1, 1, 1, 0, 0, 0, 0, 0]), 15, 0.1), {"position at the end"}),
    (lambda: _too_fast("ur5", np.ones(6), 20, 0.15), {"speed limit @ reach", "position at the end"}),
]


@pytest.mark.slow
@pytest.mark.parametrize(("make", "named"), CASES, ids=["high", "high-and-home", "panda", "ur5"])
def test_the_limits_that_conflict_are_named(make, named) -> None:
    solution = make().solve()
    assert not solution.success
    found = solution.explain()
    assert named <= set(found.names)
    assert found.sentence in solution.trouble
    assert found is solution.explain()  # computed once


def test_what_is_violated_is_listed_where_nothing_is_explained(monkeypatch) -> None:
    solution = _too_high(2).solve(options=SolverOptions(max_iterations=3))
    assert "Violated most: " in solution.trouble
    assert "high @ stand" in solution.trouble

    def unsolved(*_, **__):
        raise UnsolvedError("rounding")

    monkeypatch.setattr("surefoot.ocp.solution.explain_conflict", unsolved)
    assert "high @ stand" in _too_high(2).solve().trouble
