"""What a posture on its contacts can do: the classes of Nenchev & Konno 2019, Table 3.1.

Contacts tie c directions in all: J_c v = [C_cBᵀ  𝒥_cB] (V_B, θ') = 0. J_B are the columns of the joints in the full
twists of the end links that are in contact. Ranks are taken with lengths in metres and angles in radians.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.linalg import null_space, orth

from surefoot.arrays import Array
from surefoot.contact import InternalRange, internal_range
from surefoot.errors import NotSupportedError
from surefoot.kinematics import contact_frame, frame_jacobian
from surefoot.robot import Robot

_RANK = 1e-9


@dataclass(frozen=True, eq=False)
class PostureClass:
    """A posture on its contacts. Bases are orthonormal columns; their number is the dimension.

    Args:
        constraints: c: directions that the contacts tie.
        constrained: "under" (c < 6), "fully" (c = 6, as on one foot) or "over" (c > 6, as on two).
        regular: R(C_cBᵀ) ⊂ R(𝒥_cB): joints can follow every motion of the base. A posture that is not is singular.
        base_freedom: (6, k) base twists N(C_cBᵀ) that the contacts leave free with the joints at rest.
        structural: (6, k) wrenches on the base that contacts bear without joint torque: 𝒥_cBᵀ C_cB⁺ F_B = 0.
        internal_wrenches: (c, k) contact wrenches N(C_cB) without effect on the base, whatever the contacts can carry.
        internal_range: Which of them the wrench cones allow while the contacts carry the load, and how far.
        internal_torques: (n, k) torques N*(J_B) without effect on the end links.
        stationary_base: (n, k) joint rates N(𝒥_cB) that leave the base at rest and the contacts closed.
        stationary_base_and_ends: (n, k) joint rates N(J_B) that leave base and end links at rest.
        stationary_ends: (6 + n, k) base twists with joint rates, end links at rest, base moving. (The table's
            N(J_B) ∩ R(𝒥_cBᵀ) is empty as printed, since N(J_B) ⊂ N(𝒥_cB); this is what its name says.)
    """

    constraints: int
    constrained: str
    regular: bool
    base_freedom: Array
    structural: Array
    internal_wrenches: Array
    internal_range: InternalRange
    internal_torques: Array
    stationary_base: Array
    stationary_base_and_ends: Array
    stationary_ends: Array

    @property
    def labels(self) -> tuple[str, ...]:
        """The classes that the posture belongs to, in the words of the table."""
        kinds = {
            "structural force": self.structural,
            "internal wrench": self.internal_wrenches[:, self.internal_range.admissible],
            "internal torque": self.internal_torques,
            "stationary base": self.stationary_base,
            "stationary base and end links": self.stationary_base_and_ends,
            "stationary end links": self.stationary_ends,
        }
        head = ("regular" if self.regular else "singular", f"{self.constrained} constrained")
        return (*head, *(name for name, basis in kinds.items() if basis.shape[1]))


def classify_posture(
    robot: Robot,
    q: ArrayLike,
    contacts: Sequence[str],
    tolerance: float = _RANK,
    load: ArrayLike | None = None,
) -> PostureClass:
    """The classes of a posture.   [ik.posture-class]   Nenchev & Konno 2019, Table 3.1.

    Internal wrenches belong to the load: contacts that only push, and hold by friction, must carry it as well. A
    posture has internal wrenches if any of their directions has a range inside the wrench cones.

    Args:
        robot: A robot with a floating base.
        q: (nq,) posture.
        contacts: Contact surfaces that touch.
        tolerance: Singular values below this share of the largest count as zero.
        load: (6,) wrench on the base that the contacts must supply, in its frame; the robot's weight if omitted.

    Raises:
        NotSupportedError: The base does not float, or nothing touches.
    """
    base = robot.base_rows
    if len(base) != 6 or not contacts:
        raise NotSupportedError(
            "postures are classified by the contacts of a floating robot",
            evidence={"base": robot.base, "contacts": list(contacts)},
            next_step='load it with base="floating", and name contacts that touch',
        )
    joints, q = np.setdiff1d(np.arange(robot.nv), base), robot.checked_q(q)
    J_ends, J_c = _jacobians(robot, q, contacts)
    C, G, G_ends = J_c[:, base].T, J_c[:, joints], J_ends[:, joints]
    c, resting, internal = len(J_c), _null(G_ends, tolerance), _null(C, tolerance)
    carried = _weight(robot, q) if load is None else np.asarray(load, dtype=float)
    return PostureClass(
        constraints=c,
        constrained="under" if c < 6 else "fully" if c == 6 else "over",
        regular=_rank(np.hstack([G, C.T]), tolerance) == _rank(G, tolerance),
        base_freedom=_null(C.T, tolerance),
        structural=_structural(C, G, tolerance),
        internal_wrenches=internal,
        internal_range=internal_range([robot.contacts[name] for name in contacts], C, internal, carried),
        internal_torques=resting,  # N*(J_B) = E - J_Bᵀ J_B⁺ᵀ has the range N(J_B)
        stationary_base=_null(G, tolerance),
        stationary_base_and_ends=resting,
        stationary_ends=_moving_base(np.hstack([J_ends[:, base], G_ends]), resting, tolerance),
    )


def _jacobians(robot: Robot, q: Array, contacts: Sequence[str]) -> tuple[Array, Array]:
    """All rows of the end links (6 per contact), and the tied rows, in the contacts' own axes."""
    ends = [frame_jacobian(robot.tree, contact_frame(robot, name), q, "local") for name in contacts]
    tied = [robot.contacts[name].constraint_basis.T @ J for name, J in zip(contacts, ends, strict=True)]
    return np.vstack(ends), np.vstack(tied)


def _weight(robot: Robot, q: Array) -> Array:
    """(6,) wrench on the base that holds the weight, in its frame."""
    return np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))[robot.base_rows]


def _structural(C: Array, G: Array, tolerance: float) -> Array:
    """(6, k) wrenches in R(C) whose contact reactions C⁺ F need no torque."""
    borne = orth(C, rcond=tolerance)
    torques = G.T @ np.linalg.pinv(C, rcond=tolerance) @ borne
    return borne @ _null(torques, tolerance)


def _moving_base(J: Array, resting: Array, tolerance: float) -> Array:
    """N(J) without the motions that leave the base at rest."""
    still = np.vstack([np.zeros((6, resting.shape[1])), resting])
    motions = _null(J, tolerance)
    return orth(motions - still @ (still.T @ motions), rcond=1e-6) if motions.size else motions


def _null(A: Array, tolerance: float) -> Array:
    return np.asarray(null_space(A, rcond=tolerance)) if A.size else np.eye(A.shape[1])


def _rank(A: Array, tolerance: float) -> int:
    return int(A.shape[1] - _null(A, tolerance).shape[1])
