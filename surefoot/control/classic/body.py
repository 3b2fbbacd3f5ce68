"""`StandingBody`: the quantities of a tick that all classic controllers use, from Pinocchio."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.contact.distribution import Stance
from surefoot.robot import Robot

__all__ = ["StandingBody", "prioritised", "standing_body"]

_WORLD = pin.ReferenceFrame.LOCAL_WORLD_ALIGNED
_DAMPING = 1e-6


@dataclass(frozen=True, eq=False)
class StandingBody:
    """State, inertia, contacts and momentum; k contacts, world axes.

    Args:
        q: (nq,).
        v: (nv,).
        mass_matrix: M (nv, nv).
        bias: h (nv,): Coriolis forces and gravity.
        gravity: (nv,) of it.
        contacts: (6 k, nv) Jacobian of the contact links.
        contact_bias: (6 k,) J̇ v.
        momentum: (6, nv) centroidal momentum matrix A.
        momentum_bias: (6,) Ȧ v.
        inertia: (3, 3) of the locked robot about its CoM.
        base: (3, nv) angular Jacobian of the base.
        base_bias: (3,).
        rotation: (3, 3) of the base.
        soles: (k, 3, 3) rotations of the contact links.
        com: (3,) [m].
        com_velocity: (3,) [m/s].
        stance: For the distribution of wrenches.
    """

    q: Array
    v: Array
    mass_matrix: Array
    bias: Array
    gravity: Array
    contacts: Array
    contact_bias: Array
    momentum: Array
    momentum_bias: Array
    inertia: Array
    base: Array
    base_bias: Array
    rotation: Array
    soles: Array
    com: Array
    com_velocity: Array
    stance: Stance

    @property
    def com_jacobian(self) -> Array:
        """(3, nv)."""
        return self.momentum[:3] / self.stance.mass

    @property
    def relative(self) -> Array:
        """(3, nv) of Δω = ω_C − ω_B: what joints turn beyond the base, J_ω θ̇ (section 4.6)."""
        return np.asarray(np.linalg.solve(self.inertia, self.momentum[3:]) - self.base)


def standing_body(robot: Robot, data: pin.Data, names: tuple[str, ...], q: Array, v: Array) -> StandingBody:
    """The quantities of a state.

    Args:
        robot: The robot.
        data: Of its Pinocchio model, for reuse.
        names: Of the contacts that stand.
        q: (nq,).
        v: (nv,).
    """
    model = robot.model
    pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
    pin.computeCentroidalMapTimeVariation(model, data, q, v)
    M = np.array(pin.crba(model, data, q))
    h = np.array(pin.nonLinearEffects(model, data, q, v))
    g = np.array(pin.computeGeneralizedGravity(model, data, q))
    A, dA = np.array(data.Ag), np.array(data.dAg)
    com, rotation = np.array(data.com[0]), np.array(data.oMi[1].rotation)
    pin.forwardKinematics(model, data, q, v, np.zeros(robot.nv))
    pin.computeJointJacobians(model, data, q)
    rows, biases, points, soles, corners = [], [], [], [], []
    for name in names:
        contact = robot.contacts[name]
        frame = robot.frame_id(contact.frame)
        placed = pin.updateFramePlacement(model, data, frame)
        surface = placed.homogeneous @ contact.placement
        corners.append(contact.corners @ surface[:3, :3].T + surface[:3, 3])
        points.append(np.array(placed.translation))
        soles.append(np.array(placed.rotation))
        rows.append(np.array(pin.getFrameJacobian(model, data, frame, _WORLD)))
        biases.append(pin.getFrameClassicalAcceleration(model, data, frame, _WORLD).vector)
    base = np.array(pin.getJointJacobian(model, data, 1, _WORLD))[3:]
    turning = pin.getAcceleration(model, data, 1, _WORLD).angular
    friction = np.array([robot.contacts[name].friction for name in names])
    stance = Stance(names, np.array(points), com, robot.mass, friction, tuple(corners))
    lower = np.tril_indices(robot.nv, -1)
    M[lower] = M.T[lower]
    return StandingBody(
        q, v, M, h, g, np.vstack(rows), np.concatenate(biases), A, dA @ v,
        A[3:, 3:6] @ rotation.T, base, np.array(turning), rotation, np.array(soles), com,
        A[:3] @ v / robot.mass, stance,
    )  # fmt: skip


def prioritised(levels: list[tuple[Array, Array]], metric: Array | None = None) -> Array:
    """X (n,) that meets J x = b level by level, each as well as those before it allow (2.51).

    Args:
        levels: (J, b) in the order of priority.
        metric: (n, n) W of the inverses J^{-W}; the unit matrix if omitted.
    """
    n = levels[0][0].shape[1]
    back = np.eye(n) if metric is None else np.linalg.inv(np.linalg.cholesky(metric)).T
    y, free = np.zeros(n), np.eye(n)
    for J, b in levels:
        rows = J @ back
        within = rows @ free
        inverse = within.T @ np.linalg.inv(within @ within.T + _DAMPING * np.eye(len(rows)) * _size(rows))
        y = y + free @ (inverse @ (b - rows @ y))
        free = free - np.linalg.pinv(within, rcond=1e-4) @ within
    return np.asarray(back @ y)


def _size(rows: Array) -> float:
    return float(np.mean(np.sum(rows * rows, axis=1)))
