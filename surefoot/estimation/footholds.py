"""The points that a robot stands on, seen from its IMU; which of them hold, and what the filter learns from it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen.loops import BoundCode
from surefoot.estimation.invariant_filter import InvariantFilter
from surefoot.estimation.settings import EstimatorSettings
from surefoot.estimation.state_layout import EncodedJoints
from surefoot.estimation.tick import TICK
from surefoot.geometry import convex_hull
from surefoot.kinematics import Frame, contact_frame, relative_jacobian
from surefoot.kinematics.frames import relative_placement
from surefoot.robot import ContactSurface, Robot, Tree

_POINTS_OF = {"line": 2, "rectangle": 3, "polygon": 3}
_TAKE, _LEAVE = 0.7, 0.3  # probabilities of touch at which a foothold is taken and left
_DOUBT = 0.02  # of the attitude when no point fits any more [rad]
_EDGE = 0.1  # how near an edge the centre of pressure is when the other side of a sole may lift, share of its width


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


class TippingSoles:
    """Tells from the centre of pressure which points of a sole may have left the ground.

    A sole whose centre of pressure is at an edge turns over it, if anything: the edge still holds, and the rest is
    doubted the more, the farther it is from this edge.

    Args:
        surfaces: Of the contacts.
        contact_of: (n,) index of the contact of each point.
    """

    def __init__(self, surfaces: Sequence[ContactSurface], contact_of: NDArray[np.int64]) -> None:
        normals, offsets, away = [np.zeros((0, 2))], [np.zeros(0)], [np.zeros((0, len(contact_of)))]
        owners: list[int] = []
        for k, surface in enumerate(surfaces):
            if not (surface.tied[3] and surface.tied[4]):
                continue
            corners = convex_hull(surface.corners[:, :2])
            along = np.roll(corners, -1, axis=0) - corners
            outward = np.column_stack([along[:, 1], -along[:, 0]]) / np.linalg.norm(along, axis=1)[:, None]
            edges = (outward * corners).sum(axis=1)
            widths = edges - (outward @ corners.T).min(axis=1)
            far = np.zeros((len(corners), len(contact_of)))
            mine = contact_of == k
            far[:, mine] = (edges[:, None] - outward @ spread_corners(surface)[:, :2].T) / widths[:, None]
            normals.append(outward / widths[:, None])
            offsets.append(edges / widths)
            away.append(far)
            owners += [k] * len(corners)
        self._edges = [np.concatenate(part) for part in (normals, offsets, away)]
        self._owners, self._contact_of = np.array(owners, dtype=np.int64), contact_of

    def grip(self, full: float, probability: Array, share: Array, wrenches: Array, out: Array) -> BoundCode:
        """Bind `tick.grip`, which tells how sure points hold.

        Args:
            full: 1 over the share of the weight from which on a foothold is full.
            probability: (contacts,) of touch.
            share: (contacts,) normal forces as shares of the weight; NaN where silent, then it counts as full.
            wrenches: (contacts, 6) in the contact frames; NaN where silent, then nothing is doubted.
            out: (n,) the result, from 0 to 1.
        """
        n, edges = len(self._contact_of), len(self._owners)
        given = n, self._contact_of, probability, share, full, wrenches, edges, self._owners
        return TICK.bind("grip", *given, *self._edges, _EDGE, out)


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
        self._memory = np.arange(n), numbers, np.zeros(n), np.zeros(3 * n), np.zeros(3 * n, dtype=np.int64)
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
            probability: (n,) that each point holds.
        """
        if not len(self._used):
            return
        given, kalman = (points, jacobians, variance, probability), self._filter
        if len(self._bound) != len(given) or any(x is not y for x, y in zip(given, self._bound, strict=True)):
            self._bind(*given)
        self._look.real[self._dt] = dt
        self._look.run()
        rows, lost, missing = self._found.tolist()
        if rows:
            kalman.move()
        elif lost:
            kalman.doubt(_DOUBT**2, self._settings.slip_speed**2)
        if missing:
            new = np.flatnonzero((probability > _TAKE) & (self._used == 0))
            chosen = (3 * new[:, None] + np.arange(3)).ravel()
            kalman.take(new, points[new], self._noise[np.ix_(chosen, chosen)])
            self._used[new], self._beyond[new] = 1, 0.0

    def _bind(self, points: Array, jacobians: Array, variance: Array, probability: Array) -> None:
        """Bind `covariance.look`."""
        self._bound = (points, jacobians, variance, probability)
        kalman, (n, _, nj) = self._filter, jacobians.shape
        each, numbers, likely, z, rows = self._memory
        self._turned = np.zeros((3 * n, nj))
        before = kalman.H, n, nj, *self._bound, each
        self._dt = 2 + len(before)
        self._look = kalman.bound_look(
            *before, 0.0, numbers, *kalman.body, self._used, self._beyond, likely, self._turned, self._noise, z, rows,
            *kalman.scratch, self._found,
        )  # fmt: skip
