"""Where a joint stands in the commands."""

from __future__ import annotations

from surefoot.errors import NotSupportedError, one_of
from surefoot.robot import Robot

__all__ = ["drive_index"]


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
        raise NotSupportedError(
            f"joint `{joint}` is {robot.tree.kinds[i]}; one number does not drive it", subject=joint, kind="joint"
        )
    return robot.driven.tolist().index(int(robot.tree.v_index[i]))
