"""The corners of the contact surfaces that a robot stands on, and how they move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["SoleCorners"]

Array = NDArray[np.float64]
_CROSS = np.array([pin.skew(axis) for axis in np.eye(3)]).reshape(3, 9)  # a @ _CROSS holds the matrix of a ×


class SoleCorners:
    """Corners of some contact surfaces, one contact after another.

    Args:
        robot: The robot.
        contacts: Names of the contact surfaces.
    """

    def __init__(self, robot: Robot, contacts: Sequence[str]) -> None:
        self._model, self._data = robot.model, robot.model.createData()
        soles = [robot.contacts[name] for name in contacts]
        self._frames = [robot.frame_id(sole.frame) for sole in soles]
        sizes = [len(sole.corners) for sole in soles]
        self._sole = np.repeat(np.arange(len(soles)), sizes)
        places = [sole.corners @ sole.placement[:3, :3].T + sole.placement[:3, 3] for sole in soles]
        self._places = np.vstack([np.zeros((0, 3)), *places])[:, :, None]
        self.friction = np.repeat([sole.friction for sole in soles], sizes).astype(float)
        """(k,) Coulomb coefficients."""

    def jacobian(self, q: Array) -> Array:
        """(3 k, nv): velocities of the corners in world axes.

        Args:
            q: (nq,) configuration.
        """
        if not self._frames:
            return np.zeros((0, self._model.nv))
        pin.computeJointJacobians(self._model, self._data, q)
        turns = np.array([pin.updateFramePlacement(self._model, self._data, frame).rotation for frame in self._frames])
        J = np.array([self._sole_jacobian(frame) for frame in self._frames])[self._sole]
        arms = (turns[self._sole] @ self._places)[:, :, 0]
        return np.array(J[:, :3] - (arms @ _CROSS).reshape(-1, 3, 3) @ J[:, 3:]).reshape(-1, self._model.nv)

    def _sole_jacobian(self, frame: int) -> Array:
        return np.array(pin.getFrameJacobian(self._model, self._data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED))
