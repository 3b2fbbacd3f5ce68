"""The points that a robot stands on, seen from its IMU; which of them hold, and what the filter learns from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.estimation.invariant_filter import InvariantFilter
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import EncodedJoints
from surefoot.kinematics import Frame, contact_frame, relative_jacobian
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import ContactSurface, Robot, Tree

__all__ = ["ContactPoints", "FootholdBook", "spread_corners"]

_POINTS_OF = {"line": 2, "rectangle": 3, "polygon": 3}
_TAKE, _LEAVE = 0.7, 0.3  # probabilities of touch at which a foothold is taken and left
_DOUBT = 0.02  # of the attitude when no point fits any more [rad]


def spread_corners(surface: ContactSurface) -> Array:
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

    def at(self, tree: Tree, q: ops.Array) -> tuple[ops.Array, ops.Array]:
        """Points (n, 3) [m] and their Jacobians (n, 3, nj) with respect to the joints, in the frame of the IMU.

        Args:
            tree: The tree.
            q: (nq,) configuration; the base does not matter.
        """
        places = [relative_placement(tree, self._imu, point, q)[:3, 3] for point in self._points]
        jacobians = [relative_jacobian(tree, self._imu, point, q)[:3, self._v_rows] for point in self._points]
        return ops.stack(places), ops.stack(jacobians)


class FootholdBook:
    """Takes and leaves footholds as contacts come and go, and corrects the filter with those that hold.

    Args:
        kalman: The filter.
        contact_of: (n,) index of the contact of each point.
        settings: Noise and gate.
    """

    def __init__(self, kalman: InvariantFilter, contact_of: NDArray[np.int64], settings: EstimatorSettings) -> None:
        self._filter, self._contact_of, self._settings = kalman, contact_of, settings
        self._used = np.zeros(len(contact_of), dtype=bool)
        self._beyond = np.zeros(len(contact_of))  # time that a point has been beyond the gate [s]
        self._each = np.arange(len(contact_of))

    def reset(self) -> None:
        """Begin again without footholds."""
        self._used[:] = False
        self._beyond[:] = 0.0

    def grip(self, probability: Array) -> Array:
        """(n,) how sure each point holds: the probability (contacts,) of its contact, 0 without foothold."""
        out: Array = probability[self._contact_of] * self._used
        return out

    def update(self, dt: float, points: Array, jacobians: Array, variance: Array, probability: Array) -> None:
        """One look at the legs.

        Args:
            dt: Since the last [s].
            points: (n, 3) in the body frame [m].
            jacobians: (n, 3, nj) with respect to the joints.
            variance: (nj,) of the joint positions.
            probability: (contacts,) of touch.
        """
        likely = probability[self._contact_of]
        self._used &= likely >= _LEAVE
        noise = self._noise(jacobians, variance, np.maximum(likely, _LEAVE))
        if self._used.any():
            self._correct(dt, points, noise)
        new = np.flatnonzero((likely > _TAKE) & ~self._used)
        if len(new):
            rows = (3 * new[:, None] + np.arange(3)).ravel()
            self._filter.take(new, points[new], noise[np.ix_(rows, rows)])
            self._used[new], self._beyond[new] = True, 0.0

    def _noise(self, jacobians: Array, variance: Array, likely: Array) -> Array:
        """(3 n, 3 n) covariance of all points in world: encoders and softness, larger where the touch is unsure."""
        n = len(likely)
        unsure = 1.0 / likely
        J = (self._filter.rotation @ (jacobians * unsure[:, None, None])).reshape(3 * n, -1)
        out: Array = (J * variance) @ J.T
        out.ravel()[:: 3 * n + 1] += np.repeat((self._settings.point_noise * unsure) ** 2, 3)
        return out

    def _correct(self, dt: float, points: Array, noise: Array) -> None:
        """Use the points that hold; leave those that have not for too long."""
        kalman = self._filter
        z = kalman.residuals(points)
        holds = self._used & (self._distance(z, noise) <= self._settings.gate)
        self._beyond = np.where(self._used & ~holds, self._beyond + dt, 0.0)
        if holds.any():
            rows = np.repeat(holds, 3)
            kalman.correct(z.ravel()[rows], kalman.H[rows], noise[np.ix_(rows, rows)])
        lost = self._beyond > self._settings.patience
        if lost.any() and not holds.any():
            kalman.doubt(_DOUBT**2, self._settings.slip_speed**2)
        self._used &= ~lost

    def _distance(self, z: Array, noise: Array) -> Array:
        """(n,) squared Mahalanobis distances of residuals (n, 3)."""
        H, n = self._filter.H, len(z)
        S = H @ self._filter.P @ H.T + noise
        own = S.reshape(n, 3, n, 3)[self._each, :, self._each]
        out: Array = (z[:, None] @ np.linalg.solve(own, z[:, :, None])).ravel()
        return out
