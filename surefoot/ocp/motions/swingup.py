"""Swing a pole up with its cart: the benchmark of Koch, section 5.3 and table G.1."""

from __future__ import annotations

import numpy as np

from surefoot.errors import one_of
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.problem import Problem
from surefoot.robot import Robot

LONGEST = 3.7
"""Duration of the swing with least energy, and the longest in least time [s]: Koch, table G.1."""


def swingup(
    robot: Robot,
    nodes: int = 21,
    objective: str = "energy",
    formulation: Formulation | None = None,
    duration: float = LONGEST,
) -> Problem:
    """From hanging to upright, at rest at both ends.

    Args:
        robot: A cart-pole with the joints `slide` and `swing`, such as `cartpole:bearing`.
        nodes: Number of nodes; one more than intervals.
        objective: "energy": ½ ∫ F² dt in a given time; "time": least time.
        formulation: Forward dynamics with RK4 and piecewise linear force if None.
        duration: Of the motion, or its upper bound [s].
    """
    if objective not in ("energy", "time"):
        raise one_of("objective", objective, ("energy", "time"))
    problem = Problem(robot, formulation=formulation or Formulation("forward", "rk4", "plc"))
    times = duration if objective == "energy" else (0.1 * duration, 0.8 * duration, duration)
    problem.phase("swing", (), nodes - 1, times)
    problem.start(robot.q_of({"swing": -np.pi}))
    problem.end(robot.q_of({}), only=("slide", "swing"))
    problem.cost("torque" if objective == "energy" else "time", 1.0)
    return problem
