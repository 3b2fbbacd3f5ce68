"""The base in q and v: pose and twist of a floating or planar base, and back."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["BaseLayout"]

Array = NDArray[np.float64]
_PLANAR_ROWS = [0, 1, 5]  # of a twist: along x and y, about z


class BaseLayout:
    """Where the entries of a free or planar base are, and what they mean.

    Args:
        robot: A robot with a base joint.
    """

    def __init__(self, robot: Robot) -> None:
        joint = int(robot.base_joint or 0)
        self.planar = robot.tree.kinds[joint] == "planar"
        start = int(robot.tree.q_index[joint])
        self._q = slice(start, start + robot.tree.nq_of(joint))
        self._v = robot.base_rows
        self._root = pin.SE3(np.array(robot.tree.placements[joint]))

    def pose(self, q: Array) -> pin.SE3:
        """T_world_base from q (nq,)."""
        own = q[self._q]
        if not self.planar:
            return self._root * pin.XYZQUATToSE3(np.array(own))
        x, y, c, s = own
        R = np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        return self._root * pin.SE3(R, np.array([x, y, 0.0]))

    def twist(self, v: Array) -> Array:
        """(6,) of the base in its own frame, linear first, from v (nv,)."""
        if not self.planar:
            return np.array(v[self._v])
        out = np.zeros(6)
        out[_PLANAR_ROWS] = v[self._v]
        return out

    def put(self, pose: pin.SE3, twist: Array, q: Array, v: Array) -> None:
        """Write T_world_base and its twist (6,) into q (nq,) and v (nv,); of a planar base what lies in its plane."""
        own = self._root.actInv(pose)
        if not self.planar:
            q[self._q], v[self._v] = pin.SE3ToXYZQUAT(own), twist
            return
        R, p = own.rotation, own.translation
        turn = np.arctan2(R[1, 0] - R[0, 1], R[0, 0] + R[1, 1])
        q[self._q] = [p[0], p[1], np.cos(turn), np.sin(turn)]
        v[self._v] = twist[_PLANAR_ROWS]
