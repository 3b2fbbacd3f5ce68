"""Other relaxations of desired accelerations y: of contact forces, of torques, of both.

    (a) forces     S a = y,               J a + drift = -K λ        [dyn.idop-forces]    Koch, (5.28), (5.29)
    (b) torques    S a = y - K tau,       J a + drift = 0           [dyn.idop-torques]   Koch, (5.30), (5.31)
    (c) all        S a = y - K' tau,      J a + drift = -K λ        [dyn.idop-all]       Koch, (5.32), (5.33)

each with M a + h = Sᵀ tau + Jᵀ λ. Printed is K with the opposite sign: the foot would yield *towards* the force that
pushes it, and the equations lose their definiteness. (b) is the relaxation of accelerations with weight K⁻¹. (a) and
(c) do not meet the contacts: what a foot does under them is not what it does in forward dynamics; they serve to
compare, and where rows of J depend on each other.
"""

from __future__ import annotations

import numpy as np

from surefoot import ops
from surefoot.dynamics.driven_equations import DrivenEquations
from surefoot.dynamics.forward_operator import OperatorResult
from surefoot.dynamics.smooth_factors import solve_positive
from surefoot.ops import Array

__all__ = ["relaxed_all", "relaxed_forces", "relaxed_torques"]


def relaxed_forces(equations: DrivenEquations, desired: Array, softness: Array) -> OperatorResult:
    """Desired accelerations exactly, contacts softly.   [dyn.idop-forces].

    (P M Pᵀ + P Jᵀ K⁻¹ J Pᵀ) w = -P h - P M Sᵀ y - P Jᵀ K⁻¹ (J Sᵀ y + drift), λ = -K⁻¹ (J a + drift)

    Args:
        equations: Of the state.
        desired: (nu,) desired accelerations of the driven joints.
        softness: K (m, m), symmetric positive definite [1/kg], [1/(kg m)] or [1/(kg m²)].
    """
    M, h, J, drift, driven = equations
    passive = equations.passive
    PJ = J[:, passive]
    pushed = equations.forces(desired)
    stiff = solve_positive(softness, np.concatenate([PJ, (J @ pushed + drift)[:, None]], axis=1))
    F = M[np.ix_(passive, passive)] + PJ.T @ stiff[:, :-1]
    w = solve_positive(F, -h[passive] - (M @ pushed)[passive] - PJ.T @ stiff[:, -1])
    a = ops.zeros(len(h), like=[M, desired])
    a[driven], a[passive] = desired, w
    multipliers = -stiff[:, -1] - stiff[:, :-1] @ w
    return OperatorResult(a, (M @ a + h - J.T @ multipliers)[driven], multipliers)


def relaxed_torques(equations: DrivenEquations, desired: Array, softness: Array) -> OperatorResult:
    """Contacts exactly, S a + K tau = y.   [dyn.idop-torques].

    Torques and multipliers are found together, from their effects on accelerations: with B = (S; J) M⁻¹ (S; J)ᵀ,

    (B + diag(K, 0)) (tau; λ) = (y; -drift) + (S; J) M⁻¹ h

    Args:
        equations: Of the state; J with full row rank.
        desired: (nu,) desired accelerations of the driven joints.
        softness: K (nu, nu), symmetric positive definite [1/(kg m²)] or [1/kg].
    """
    return _relaxed(equations, desired, softness, np.zeros((len(equations.J),) * 2))


def relaxed_all(equations: DrivenEquations, desired: Array, softness: Array, contacts: Array) -> OperatorResult:
    """S a + K' tau = y and J a + K λ = -drift.   [dyn.idop-all].

    Args:
        equations: Of the state.
        desired: (nu,) desired accelerations of the driven joints.
        softness: K' (nu, nu) of the drives, symmetric positive definite.
        contacts: K (m, m) of the contacts, symmetric positive definite.
    """
    return _relaxed(equations, desired, softness, contacts)


def _relaxed(equations: DrivenEquations, desired: Array, softness: Array, contacts: Array) -> OperatorResult:
    M, h, J, drift, driven = equations
    nu = len(driven)
    rows = np.concatenate([np.eye(len(h))[driven], J])
    mobile = solve_positive(M, np.concatenate([rows.T, h[:, None]], axis=1))
    B = ops.zeros((len(rows),) * 2, like=[M, J, softness, contacts]) + rows @ mobile[:, :-1]
    B[:nu, :nu] = B[:nu, :nu] + softness
    B[nu:, nu:] = B[nu:, nu:] + contacts
    forces = solve_positive(B, np.concatenate([desired, -drift]) + rows @ mobile[:, -1])
    return OperatorResult(mobile[:, :-1] @ forces - mobile[:, -1], forces[:nu], forces[nu:])
