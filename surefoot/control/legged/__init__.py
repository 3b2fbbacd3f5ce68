"""Legged robots under whole-body control: feet, centre of mass and trunk; reach of the legs; flat poses."""

from surefoot.control.legged.body import LeggedBody
from surefoot.control.legged.legs import LegReach, leg_reach, posture_at_height
from surefoot.control.legged.outputs import OutputKind, PositionOutput
from surefoot.control.legged.planar import closest_inside, flat_pose, local, placement_of, turned, world, wrapped
from surefoot.control.legged.replay import WholeBodyFollower
from surefoot.control.legged.tracker import MotionTracker

__all__ = [
    "LegReach",
    "LeggedBody",
    "MotionTracker",
    "OutputKind",
    "PositionOutput",
    "WholeBodyFollower",
    "closest_inside",
    "flat_pose",
    "leg_reach",
    "local",
    "placement_of",
    "posture_at_height",
    "turned",
    "world",
    "wrapped",
]
