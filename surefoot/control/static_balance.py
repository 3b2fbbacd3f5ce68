"""Torques that hold a robot still on its contacts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.contact import ConeForces
from surefoot.control.driven_joints import coupled_motion
from surefoot.robot import Robot

__all__ = ["SoleCorners", "StaticBalance", "standing_contacts"]

_CROSS = np.array([pin.skew(axis) for axis in np.eye(3)]).reshape(3, 9)  # a @ _CROSS holds the matrix of a ×
_ON_GROUND = 0.02  # contacts within this height over the lowest one stand [m]
_RANK = 1e-9  # singular values below this share of the largest count as zero
_SOFT, _SOFT_PASSIVE = 1e-6, 1e-2  # share of the load that may be missing where balance costs large forces


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


def standing_contacts(robot: Robot, q: Array) -> tuple[str, ...]:
    """Names of the contact surfaces that are down in a posture: within 2 cm of the lowest.

    Args:
        robot: The robot.
        q: (nq,) the posture.
    """
    lowest = {name: float(corners[:, 2].min()) for name, corners in robot.contact_corners(q).items()}
    ground = min(lowest.values(), default=0.0)
    return tuple(name for name, height in lowest.items() if height <= ground + _ON_GROUND)


class StaticBalance:
    """Torques that carry the weight, with the least corner forces that hold the base and that the ground can give.

    The rows of gravity that no drive acts on must come from the ground. Of all forces f at the corners of the contacts
    with J_baseᵀ f = g_base those are taken that come nearest to J_passiveᵀ f = g_passive in the sum of squares, and of
    these the smallest; tau = g − Jᵀ f on the driven rows. Nenchev & Konno 2019, §3.6.4; the constrained least squares
    by the null space of the base rows: Björck 1996, §5.1.3. Where such forces pull at the ground or leave their
    friction cones, as when the centre of mass is near the edge of the support or beyond it, forces inside the cones
    come as near to that as they can (`ConeForces`); the ground is level. Followers pass their load on to their
    leaders. Passive joints on the way to a closed chain are left to the chain.

    Args:
        robot: The robot.
        contacts: Names of the contact surfaces that stand; none for a robot that is fixed.
    """

    def __init__(self, robot: Robot, contacts: Sequence[str]) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._corners = SoleCorners(robot, contacts)
        self._stands = bool(len(robot.base_rows)) and bool(len(contacts))
        self._to_leaders = coupled_motion(robot).T
        self._passive = _passive_rows(robot)
        self._undriven = np.concatenate([robot.base_rows, self._passive])
        pull = float(np.linalg.norm(robot.tree.gravity))
        up = -np.array(robot.tree.gravity) / pull if pull > 0.0 else np.array([0.0, 0.0, 1.0])
        self._cones = ConeForces(self._corners.friction, up, self._soft_rows())

    def _soft_rows(self) -> Array:
        """(n, n): how far the undriven rows may be from balance, by their inertia at home; the passive ones farther."""
        robot, rows = self._robot, self._undriven
        base = np.arange(len(rows)) < len(robot.base_rows)
        M = np.array(pin.crba(robot.model, self._data, np.array(robot.home)))[np.ix_(rows, rows)]
        share = np.where(base, _SOFT, _SOFT_PASSIVE) * len(self._corners.friction) / max(robot.mass, _RANK)
        return np.where(base[:, None] == base, M, 0.0) * share + _RANK * np.eye(len(rows))

    def torques(self, q: Array) -> Array:
        """(nu,) torques of the drives [N m] or [N].

        Args:
            q: (nq,) configuration.
        """
        gravity = self._to_leaders @ np.array(pin.computeGeneralizedGravity(self._robot.model, self._data, q))
        if self._stands:
            lift = self._to_leaders @ self._corners.jacobian(q).T
            gravity -= lift @ self._corner_forces(lift, gravity)
        return gravity[self._robot.driven]

    def _corner_forces(self, lift: Array, gravity: Array) -> Array:
        """(3 k,) forces at the corners in world axes, from their generalised forces (nv, 3 k) and gravity's (nv,)."""
        force = self._free_forces(lift, gravity)
        if self._cones.holds(force):
            self._cones.reset()
            return force
        return self._cones.solve(lift[self._undriven], gravity[self._undriven])

    def _free_forces(self, lift: Array, gravity: Array) -> Array:
        """(3 k,) forces of a ground that also pulls and never slips."""
        base = self._robot.base_rows
        force = _smallest_solution(lift[base], gravity[base])
        if len(self._passive):
            free = _null_space(lift[base])
            rest = gravity[self._passive] - lift[self._passive] @ force
            force = force + free @ _smallest_solution(lift[self._passive] @ free, rest)
        return force


def _smallest_solution(A: Array, b: Array) -> Array:
    """The smallest x of those that bring A x nearest to b."""
    return np.array(np.linalg.lstsq(A, b, rcond=_RANK)[0])


def _null_space(A: Array) -> Array:
    """Orthonormal columns that span the x with A x = 0."""
    _, sizes, rows = np.linalg.svd(A, full_matrices=True)
    return np.array(rows[int(np.sum(sizes > _RANK * sizes.max(initial=0.0))) :].T)


def _passive_rows(robot: Robot) -> NDArray[np.int64]:
    """Rows of v of joints that neither base, nor drive, nor coupling, nor closed chain holds."""
    tree = robot.tree
    followers = {robot.joint_index(item.joint) for item in robot.couplings}
    ends = {robot.body_of(frame) for loop in robot.loops for frame in (loop.frame_a, loop.frame_b)} - {-1}
    chained = ends.union(*(tree.ancestors(end) for end in ends))
    rows = [
        row
        for i in range(tree.n)
        if i not in followers and i not in chained
        for row in range(int(tree.v_index[i]), int(tree.v_index[i]) + tree.nv_of(i))
    ]
    return np.setdiff1d(np.array(rows, dtype=np.int64), np.concatenate([robot.base_rows, robot.driven]))
