"""Problems for receding horizons: standing, and gaits in which two diagonal pairs of feet take turns."""

from __future__ import annotations

import numpy as np

from surefoot.errors import NotSupportedError
from surefoot.ocp import blocks
from surefoot.ocp.formulation import Formulation
from surefoot.ocp.problem import Problem
from surefoot.robot import Robot


def stand(robot: Robot, step: float = 0.02, formulation: Formulation | None = None) -> Problem:
    """Keep the home posture on all contacts.

    Args:
        robot: A robot with a floating base that stands on its contacts at home.
        step: Length of an interval [s].
        formulation: Direct inverse dynamics with semi-implicit steps if None.
    """
    if robot.base != "floating" or not robot.contacts:
        raise NotSupportedError(
            f"`{robot.name}` does not stand on contacts", next_step="use a robot with a floating base and feet"
        )
    problem = Problem(robot, formulation=formulation)
    problem.limits(positions=False, velocities=False)
    problem.phase("stand", list(robot.contacts), 1, step)
    home = problem.chart.coordinates(robot.home)
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    problem.cost("posture", 100.0, reference=home)
    problem.cost("speed", 1.0)
    problem.cost("acceleration", 1e-3)
    problem.cost("contact_force", 10.0 / weight**2)
    problem.cost("last posture", 20.0, blocks.posture, reference=home, at="end", key=("posture",))
    problem.cost("last speed", 0.5, blocks.speed, at="end", key=("speed",))
    return problem
