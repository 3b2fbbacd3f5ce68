"""Where joints and base are in q and v: joints with an encoder, and a floating or planar base."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.robot import Robot

_PLANAR_ROWS = [0, 1, 5]  # of a twist: along x and y, about z


class EncodedJoints:
    """The joints with one axis that do not carry the whole robot, in the order of the tree.

    `names` are theirs; `others` are the names of joints with more axes, which no encoder measures.
    """

    def __init__(self, robot: Robot) -> None:
        tree = robot.tree
        inner = [i for i in range(tree.n) if i != robot.base_joint and tree.nv_of(i)]
        own = [i for i in inner if tree.nv_of(i) == 1]
        self.names = tuple(tree.joint_names[i] for i in own)
        self.others = tuple(tree.joint_names[i] for i in inner if tree.nv_of(i) > 1)
        self.v_rows = tree.v_index[own]
        self._q_rows = tree.q_index[own]
        turning = np.array([tree.kinds[i] == "continuous" for i in own], dtype=bool)
        self._straight, self._turning = np.flatnonzero(~turning), np.flatnonzero(turning)

    @property
    def size(self) -> int:
        """Their number nj."""
        return len(self.names)

    def positions(self, q: Array) -> Array:
        """(nj,) [rad] or [m] from q (nq,); of a continuous joint the angle in −π…π."""
        out: Array = q[self._q_rows]
        if len(self._turning):
            rows = self._q_rows[self._turning]
            out[self._turning] = np.arctan2(q[rows + 1], q[rows])
        return out

    def velocities(self, v: Array) -> Array:
        """(nj,) [rad/s] or [m/s] from v (nv,)."""
        out: Array = v[self.v_rows]
        return out

    def put(self, positions: Array, q: Array) -> None:
        """Write positions (nj,) into q (nq,)."""
        q[self._q_rows[self._straight]] = positions[self._straight]
        if len(self._turning):
            rows, angles = self._q_rows[self._turning], positions[self._turning]
            q[rows], q[rows + 1] = np.cos(angles), np.sin(angles)

    def shortest(self, difference: Array) -> Array:
        """(nj,) differences of positions, of continuous joints the short way round."""
        if len(self._turning):
            difference[self._turning] = (difference[self._turning] + np.pi) % (2.0 * np.pi) - np.pi
        return difference


class BaseLayout:
    """Where the entries of a free or planar base are, and what they mean."""

    def __init__(self, robot: Robot) -> None:
        joint = int(robot.base_joint or 0)
        self.planar = robot.tree.kinds[joint] == "planar"
        start = int(robot.tree.q_index[joint])
        self._q = slice(start, start + robot.tree.nq_of(joint))
        self._v = robot.base_rows
        self._root = pin.SE3(np.array(robot.tree.placements[joint]))

    def parts(self, q: Array, v: Array) -> tuple[Array, Array] | None:
        """Views of position and quaternion (7,) in q and of the twist (6,) in v; None if there are no such entries."""
        if self.planar or not self._root.isIdentity(0.0):
            return None
        return q[self._q], v[int(self._v[0]) : int(self._v[-1]) + 1]

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
