"""Legged robots under whole-body control: feet, centre of mass and trunk; reach of the legs; flat poses."""

from surefoot.control.legged.body import LeggedBody
from surefoot.control.legged.guard import TickGuard
from surefoot.control.legged.legs import (
    LegReach,
    com_over_soles,
    foot_momenta,
    leg_bodies,
    leg_reach,
    posture_at_height,
    require_flat_feet,
)
from surefoot.control.legged.outputs import OutputKind, PositionOutput
from surefoot.control.legged.planar import closest_inside, flat_pose, local, placement_of, turned, world, wrapped
from surefoot.control.legged.replay import WholeBodyFollower

__all__ = [
    "LegReach",
    "LeggedBody",
    "OutputKind",
    "PositionOutput",
    "TickGuard",
    "WholeBodyFollower",
    "closest_inside",
    "com_over_soles",
    "flat_pose",
    "foot_momenta",
    "leg_bodies",
    "leg_reach",
    "local",
    "placement_of",
    "posture_at_height",
    "require_flat_feet",
    "turned",
    "world",
    "wrapped",
]
