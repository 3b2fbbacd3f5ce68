"""Controllers: from a state to what the drives do."""

from surefoot.control.force_schedule import ForceSchedule
from surefoot.control.hand_reach import HandReach
from surefoot.control.joint_gains import moved_inertia
from surefoot.control.joint_path import JointPath
from surefoot.control.joint_pd import JointPd
from surefoot.control.joint_waves import JointWaves
from surefoot.control.reactionless_motion import ReactionlessMotion
from surefoot.control.static_balance import StaticBalance, standing_contacts
from surefoot.control.trajectory_follower import TrajectoryFollower

__all__ = [
    "ForceSchedule",
    "HandReach",
    "JointPath",
    "JointPd",
    "JointWaves",
    "ReactionlessMotion",
    "StaticBalance",
    "TrajectoryFollower",
    "moved_inertia",
    "standing_contacts",
]
