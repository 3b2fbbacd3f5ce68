"""Torques that hold a robot still on its contacts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["StaticBalance", "standing_contacts"]

Array = NDArray[np.float64]
_ON_GROUND = 0.02  # contacts within this height over the lowest one stand [m]


def standing_contacts(robot: Robot, q: Array) -> tuple[str, ...]:
    """Names of the contact surfaces that are down in a posture: within 2 cm of the lowest.

    Args:
        robot: The robot.
        q: (nq,) the posture.
    """
    frames = robot.placements(q)
    lowest = {}
    for name, contact in robot.contacts.items():
        T = frames[contact.frame] @ contact.placement
        lowest[name] = float((contact.corners @ T[:3, :3].T + T[:3, 3])[:, 2].min())
    ground = min(lowest.values(), default=0.0)
    return tuple(name for name, height in lowest.items() if height <= ground + _ON_GROUND)


class StaticBalance:
    """Torques that carry the weight, with the least corner forces that hold the base.

    The rows of gravity that no drive acts on must come from the ground: of all forces f at the corners of the contacts
    with J_baseᵀ f = g_base the smallest is taken, tau = g − Jᵀ f on the driven rows. Nenchev & Konno 2019, §3.6.4.

    Args:
        robot: The robot.
        contacts: Names of the contact surfaces that stand; none for a robot that is fixed.
    """

    def __init__(self, robot: Robot, contacts: Sequence[str]) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._base_rows = np.arange({"floating": 6, "planar": 3}.get(robot.base, 0))
        self._soles = [
            (robot.frame_id(c.frame), c.corners @ c.placement[:3, :3].T + c.placement[:3, 3])
            for c in (robot.contacts[name] for name in contacts)
        ]
        self._followers = [
            (robot.tree.v_index[robot.joint_index(c.joint)], robot.tree.v_index[robot.joint_index(c.source)], c.ratio)
            for c in robot.couplings
        ]

    def torques(self, q: Array) -> Array:
        """(nu,) torques of the drives [N m] or [N].

        Args:
            q: (nq,) configuration.
        """
        gravity = np.array(pin.computeGeneralizedGravity(self._robot.model, self._data, q))
        if len(self._base_rows) and self._soles:
            J = self._corner_jacobian(q)
            force = np.linalg.lstsq(J[:, self._base_rows].T, gravity[self._base_rows], rcond=1e-9)[0]
            gravity -= J.T @ force
        for follower, source, ratio in self._followers:
            gravity[source] += ratio * gravity[follower]
        return gravity[self._robot.driven]

    def _corner_jacobian(self, q: Array) -> Array:
        """(3 k, nv): velocities of the corners in world axes."""
        model, data = self._robot.model, self._data
        pin.computeJointJacobians(model, data, q)
        pin.updateFramePlacements(model, data)
        rows = []
        for frame, corners in self._soles:
            J = pin.getFrameJacobian(model, data, frame, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            arms = corners @ data.oMf[frame].rotation.T
            rows += [J[:3] - pin.skew(arm) @ J[3:] for arm in arms]
        return np.vstack(rows)
