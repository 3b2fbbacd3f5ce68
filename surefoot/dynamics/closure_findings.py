"""What is to be said about the closed chains of a robot: open at home, or impossible."""

from __future__ import annotations

from surefoot.dynamics.constraint_projection import close, violations
from surefoot.dynamics.constraints import own_constraints
from surefoot.errors import ModelError
from surefoot.robot import Robot
from surefoot.robot.findings import Finding

__all__ = ["closure_findings"]


def closure_findings(robot: Robot) -> list[Finding]:
    """A warning for every chain or coupling that is open at home; an error where no posture near home closes all.

    Args:
        robot: The robot.
    """
    held = own_constraints(robot)
    open_at_home = violations(robot, held, robot.home)
    if not open_at_home:
        return []
    try:
        close(robot, held, robot.home)
    except ModelError as error:
        gaps = violations(robot, held, robot.home)
        text = "; ".join([error.message, *(f"{key}: {value}" for key, value in error.evidence.items())])
        return [Finding("error", next(iter(gaps)), text)]
    return [
        Finding("warning", name, f"open by {gap} in the home posture; it can be closed: surefoot.dynamics.close")
        for name, gap in open_at_home.items()
    ]
