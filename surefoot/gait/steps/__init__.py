"""Footsteps of bipeds: limits, sources, planning around obstacles, and schedules for other rooms."""

from surefoot.gait.steps.footing import STEEPEST
from surefoot.gait.steps.limits import StepLimits
from surefoot.gait.steps.obstacles import BodyBox, Obstacles
from surefoot.gait.steps.replanning import ReplannedSteps
from surefoot.gait.steps.schedule import StepTimes, feet_trajectory, schedule_of
from surefoot.gait.steps.search import plan_steps, require_free
from surefoot.gait.steps.sources import (
    GoalSteps,
    PathSteps,
    PlannedSteps,
    VelocitySteps,
    all_steps,
    first_support,
)

__all__ = [
    "STEEPEST",
    "BodyBox",
    "GoalSteps",
    "Obstacles",
    "PathSteps",
    "PlannedSteps",
    "ReplannedSteps",
    "StepLimits",
    "StepTimes",
    "VelocitySteps",
    "all_steps",
    "feet_trajectory",
    "first_support",
    "plan_steps",
    "require_free",
    "schedule_of",
]
