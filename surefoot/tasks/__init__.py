"""Tasks: what a robot should do, one family for inverse kinematics and for control."""

from surefoot.tasks.clearance import Clearance
from surefoot.tasks.com import CenterOfMass
from surefoot.tasks.contact import Contact, LoopClosure, loop_tasks
from surefoot.tasks.frame import FrameOrientation, FramePose, FramePosition
from surefoot.tasks.gaze import Gaze
from surefoot.tasks.joint_rates import JointAccelerations, JointSpeeds
from surefoot.tasks.joints import JointCoupling, JointLimits, Posture
from surefoot.tasks.manipulability import Manipulability
from surefoot.tasks.momentum import AngularMomentum
from surefoot.tasks.support import Support
from surefoot.tasks.task import Task, limited_error, require_activation
from surefoot.tasks.task_set import TaskSet, Terms, checked_tasks, row_slices, target_slices

__all__ = [
    "AngularMomentum",
    "CenterOfMass",
    "Clearance",
    "Contact",
    "FrameOrientation",
    "FramePose",
    "FramePosition",
    "Gaze",
    "JointAccelerations",
    "JointCoupling",
    "JointLimits",
    "JointSpeeds",
    "LoopClosure",
    "Manipulability",
    "Posture",
    "Support",
    "Task",
    "TaskSet",
    "Terms",
    "checked_tasks",
    "limited_error",
    "loop_tasks",
    "require_activation",
    "row_slices",
    "target_slices",
]
