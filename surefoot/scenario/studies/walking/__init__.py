"""The study of walks: goal, speed, steps, and why a robot fell."""

from surefoot.scenario.studies.walking.steps import Step, WalkRecord
from surefoot.scenario.studies.walking.walk import GOAL_ANGLE, GOAL_DISTANCE, walk

__all__ = ["GOAL_ANGLE", "GOAL_DISTANCE", "Step", "WalkRecord", "walk"]
