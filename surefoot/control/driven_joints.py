"""Which entries of q, v and commands belong to the driven joints, and how followers move with them."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot

__all__ = ["DrivePositions", "coupled_motion", "drive_index"]


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


def coupled_motion(robot: Robot) -> Array:
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


class DrivePositions:
    """Positions of the driven joints, in the order of `robot.drives`.

    Args:
        robot: The robot; its driven joints have one axis each.

    Raises:
        NotSupportedError: A driven joint has several axes.
    """

    def __init__(self, robot: Robot) -> None:
        joints = [robot.joint_index(drive.joint) for drive in robot.drives]
        for i in joints:
            if robot.tree.nv_of(i) != 1:
                raise NotSupportedError(
                    f"joint `{robot.tree.joint_names[i]}` is {robot.tree.kinds[i]}; joint control needs one axis",
                    next_step="use a chain of one-axis joints",
                )
        self._entries = np.array(robot.tree.q_index[joints], dtype=np.int64)
        self._turns = np.array([robot.tree.nq_of(i) == 2 for i in joints], dtype=bool)

    def of(self, q: Array) -> Array:
        """(nu,) positions [rad] or [m], of continuous joints as an angle in −π … π.

        Args:
            q: (nq,) configuration.
        """
        out, first = np.array(q[self._entries]), self._entries[self._turns]
        out[self._turns] = np.arctan2(q[first + 1], q[first])
        return out
