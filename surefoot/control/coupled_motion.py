"""How followers move with the joints that lead them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["coupled_motion"]


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
