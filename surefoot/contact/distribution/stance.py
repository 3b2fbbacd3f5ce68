"""`Stance`: what a distribution of wrenches needs to know of a robot that stands."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import Configuration
from surefoot.robot import Robot


@dataclass(frozen=True, eq=False)
class Stance:
    """Contacts and the CoM; k contacts.

    Args:
        names: Of the contacts.
        points: (k, 3) where their wrenches are measured: below the ankle, at a hand [m].
        com: (3,) [m].
        mass: [kg].
        friction: (k,) Coulomb coefficients.
        corners: (c_i, 3) of each contact in world; the point itself if none are given.
        jacobian: (6 k, n) of the actuated joints, for `torque`; None for none.
        gravity_torque: (n,) torques of gravity at these joints [N m].
    """

    names: tuple[str, ...]
    points: Array
    com: Array
    mass: float
    friction: Array
    corners: tuple[Array, ...] = ()
    jacobian: Array | None = None
    gravity_torque: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def map(self) -> Array:
        """C (6, 6 k): from the wrenches to their sum about the CoM   (3.57)."""
        blocks = [np.block([[np.eye(3), np.zeros((3, 3))], [pin.skew(r - self.com), np.eye(3)]]) for r in self.points]
        return np.hstack(blocks)

    @property
    def weight(self) -> Array:
        """(6,) the load of standing still."""
        return np.array([0.0, 0.0, 9.81 * self.mass, 0.0, 0.0, 0.0])


def stance_of(robot: Robot, q: ArrayLike | None = None, contacts: Sequence[str] | None = None) -> Stance:
    """The stance of a robot in a posture.

    A contact's point is the projection of the last joint that carries it, the ankle, into the plane of its corners: the
    distributors speak of ankle moments.

    Args:
        robot: The robot.
        q: (nq,) its posture; home if omitted.
        contacts: Names of the loaded surfaces; all within 2 cm of the lowest if omitted.

    Raises:
        NotSupportedError: No contact is loaded.
        UnknownNameError: There is no such contact.
    """
    posture = np.array(robot.home if q is None else robot.checked_q(q), dtype=float)
    corners = robot.contact_corners(posture)
    lowest = {name: float(c[:, 2].min()) for name, c in corners.items()}
    ground = min(lowest.values(), default=0.0)
    names = tuple(contacts or (name for name, z in lowest.items() if z <= ground + 0.02))
    for name in names:
        if name not in robot.contacts:
            raise one_of("contact", name, robot.contacts)
    if not names:
        raise NotSupportedError(f"`{robot.name}` has no contacts to share a load among")
    body, data = Configuration(robot, posture), robot.model.createData()
    pin.forwardKinematics(robot.model, data, posture)
    points, rows = [], []
    for name in names:
        frame = robot.model.frames[robot.frame_id(robot.contacts[name].frame)]
        ankle = np.array(data.oMi[frame.parentJoint].translation)
        T = body.contact_placement(name)
        point = ankle - T[:3, 2] * float(T[:3, 2] @ (ankle - corners[name].mean(axis=0)))
        J = np.array(body.contact_jacobian(name))
        J[:3] -= pin.skew(point - T[:3, 3]) @ J[3:]
        points.append(point)
        rows.append(J)
    free = np.setdiff1d(np.arange(robot.nv), robot.base_rows)
    gravity = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), posture))
    return Stance(
        names, np.array(points), np.array(body.com), robot.mass,
        np.array([robot.contacts[name].friction for name in names]), tuple(corners[name] for name in names),
        np.vstack(rows)[:, free], gravity[free],
    )  # fmt: skip
