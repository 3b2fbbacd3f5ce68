"""Volumes of a robot: fitted, moved with it, stored."""

from surefoot.collision.volumes.hulls import hull_faces, stored_hull
from surefoot.collision.volumes.motion import VolumeMotion, source_text, tree_identity
from surefoot.collision.volumes.postures import checked_postures, is_bounded, random_postures
from surefoot.collision.volumes.reach import Reach, joint_travel, steps_between
from surefoot.collision.volumes.robot import RobotVolumes, quick_volumes, required_volumes, robot_volumes, stored_fit

__all__ = [
    "Reach",
    "RobotVolumes",
    "VolumeMotion",
    "checked_postures",
    "hull_faces",
    "is_bounded",
    "joint_travel",
    "quick_volumes",
    "random_postures",
    "required_volumes",
    "robot_volumes",
    "source_text",
    "steps_between",
    "stored_fit",
    "stored_hull",
    "tree_identity",
]
