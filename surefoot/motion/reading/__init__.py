"""Motions from anywhere: our own files, tables with named columns, logs of simulators and policies, arrays."""

from surefoot.motion.reading.ground import on_ground
from surefoot.motion.reading.joint_order import JointOrder, judge_joint_order
from surefoot.motion.reading.order import (
    OrderVerdict,
    heights_above,
    judge_order_over_time,
    link_corners,
    link_placements,
    other_order,
)
from surefoot.motion.reading.parts import PUSH
from surefoot.motion.reading.read import GivenMotion, read_motion

__all__ = [
    "PUSH",
    "GivenMotion",
    "JointOrder",
    "OrderVerdict",
    "heights_above",
    "judge_joint_order",
    "judge_order_over_time",
    "link_corners",
    "link_placements",
    "on_ground",
    "other_order",
    "read_motion",
]
