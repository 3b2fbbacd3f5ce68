"""Controllers: from a state to what the drives do."""

from surefoot.control.drive_inertia import moved_inertia
from surefoot.control.hand_reach import HandReach
from surefoot.control.joint_pd import JointPd
from surefoot.control.joint_schedules import ForceSchedule, JointPath, JointWaves
from surefoot.control.reactionless_motion import InversionMotion, ReactionlessMotion
from surefoot.control.static_balance import StaticBalance, standing_contacts
from surefoot.control.trajectory_follower import TrajectoryFollower

__all__ = [
    "ForceSchedule",
    "HandReach",
    "InversionMotion",
    "JointPath",
    "JointPd",
    "JointWaves",
    "ReactionlessMotion",
    "StaticBalance",
    "TrajectoryFollower",
    "moved_inertia",
    "standing_contacts",
]
