"""Steps of legged robots: footsteps from goals, velocities, paths and worlds. `swings`: feet that give way."""

from surefoot.gait.legs import feet_of, foot_contacts, leg_bodies, other_foot, stance_of
from surefoot.gait.steps import (
    STEEPEST,
    GoalSteps,
    PathSteps,
    PlannedSteps,
    ReplannedSteps,
    StepLimits,
    StepTimes,
    VelocitySteps,
    all_steps,
    feet_trajectory,
    first_support,
    plan_steps,
    require_free,
    schedule_of,
)

__all__ = [
    "STEEPEST",
    "GoalSteps",
    "PathSteps",
    "PlannedSteps",
    "ReplannedSteps",
    "StepLimits",
    "StepTimes",
    "VelocitySteps",
    "all_steps",
    "feet_of",
    "feet_trajectory",
    "first_support",
    "foot_contacts",
    "leg_bodies",
    "other_foot",
    "plan_steps",
    "require_free",
    "schedule_of",
    "stance_of",
]
