"""Which entries of q, v and commands belong to the driven joints, and how followers move with them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot

__all__ = ["coupled_motion", "drive_index"]


def drive_index(robot: Robot, joint: str) -> int:
    """The entry of a command that drives a joint.

    Args:
        robot: The robot.
        joint: Its name.

    Raises:
        UnknownNameError: It has no drive, or does not exist.
        NotSupportedError: It has several axes, so that one number does not drive it.
    """
    driven = [drive.joint for drive in robot.drives]
    if joint not in driven:
        raise one_of("driven joint", joint, driven)
    i = robot.joint_index(joint)
    if robot.tree.nv_of(i) != 1:
        raise NotSupportedError(f"joint `{joint}` is {robot.tree.kinds[i]}; one number does not drive it")
    return robot.driven.tolist().index(int(robot.tree.v_index[i]))


def coupled_motion(robot: Robot) -> NDArray[np.float64]:
    """G (nv, nv): column k has the velocities of all joints for unit speed of row k, followers moving with it.

    Gᵀ takes generalised forces to leaders: that of each follower is added to its leader's, times the ratio.

    Args:
        robot: The robot; without couplings G is the identity.
    """
    out = np.eye(robot.nv)
    for item in robot.couplings:
        follower, leader = (int(robot.tree.v_index[robot.joint_index(name)]) for name in (item.joint, item.source))
        out[follower, leader] = item.ratio
    return out
