"""Tasks: what a robot should do, one family for inverse kinematics and for control."""

from surefoot.tasks.com import CenterOfMass
from surefoot.tasks.frame import FrameOrientation, FramePose, FramePosition
from surefoot.tasks.task import Task, limited_error
from surefoot.tasks.task_set import TaskSet, Terms

__all__ = [
    "CenterOfMass",
    "FrameOrientation",
    "FramePose",
    "FramePosition",
    "Task",
    "TaskSet",
    "Terms",
    "limited_error",
]
