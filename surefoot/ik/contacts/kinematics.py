"""A robot that touches the world at several places: which base and joint rates its contacts allow.

The book's quasi-velocities are used (Nenchev & Konno 2019, section 2.11), all twists in world axes: of the base
V_B = (v_B, ω_B) at its origin, mixed V_M = (v_C, ω_B), and θ' of the n joints. For contact k with bases B_c, B_m in
its own frame,

    C_cBᵀ V_B + 𝒥_cB θ' = V̄ᶜ,  C_cB = T_kBᵀ ℝ_k B_c,  𝒥_cB = (ℝ_k B_c)ᵀ J_k        [ik.contact]   section 2.11.1
    C_cCᵀ V_M + 𝒥_cM θ' = V̄ᶜ,  C_cC = T_kCᵀ ℝ_k B_c,  𝒥_cM = 𝒥_cB − C_cBfᵀ J_CB        [ik.contact-mixed]   (2.123)
    (erratum: (2.123) prints r_kB in its moments, it must be r_kC; C_cBf are the force rows of C_cB)

and the same with m for what the contacts leave free. Contacts that hold have V̄ᶜ = 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, one_of
from surefoot.kinematics import Frame, com, com_jacobian, contact_frame, frame_jacobian, frame_placement
from surefoot.kinematics.frames import frame_of
from surefoot.robot import Robot, Tree
from surefoot.spatial import twist

CONTACT_JOINTS = {
    "free": "", "point": "z", "line": "zX", "planar": "zXY", "ball": "xyz", "cylindrical": "xzXZ", "weld": "xyzXYZ",
}  # fmt: skip
"""What a contact holds, by kind: x y z translations and X Y Z rotations of its frame. z is the normal; a line lies
along y, and the axis of a cylindrical contact (a hand round a rod) too. A sole that does not slip is a "weld", a point
that does not slip a "ball", a limb in the air "free". Nenchev & Konno 2019, section 2.9."""
_DIRECTIONS = "xyzXYZ"


def constraint_basis(kind: str) -> Array:
    """B_c (6, c): the directions of the contact frame that a contact holds, linear first.

    Args:
        kind: One of `CONTACT_JOINTS`.
    """
    return np.eye(6)[:, _held(kind)]


def motion_basis(kind: str) -> Array:
    """B_m (6, 6 − c): the directions of the contact frame that a contact leaves free; B_c and B_m span E₆.

    Args:
        kind: One of `CONTACT_JOINTS`.
    """
    return np.eye(6)[:, ~_held(kind)]


def _held(kind: str) -> Any:
    if kind not in CONTACT_JOINTS:
        raise one_of("kind of contact", kind, CONTACT_JOINTS)
    return np.array([letter in CONTACT_JOINTS[kind] for letter in _DIRECTIONS])


@dataclass(frozen=True, eq=False)
class ContactKinematics:
    """The first-order relations of all contacts in one posture; c directions are held, f are free, of n joints.

    Args:
        C_c: C_cB (6, c).
        J_c: 𝒥_cB (c, n).
        C_m: C_mB (6, f).
        J_m: 𝒥_mB (f, n).
        J_com: J_CB (3, n): velocity of the centre of mass against the base, in world axes.
        offset: r_CB (3,): from the base to the centre of mass, in world axes [m].
        R_base: (3, 3) R_world_base.
        com: (3,) centre of mass in world [m].
        placements: (k, 4, 4) of the contact frames in world.
    """

    C_c: Array
    J_c: Array
    C_m: Array
    J_m: Array
    J_com: Array
    offset: Array
    R_base: Array
    com: Array
    placements: Array

    @property
    def constraint_jacobian(self) -> Array:
        """J_cB = [C_cBᵀ 𝒥_cB] (c, 6 + n): J_cB (V_B, θ') = V̄ᶜ."""
        return np.hstack([self.C_c.T, self.J_c])

    def mixed(self) -> tuple[Array, Array, Array, Array]:
        """C_cC (6, c), 𝒥_cM (c, n), C_mC (6, f), 𝒥_mM (f, n): for V_M in place of V_B.   [ik.contact-mixed]."""
        T_BC = twist.shift_matrix(-self.offset)
        held, free = ((T_BC.T @ C, J - C[:3].T @ self.J_com) for C, J in ((self.C_c, self.J_c), (self.C_m, self.J_m)))
        return *held, *free

    def base_twist(self, mixed_twist: ArrayLike, joint_rates: ArrayLike) -> Array:
        """V_B (6,) of a mixed twist: V_B = T_BC V_M − [J_CB; 0] θ'.   Nenchev & Konno 2019, section 2.11.4.

        Args:
            mixed_twist: V_M = (v_C, ω_B) (6,).
            joint_rates: θ' (n,).
        """
        return np.asarray(
            twist.shift(mixed_twist, -self.offset)
            - np.concatenate([self.J_com @ np.asarray(joint_rates, dtype=float), np.zeros(3)])
        )

    def mixed_twist(self, base_twist: ArrayLike, joint_rates: ArrayLike) -> Array:
        """V_M = (v_C, ω_B) (6,) of V_B: v_C = v_B − [r_CB×] ω_B + J_CB θ'.   Nenchev & Konno 2019, section 2.11.4.

        Args:
            base_twist: V_B (6,).
            joint_rates: θ' (n,).
        """
        return np.asarray(
            twist.shift(base_twist, self.offset)
            + np.concatenate([self.J_com @ np.asarray(joint_rates, dtype=float), np.zeros(3)])
        )

    def velocity(self, base_twist: ArrayLike, joint_rates: ArrayLike) -> Array:
        """Velocity v (6 + n,) as the robot has it: the base twist in base axes, then the joints.

        Args:
            base_twist: V_B (6,).
            joint_rates: θ' (n,).
        """
        return np.concatenate([twist.rotation_matrix(self.R_base.T) @ np.asarray(base_twist), joint_rates])


class ContactSystem:
    """A floating robot and the contacts that it has now.

        system = ContactSystem(robot, {"left_foot": "weld", "right_foot": "weld", "left_palm": "free"})
        now = system.at(q)

    Contacts can be given for any frame; a robot's contact surface goes before a link of the same name.

    Args:
        robot: The robot; its base floats.
        contacts: Kind of contact (`CONTACT_JOINTS`) by frame.

    Raises:
        NotSupportedError: The base does not float.
        UnknownNameError: There is no such frame or kind.
    """

    def __init__(self, robot: Robot, contacts: Mapping[str, str]) -> None:
        if robot.base_joint != 0 or robot.tree.kinds[0] != "free":
            raise NotSupportedError(
                f"`{robot.name}` has a {robot.base} base; contacts close loops over a floating one",
                next_step='load it with base="floating"',
            )
        self.robot, self.contacts = robot, dict(contacts)
        self.frames: tuple[Frame, ...] = tuple(
            contact_frame(robot, name) if name in robot.contacts else frame_of(robot, name) for name in contacts
        )
        self.held = np.concatenate([_held(kind) for kind in contacts.values()]) if contacts else np.zeros(0, bool)
        """(6 k,) which directions of the contact frames are held."""
        self._kernel = compile_robot(robot, functions={"contact_terms": _terms(self.frames)}).contact_terms

    def at(self, q: ArrayLike) -> ContactKinematics:
        """The relations in a posture.

        Args:
            q: (nq,) configuration.
        """
        q = self.robot.checked_q(q)
        centre, J_centre, R_base, *parts = self._kernel(q)
        n, k = self.robot.nv - 6, len(self.frames)
        placements = np.array(parts[:k]).reshape(k, 4, 4)
        rows = np.array(parts[k:]).reshape(6 * k, n + 6)
        base = rows[:, :6] @ twist.rotation_matrix(R_base.T)  # by twists of the base in world axes
        held, free = self.held, ~self.held
        return ContactKinematics(
            base[held].T, rows[held, 6:], base[free].T, rows[free, 6:], J_centre[:, 6:],
            centre - q[:3], R_base, centre, placements,
        )  # fmt: skip


def _terms(frames: tuple[Frame, ...]) -> Any:
    """What is compiled: centre of mass, its Jacobian, R_world_base, placements and local Jacobians of the frames."""

    def contact_terms(tree: Tree, q: ops.Array) -> tuple[ops.Array, ...]:
        centre = (com(tree, q), com_jacobian(tree, q), frame_placement(tree, Frame(0), q)[:3, :3])
        places = (frame_placement(tree, frame, q) for frame in frames)
        return *centre, *places, *(frame_jacobian(tree, frame, q, "local") for frame in frames)

    return contact_terms
