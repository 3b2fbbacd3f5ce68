"""Problems that several tests solve."""

from __future__ import annotations

from typing import Any

from surefoot.ocp import Problem
from surefoot.robot import load

FEET = ["FL_foot", "FR_foot", "RL_foot", "RR_foot"]


def stand(intervals: int = 10, **others: Any) -> Problem:
    """A quadruped that stands on four feet for half a second, from rest at home."""
    robot = load("go2")
    problem = Problem(robot, **others)
    problem.phase("stand", FEET, intervals, 0.5)
    problem.start(robot.home)
    problem.cost("torque", 1e-3)
    return problem
