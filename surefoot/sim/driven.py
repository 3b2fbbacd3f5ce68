"""`DrivenJoints`: positions, velocities and limits of the degrees of freedom that have drives."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Command, State
from surefoot.robot import Robot

__all__ = ["DrivenJoints"]


class DrivenJoints:
    """Where the entries of a command are in q and v.

    Args:
        robot: The robot.
    """

    def __init__(self, robot: Robot) -> None:
        tree = robot.tree
        joints = [robot.joint_index(drive.joint) for drive in robot.drives]
        each = np.repeat(joints, [tree.nv_of(i) for i in joints]).astype(np.int64)
        kinds = np.array([tree.kinds[i] for i in each], dtype=object)
        self._rows = robot.driven
        self._q = tree.q_index[each]
        self._turns = kinds == "continuous"
        self._several = np.isin(kinds, ("spherical", "planar", "free", "translation"))
        sizes = [tree.nv_of(i) for i in joints]
        self.torque_limits = np.repeat([drive.torque_limit for drive in robot.drives], sizes).astype(float)

    def positions(self, state: State) -> Array:
        """(nu,) [rad] or [m]; angles of joints that turn without end are in (−π, π], joints with several axes have 0.

        Args:
            state: The state.
        """
        out = np.array(state.q[self._q])
        if self._turns.any():
            first = self._q[self._turns]
            out[self._turns] = np.arctan2(state.q[first + 1], state.q[first])
        out[self._several] = 0.0
        return out

    def velocities(self, state: State) -> Array:
        """(nu,) [rad/s] or [m/s].

        Args:
            state: The state.
        """
        return np.array(state.v[self._rows])

    def error(self, command: Command, state: State) -> Array:
        """(nu,) wanted minus actual positions, the short way round; NaN where none is wanted.

        Args:
            command: What is wanted.
            state: What is.
        """
        if command.position is None:
            return np.full(len(self._q), np.nan)
        out = command.position - self.positions(state)
        return np.where(self._turns, np.remainder(out + np.pi, 2.0 * np.pi) - np.pi, out)
