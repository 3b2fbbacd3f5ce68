"""Which joints have an encoder, and where their numbers are in q and v."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["EncodedJoints"]

Array = NDArray[np.float64]


class EncodedJoints:
    """The joints with one axis that do not carry the whole robot, in the order of the tree.

    `names` are theirs; `others` are the names of joints with more axes, which no encoder measures.

    Args:
        robot: The robot.
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
        difference[self._turning] = (difference[self._turning] + np.pi) % (2.0 * np.pi) - np.pi
        return difference
