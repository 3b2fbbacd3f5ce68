"""The points that a robot stands on, seen from its IMU; which of them hold, and what the filter learns from it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.estimation.invariant_filter import InvariantFilter, addresses
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import EncodedJoints
from surefoot.kinematics import Frame, contact_frame, relative_jacobian
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import ContactSurface, Robot, Tree

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
        n = len(contact_of)
        self._used = np.zeros(n, dtype=np.int64)  # 0 or 1
        self._beyond = np.zeros(n)  # time that a point has been beyond the gate [s]
        self._noise, self._found = np.zeros((3 * n, 3 * n)), np.zeros(3, dtype=np.int64)
        numbers = np.array([_TAKE, _LEAVE, settings.point_noise, settings.gate, settings.patience])
        self._memory = contact_of, numbers, np.zeros(n), np.zeros(3 * n), np.zeros(3 * n, dtype=np.int64)
        self._bound: tuple[Array, ...] = ()

    def reset(self) -> None:
        """Begin again without footholds."""
        self._used[:] = 0
        self._beyond[:] = 0.0

    def grip(self, probability: Array) -> Array:
        """(n,) how sure each point holds: the probability (contacts,) of its contact, 0 without foothold."""
        out: Array = probability[self._contact_of] * self._used
        return out

    def update(self, dt: float, points: Array, jacobians: Array, variance: Array, probability: Array) -> None:
        """One look at the legs; quickest where the same arrays are given each time.

        Args:
            dt: Since the last [s].
            points: (n, 3) in the body frame [m].
            jacobians: (n, 3, nj) with respect to the joints.
            variance: (nj,) of the joint positions.
            probability: (contacts,) of touch.
        """
        if not len(self._used):
            return
        given, kalman = (points, jacobians, variance, probability), self._filter
        if len(self._bound) != len(given) or any(x is not y for x, y in zip(given, self._bound, strict=True)):
            self._bind(*given)
        kalman.look(*self._before, dt, *self._after)
        rows, lost, missing = self._found.tolist()
        if rows:
            kalman.move()
        elif lost:
            kalman.doubt(_DOUBT**2, self._settings.slip_speed**2)
        if missing:
            new = np.flatnonzero((probability[self._contact_of] > _TAKE) & (self._used == 0))
            chosen = (3 * new[:, None] + np.arange(3)).ravel()
            kalman.take(new, points[new], self._noise[np.ix_(chosen, chosen)])
            self._used[new], self._beyond[new] = 1, 0.0

    def _bind(self, points: Array, jacobians: Array, variance: Array, probability: Array) -> None:
        """Collect what `covariance.look` is called with, before and after dt."""
        self._bound = (points, jacobians, variance, probability)
        kalman, (n, _, nj) = self._filter, jacobians.shape
        contact_of, numbers, likely, z, rows = self._memory
        self._turned = np.zeros((3 * n, nj))
        self._before = (*addresses(kalman.H), n, nj, *addresses(*self._bound, contact_of))
        self._after = (
            *addresses(numbers), *kalman.body,
            *addresses(self._used, self._beyond, likely, self._turned, self._noise, z, rows),
            *kalman.scratch, *addresses(self._found),
        )  # fmt: skip
