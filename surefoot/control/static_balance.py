"""Torques that hold a robot still on its contacts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.control.coupled_motion import coupled_motion
from surefoot.robot import Robot

__all__ = ["StaticBalance", "standing_contacts"]

Array = NDArray[np.float64]
_ON_GROUND = 0.02  # contacts within this height over the lowest one stand [m]
_RANK = 1e-9  # singular values below this share of the largest count as zero


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
    """Torques that carry the weight, with the least corner forces that hold the base.

    The rows of gravity that no drive acts on must come from the ground. Of all forces f at the corners of the contacts
    with J_baseᵀ f = g_base those are taken that come nearest to J_passiveᵀ f = g_passive in the sum of squares, and of
    these the smallest; tau = g − Jᵀ f on the driven rows. Nenchev & Konno 2019, §3.6.4; the constrained least squares
    by the null space of the base rows: Björck 1996, §5.1.3. Followers pass their load on to their leaders. Passive
    joints on the way to a closed chain are left to the chain.

    Args:
        robot: The robot.
        contacts: Names of the contact surfaces that stand; none for a robot that is fixed.
    """

    def __init__(self, robot: Robot, contacts: Sequence[str]) -> None:
        self._robot, self._data = robot, robot.model.createData()
        self._soles = [
            (robot.frame_id(c.frame), c.corners @ c.placement[:3, :3].T + c.placement[:3, 3])
            for c in (robot.contacts[name] for name in contacts)
        ]
        self._to_leaders = coupled_motion(robot).T
        self._passive = _passive_rows(robot)

    def torques(self, q: Array) -> Array:
        """(nu,) torques of the drives [N m] or [N].

        Args:
            q: (nq,) configuration.
        """
        gravity = self._to_leaders @ np.array(pin.computeGeneralizedGravity(self._robot.model, self._data, q))
        if len(self._robot.base_rows) and self._soles:
            lift = self._to_leaders @ self._corner_jacobian(q).T
            gravity -= lift @ self._corner_forces(lift, gravity)
        return gravity[self._robot.driven]

    def _corner_forces(self, lift: Array, gravity: Array) -> Array:
        """(3 k,) forces at the corners in world axes, from their generalised forces (nv, 3 k) and gravity's (nv,)."""
        base = self._robot.base_rows
        force = _smallest_solution(lift[base], gravity[base])
        if len(self._passive):
            free = _null_space(lift[base])
            rest = gravity[self._passive] - lift[self._passive] @ force
            force = force + free @ _smallest_solution(lift[self._passive] @ free, rest)
        return force

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
