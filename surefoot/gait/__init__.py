"""Steps of legged robots: footsteps from goals, velocities, paths and worlds; swings that react to obstacles."""

from surefoot.gait.legs import feet_of, foot_contacts, leg_bodies, other_foot, stance_of
from surefoot.gait.reactive_swing import SWINGS, SwingHistory, swing_over, swing_twice
from surefoot.gait.steps import (
    STEEPEST,
    GoalSteps,
    PathSteps,
    PlannedSteps,
    StepLimits,
    StepTimes,
    VelocitySteps,
    all_steps,
    feet_trajectory,
    first_support,
    plan_steps,
    schedule_of,
)
from surefoot.gait.swing_walker import SwingStep

__all__ = [
    "STEEPEST",
    "SWINGS",
    "GoalSteps",
    "PathSteps",
    "PlannedSteps",
    "StepLimits",
    "StepTimes",
    "SwingHistory",
    "SwingStep",
    "VelocitySteps",
    "all_steps",
    "feet_of",
    "feet_trajectory",
    "first_support",
    "foot_contacts",
    "leg_bodies",
    "other_foot",
    "plan_steps",
    "schedule_of",
    "stance_of",
    "swing_over",
    "swing_twice",
]
