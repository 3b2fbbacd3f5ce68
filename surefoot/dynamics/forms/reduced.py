"""Equations of constrained motion with fewer unknowns: in joints, or in the base.

    [M_B  H ] (V') + (h_B)   (0 )   (C )
    [Hᵀ   M_θ] (θ") + (h_θ) = (τ) + (Jᵀ) λ,    Cᵀ V' + J θ" + drift = 0        [dyn.split]

Nenchev & Konno 2019, (4.155) and section 4.13, with V the twist of the base (or of an object that the robot holds), θ
all other coordinates, and λ on the robot. Drifts are J̇ v and what pulls the state back. All of it for numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.dynamics.algebra import rank_of, size_of
from surefoot.errors import ModelError
from surefoot.ops import Array


class SplitEquations(NamedTuple):
    """The parts of base (b) and joints (n), with m constraints.

    Args:
        M_B: (b, b).
        H: (b, n) coupling inertia.
        M_joints: (n, n).
        h_base: (b,).
        h_joints: (n,).
        C: (b, m) contact map.
        J: (m, n).
        drift: (m,).
    """

    M_B: Array
    H: Array
    M_joints: Array
    h_base: Array
    h_joints: Array
    C: Array
    J: Array
    drift: Array


class SplitMotion(NamedTuple):
    """A solution: accelerations of base (b,) and joints (n,), and λ (m,)."""

    base: Array
    joints: Array
    multipliers: Array


def split_equations(M: ArrayLike, h: ArrayLike, J: ArrayLike, drift: ArrayLike, base: ArrayLike) -> SplitEquations:
    """M a + h = (0; τ) + Jᵀ λ, J a + drift = 0, split into the rows of the base and the others, in their order.

    Args:
        M: (nv, nv).
        h: (nv,).
        J: (m, nv).
        drift: (m,).
        base: (b,) degrees of freedom of the base, as `robot.base_rows`, or of an object that is held.
    """
    M, h, J = (np.asarray(value, dtype=float) for value in (M, h, J))
    B = np.asarray(base, dtype=np.int64)
    T = np.setdiff1d(np.arange(len(h)), B)
    inertias = M[np.ix_(B, B)], M[np.ix_(B, T)], M[np.ix_(T, T)]
    return SplitEquations(*inertias, h[B], h[T], J[:, B].T, J[:, T], np.asarray(drift, dtype=float))


@dataclass(frozen=True, eq=False)
class JointSpaceForm:
    """θ" = T̄ (τ - h_θ - Hᵀ V') - J^(-M) (drift + Cᵀ V')        [dyn.joint-space]   Nenchev & Konno 2019, (4.208).

    T̄ = M_θ⁻¹ - M_θ⁻¹ Jᵀ M_c J M_θ⁻¹ is positive *semi*definite, of rank n - m (erratum of (4.209)).

    Args:
        parts: The equations.
        mobility: T̄ (n, n).
        inverse: J^(-M) (n, m) = M_θ⁻¹ Jᵀ M_c.
        inertia: M_c (m, m) = (J M_θ⁻¹ Jᵀ)⁻¹.
    """

    parts: SplitEquations
    mobility: Array
    inverse: Array
    inertia: Array

    def joints(self, tau: Array, base: Array) -> Array:
        """θ" (n,) at torques τ (n,) and an acceleration of the base (b,).   (4.208)."""
        parts = self.parts
        free = tau - parts.h_joints - parts.H.T @ base
        return self.mobility @ free - self.inverse @ (parts.drift + parts.C.T @ base)

    def multipliers(self, tau: Array, base: Array) -> Array:
        """λ (m,) at torques τ (n,) and an acceleration of the base (b,).   (4.206), whose λ is the opposite."""
        parts = self.parts
        free = tau - parts.h_joints - parts.H.T @ base
        return -self.inverse.T @ free - self.inertia @ (parts.drift + parts.C.T @ base)

    def solve(self, tau: Array) -> SplitMotion:
        """The motion under torques τ (n,): the rows of the base, with θ" and λ put in, determine V'."""
        parts, still = self.parts, np.zeros(len(self.parts.h_base))
        joints, multipliers = self.joints(tau, still), self.multipliers(tau, still)
        by_base = -self.mobility @ parts.H.T - self.inverse @ parts.C.T  # ∂θ"/∂V'
        carried = self.inverse.T @ parts.H.T - self.inertia @ parts.C.T  # ∂λ/∂V'
        effective = parts.M_B + parts.H @ by_base - parts.C @ carried
        base = np.linalg.solve(effective, parts.C @ multipliers - parts.h_base - parts.H @ joints)
        return SplitMotion(base, joints + by_base @ base, multipliers + carried @ base)


def joint_space_form(parts: SplitEquations) -> JointSpaceForm:
    """The equations of the joints, free of contact forces.   [dyn.joint-space].

    Args:
        parts: The equations; J with full row rank.

    Raises:
        ModelError: The joints cannot move along every constraint.
    """
    require_independent(parts)
    mobile = np.linalg.solve(parts.M_joints, np.column_stack([parts.J.T, np.eye(len(parts.M_joints))]))
    MJ, inverse_mass = mobile[:, : len(parts.J)], mobile[:, len(parts.J) :]
    inertia = np.linalg.inv(parts.J @ MJ)
    return JointSpaceForm(parts, inverse_mass - MJ @ inertia @ MJ.T, MJ @ inertia, inertia)


@dataclass(frozen=True, eq=False)
class LagrangeDAlembert:
    """inertia V' + bias = Aᵀ τ        [dyn.lagrange-dalembert]   Nenchev & Konno 2019, section 4.13.2, put right.

    θ' = A V with A = -J⁺ Cᵀ, θ" = A V' + b with b = -J⁺ drift (errata: (4.213)–(4.216) have A with the wrong sign and
    leave out what H does):

    inertia = M_B + H A + Aᵀ Hᵀ + Aᵀ M_θ A,    bias = h_B + H b + Aᵀ (h_θ + M_θ b)

    Joints that are more than the constraints move as little as they can here, which is what the robot does only if it
    has no such joints, or if something holds them: motions of redundant joints are lost.

    Args:
        parts: The equations.
        A: (n, b).
        b: (n,).
        inertia: (b, b).
        bias: (b,).
    """

    parts: SplitEquations
    A: Array
    b: Array
    inertia: Array
    bias: Array

    def base(self, tau: Array) -> Array:
        """V' (b,) under torques τ (n,)."""
        return np.linalg.solve(self.inertia, self.A.T @ tau - self.bias)

    def joints(self, base: Array) -> Array:
        """θ" (n,) that goes with V' (b,)."""
        return self.A @ base + self.b

    def torques(self, base: Array, contact: Array | None = None) -> Array:
        """Torques τ (n,) for V' (b,): -Jᵀ C⁺ F + Jᵀ (E - C⁺ C) λ_a, F = inertia V' + bias.   (4.241), sign put right.

        Args:
            base: V' (b,).
            contact: λ_a (m,), whose internal part the torques press with; none if omitted.
        """
        C, J = self.parts.C, self.parts.J
        inverse = np.linalg.pinv(C, rcond=1e-10)
        internal = np.zeros(len(J)) if contact is None else contact - inverse @ (C @ contact)
        return J.T @ (internal - inverse @ (self.inertia @ base + self.bias))


def lagrange_dalembert(parts: SplitEquations) -> LagrangeDAlembert:
    """The equations of the base, or of a held object, alone.   [dyn.lagrange-dalembert].

    Args:
        parts: The equations; J with full row rank.

    Raises:
        ModelError: The joints cannot move along every constraint.
    """
    require_independent(parts)
    inverse = np.linalg.pinv(parts.J)
    A, b = -inverse @ parts.C.T, -inverse @ parts.drift
    HA = parts.H @ A
    inertia = parts.M_B + HA + HA.T + A.T @ parts.M_joints @ A
    bias = parts.h_base + parts.H @ b + A.T @ (parts.h_joints + parts.M_joints @ b)
    return LagrangeDAlembert(parts, A, b, inertia, bias)


def require_independent(parts: SplitEquations) -> None:
    """Refuse constraints along which the joints cannot move independently."""
    rank, m = rank_of(parts.J, size_of(parts.C)), len(parts.J)
    if rank < m:
        raise ModelError(
            "the joints cannot move along every constraint, so that they alone cannot hold it",
            evidence={"rank of the joints' part of J": rank, "constraints": m},
            next_step="leave the singular posture, remove redundant constraints, or use constrained_acceleration",
        )
