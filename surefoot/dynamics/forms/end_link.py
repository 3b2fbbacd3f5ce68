"""Equations of constrained motion in the coordinates of end links.

Along directions that no contact holds, along those that contacts hold, and, where limbs are not redundant, along both
(Nenchev & Konno 2019, section 4.13.3). All of it for numbers; signs as in `surefoot.dynamics.forms.reduced`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.dynamics.algebra import rank_of
from surefoot.dynamics.forms.reduced import SplitEquations, require_independent
from surefoot.errors import ModelError, ShapeError
from surefoot.ops import Array


@dataclass(frozen=True, eq=False)
class FreeDirections:
    """F = inertia V'_m + bias - inverseᵀ N* Q_a        [dyn.free-directions]   Nenchev & Konno 2019, (4.228).

    The motion of end links along directions that no contact holds, V_m = J_m v, with T̄ = M⁻¹ N*(J) the mobility that
    the contacts leave: inertia = (J_m T̄ J_mᵀ)⁻¹, inverse = T̄ J_mᵀ inertia, bias = inverseᵀ h + inertia (J_m J^(-M)
    drift - drift_m) (errata: the first term of (4.227) has the inverse of the inertia; in (4.225) it is J̇_m v).

    Args:
        inertia: (k, k).
        inverse: (nv, k), J_m weighted with the mobility.
        bias: (k,) with velocity and gravity terms [N] or [N m].
        J: J_m (k, nv).
    """

    inertia: Array
    inverse: Array
    bias: Array
    J: Array

    def acceleration(self, force: Array) -> Array:
        """V'_m (k,) under generalised forces Q = Sᵀ τ (nv,)."""
        return np.linalg.solve(self.inertia, self.inverse.T @ force - self.bias)

    def force(self, acceleration: Array, arbitrary: Array | None = None) -> Array:
        """F (k,) with which Q = J_mᵀ F + N*(J_m) Q_a gives V'_m (k,); Q_a (nv,) is zero if omitted."""
        wanted = self.inertia @ acceleration + self.bias
        return wanted if arbitrary is None else wanted - self.inverse.T @ self.dual(arbitrary)

    def dual(self, force: Array) -> Array:
        """N*(J_m) Q_a = Q_a - J_mᵀ inverseᵀ Q_a (nv,): what does not push along the free directions."""
        return force - self.J.T @ (self.inverse.T @ force)


def free_directions(M: Array, h: Array, J: Array, drift: Array, J_m: Array, drift_m: Array) -> FreeDirections:
    """The equations of end links along free directions.   [dyn.free-directions].

    Args:
        M: (nv, nv).
        h: (nv,).
        J: (m, nv) constraints, with full row rank.
        drift: (m,).
        J_m: (k, nv) free directions, that the constraints leave free.
        drift_m: (k,) J̇_m v.

    Raises:
        ModelError: The constraints hold some of the directions, or depend on each other.
    """
    stacked = np.vstack([J, J_m])
    if rank_of(stacked) < len(stacked):
        raise ModelError(
            "constraints and free directions depend on each other",
            evidence={"rank": rank_of(stacked), "rows": len(stacked)},
            next_step="remove directions that the constraints hold, and constraints that repeat others",
        )
    MJ = np.linalg.solve(M, J.T)
    held = MJ @ np.linalg.inv(J @ MJ)  # J^(-M)
    TJ = np.linalg.solve(M, J_m.T - J.T @ (held.T @ J_m.T))
    inertia = np.linalg.inv(J_m @ TJ)
    inverse = TJ @ inertia
    return FreeDirections(inertia, inverse, inverse.T @ h + inertia @ (J_m @ (held @ drift) - drift_m), J_m)


def constraint_forces(
    M: Array, h: Array, J: Array, drift: Array, force: Array, acceleration: Array | None = None
) -> Array:
    """λ (m,) = M_c (V'_c - drift) - J^(-M)ᵀ (Q - h), from the equations as they are.   [dyn.constraint-forces].

    In place of Nenchev & Konno 2019, (4.221)–(4.224), which divide by J T̄ Jᵀ = 0.

    Args:
        M: (nv, nv).
        h: (nv,).
        J: (m, nv), with full row rank.
        drift: (m,).
        force: Q = Sᵀ τ (nv,).
        acceleration: V'_c (m,) with which the contacts give way; zero if omitted.
    """
    MJ = np.linalg.solve(M, J.T)
    given = np.zeros(len(J)) if acceleration is None else acceleration
    return np.linalg.solve(J @ MJ, given - drift - MJ.T @ (force - h))


@dataclass(frozen=True, eq=False)
class LimbCoordinates:
    """M' (V'; V'_e) + h' = (-C; E) J⁻ᵀ τ + (0; E) λ        [dyn.limb-coordinates]   Nenchev & Konno 2019, (4.232).

    With limbs that are not redundant, the twists V_e of all end links take the place of the joints. Torques are in all
    rows and contact forces only in the lower ones: the dual of the usual form.

    Args:
        inertia: M' (b + n, b + n) = T⁻ᵀ M T⁻¹, T = [[E, 0], [Cᵀ, J]].
        bias: h' (b + n,) = T⁻ᵀ (h - M T⁻¹ (0; drift)).
        torque_map: (b + n, n) = (-C; E) J⁻ᵀ.
    """

    inertia: Array
    bias: Array
    torque_map: Array

    def force(self, acceleration: Array, tau: Array) -> Array:
        """The remaining contact forces (b + n,) at (V'; V'_e) and torques τ (n,): zero in the rows of the base."""
        return self.inertia @ acceleration + self.bias - self.torque_map @ tau


def limb_coordinates(parts: SplitEquations) -> LimbCoordinates:
    """The equations in twists of base and end links.   [dyn.limb-coordinates].

    Args:
        parts: The equations, in which C, J and drift are those of the whole twists of all end links: as many rows as
            joints.

    Raises:
        ShapeError: J is not square.
        ModelError: A limb is singular.
    """
    (m, n), b = parts.J.shape, len(parts.h_base)
    if m != n:
        raise ShapeError(
            "limb coordinates need as many directions as joints",
            evidence={"directions": m, "joints": n},
            next_step="use the joint-space form for redundant limbs",
        )
    require_independent(parts)
    inverse_J = np.linalg.inv(parts.J)
    inverse = np.block([[np.eye(b), np.zeros((b, n))], [-inverse_J @ parts.C.T, inverse_J]])
    M = np.block([[parts.M_B, parts.H], [parts.H.T, parts.M_joints]])
    drifting = inverse @ np.concatenate([np.zeros(b), parts.drift])
    bias = inverse.T @ (np.concatenate([parts.h_base, parts.h_joints]) - M @ drifting)
    return LimbCoordinates(inverse.T @ M @ inverse, bias, inverse.T[:, b:])
