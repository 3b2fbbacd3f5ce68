"""`PlannedTracker`: follows a plan by whole-body control."""

from __future__ import annotations

from surefoot.control.legged import MotionTracker
from surefoot.robot import Robot
from surefoot.scenario.motions.plan import Plan, Planned

__all__ = ["PlannedTracker"]


class PlannedTracker(Planned, MotionTracker):
    """Follows the trajectory of a plan by whole-body control.

    Args:
        robot: A legged robot.
        plan: The plan; its trajectory has a contact schedule.
    """

    def __init__(self, robot: Robot, plan: Plan) -> None:
        super().__init__(robot, plan.trajectory)
        self.plan = plan
