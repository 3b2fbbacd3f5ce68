"""The points that a robot stands on, seen from its IMU."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.estimation.encoded_joints import EncodedJoints
from surefoot.kinematics import Frame, contact_frame, relative_jacobian, relative_placement
from surefoot.ops import Array
from surefoot.robot import ContactSurface, Robot
from surefoot.robot.tree import Tree

__all__ = ["ContactPoints", "spread_corners"]

_POINTS_OF = {"line": 2, "rectangle": 3, "polygon": 3}


def spread_corners(surface: ContactSurface) -> NDArray[np.float64]:
    """(n, 3) points [m] in the contact frame that tell how the surface lies: three of an area, two of a line, else one.

    Of an area: the two corners that are farthest apart and the one farthest from their line.
    """
    count, corners = _POINTS_OF.get(surface.kind, 1), surface.corners
    if count == 1:
        return np.zeros((1, 3))
    distance = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    i, j = divmod(int(np.argmax(distance)), len(corners))
    beside = np.linalg.norm(np.cross(corners - corners[i], corners[j] - corners[i]), axis=1)
    return corners[[i, j, int(np.argmax(beside))][:count]]


class ContactPoints:
    """The n contact points of a robot; `contact_of` (n,) is the index of the contact that a point belongs to.

    Args:
        robot: The robot.
        joints: Those that have an encoder.
        imu: The frame of the IMU.
    """

    def __init__(self, robot: Robot, joints: EncodedJoints, imu: Frame) -> None:
        self._imu, self._v_rows = imu, joints.v_rows
        self._points: list[Frame] = []
        contact_of = []
        for k, (name, surface) in enumerate(robot.contacts.items()):
            frame = contact_frame(robot, name)
            for corner in spread_corners(surface):
                self._points.append(Frame(frame.body, frame.R, frame.p + frame.R @ corner))
                contact_of.append(k)
        self.contact_of = np.array(contact_of, dtype=np.int64)

    @property
    def count(self) -> int:
        """Number n of points."""
        return len(self._points)

    def at(self, tree: Tree, q: Array) -> tuple[Array, Array]:
        """Points (n, 3) [m] and their Jacobians (n, 3, nj) with respect to the joints, in the frame of the IMU.

        Args:
            tree: The tree.
            q: (nq,) configuration; the base does not matter.
        """
        places = [relative_placement(tree, self._imu, point, q)[:3, 3] for point in self._points]
        jacobians = [relative_jacobian(tree, self._imu, point, q)[:3, self._v_rows] for point in self._points]
        return ops.stack(places), ops.stack(jacobians)
