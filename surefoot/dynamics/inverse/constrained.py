"""Inverse dynamics of constrained robots with passive joints: torques of the drives for a motion of the whole robot.

Given accelerations a that meet the constraints, drives and contacts must share

    M a + h = Sᵀ tau + Jᵀ λ        [dyn.inverse-constrained]   Nenchev & Konno 2019, section 4.14

"weighted": least torques. With V_r an orthonormal basis of N(J), Jᵀ λ drops out of V_rᵀ (M a + h) = V_rᵀ Sᵀ tau,
    tau = V† V_rᵀ (M a + h) + (E - V† V_rᵀ Sᵀ) tau_0,   V† = W^(-1/2) (V_rᵀ Sᵀ W^(-1/2))⁺                    (4.238)
"qr": the same with Jᵀ = [Q_c Q_r] (R; 0), and λ = R⁻¹ Q_cᵀ (M a + h - Sᵀ tau) (erratum of (4.239): that is F̄ᶜ = -λ
    of the book)
"joint_space": least contact forces that carry the passive rows, P Jᵀ λ = P (M a + h), then the torques; this is (4.244)
    with F̄_a = M_cB J_cB θ" - λ, the arbitrary wrench for which it is true
"projection": Q = N*(J) M a + Jᵀ J^(-M)ᵀ Q_a + h (4.235), of which tau are the driven rows. It is true only if the
    passive rows of Q vanish, which the choice Q_a = -Jᵀ M_c J̇ v, (4.236), does not ensure: they are checked.

All reproduce a where they can, and report by how much they cannot.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.dynamics.algebra import null_basis, rank_of, size_of
from surefoot.dynamics.checked_arguments import checked_choice, checked_numbers, checked_vector
from surefoot.dynamics.constraints import Baumgarte, Constraint, Constraints, held_constraints
from surefoot.dynamics.inverse.driven_equations import DrivenEquations, checked_equations
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.robot import Robot

InverseMethod = Literal["weighted", "qr", "joint_space", "projection"]


@dataclass(frozen=True, eq=False)
class InverseMotion:
    """Torques and contact forces of a motion.

    Args:
        tau: (nu,) forces of the drives [N m] or [N].
        constraint_force: (nv,) Jᵀ λ, what the constraints do to the joints [N m] or [N].
        multipliers: (m,) λ on the second frames in the axes of the first ones.
        residual: Largest entry of |M a + h - Sᵀ tau - Jᵀ λ| [N m] or [N]: above rounding, no torques of the drives
            give this motion.
        violation: Largest entry of |J a + drift| [m/s²] or [rad/s²]: above rounding, the motion breaks a constraint.
    """

    tau: Array
    constraint_force: Array
    multipliers: Array
    residual: float
    violation: float


def inverse_dynamics_constrained(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    a: ArrayLike,
    constraints: Sequence[Constraint] | Constraints | None = None,
    method: InverseMethod = "weighted",
    weights: ArrayLike | None = None,
    preferred: ArrayLike | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> InverseMotion:
    """Torques of the drives, and contact forces, of a motion of the whole robot.   [dyn.inverse-constrained].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration that meets the constraints.
        constraints: The active constraints; the robot's own loops and couplings if None.
        method: "weighted", "qr", "joint_space" or "projection".
        weights: (k,) or (k, k) positive definite; of torques (k = nu), for "joint_space" of multipliers (k = m); ones
            if omitted; "projection" takes none.
        preferred: Preferred values where there is a choice: torques (nu,), for "joint_space" multipliers (m,); for
            "projection" the arbitrary force Q_a (nv,), that of ideal constraints if omitted.
        baumgarte: Gains that pull the state back.

    Raises:
        ShapeError: An argument has a wrong shape or is not finite, or weights are not positive.
        NotSupportedError: "projection" where its condition does not hold.
        UnknownNameError: There is no such method.
        ModelError: The mass matrix is singular.
    """
    checked_choice("method", method, get_args(InverseMethod))
    equations = checked_equations(robot, q, v, held_constraints(robot, constraints), baumgarte)
    a = checked_vector("a", a, robot.nv)
    match method:
        case "weighted":
            return weighted_inverse(equations, a, weights, preferred)
        case "qr":
            return qr_inverse(equations, a, weights, preferred)
        case "joint_space":
            return joint_space_inverse(equations, a, weights, preferred)
    if weights is not None:
        raise NotSupportedError('"projection" does not take weights', next_step='use method="weighted"')
    return projection_inverse(equations, a, preferred)


def weighted_inverse(
    equations: DrivenEquations, a: Array, weights: ArrayLike | None = None, preferred: ArrayLike | None = None
) -> InverseMotion:
    """Least (tau - tau_0)ᵀ W (tau - tau_0); multipliers are the least of all where not unique (numbers)."""
    tau = _least_torques(equations, null_basis(equations.J), a, weights, preferred)
    left = equations.M @ a + equations.h - equations.forces(tau)
    return _motion(equations, a, tau, np.linalg.pinv(equations.J.T, rcond=1e-10) @ left)


def qr_inverse(
    equations: DrivenEquations, a: Array, weights: ArrayLike | None = None, preferred: ArrayLike | None = None
) -> InverseMotion:
    """Least torques, by orthogonal factors of Jᵀ; rows that depend on others carry nothing (numbers)."""
    J = equations.J
    rank, m = rank_of(J), len(J)
    Q, R, order = scipy.linalg.qr(J.T, pivoting=True) if m else (np.eye(J.shape[1]), np.zeros((0, 0)), [])
    tau = _least_torques(equations, Q[:, rank:], a, weights, preferred)
    left = equations.M @ a + equations.h - equations.forces(tau)
    multipliers = np.zeros(m)
    multipliers[order[:rank]] = scipy.linalg.solve_triangular(R[:rank, :rank], Q[:, :rank].T @ left)
    return _motion(equations, a, tau, multipliers)


def joint_space_inverse(
    equations: DrivenEquations, a: Array, weights: ArrayLike | None = None, preferred: ArrayLike | None = None
) -> InverseMotion:
    """Least contact forces with weights W, near λ_0, and the torques that go with them (numbers)."""
    passive, driven, J = equations.passive, equations.driven, equations.J
    wanted = equations.M @ a + equations.h
    choice = _square(weights, len(J)), _vector(preferred, len(J))
    multipliers = _nearest(J[:, passive].T, wanted[passive], size_of(J), *choice)
    return _motion(equations, a, (wanted - J.T @ multipliers)[driven], multipliers)


def projection_inverse(equations: DrivenEquations, a: Array, arbitrary: ArrayLike | None = None) -> InverseMotion:
    """The driven rows of `projected_force`; refused where its passive rows do not vanish (numbers)."""
    Q = projected_force(equations, a, arbitrary)
    left = float(np.abs(Q[equations.passive]).max(initial=0.0))
    if not left <= _ROUNDING * max(1.0, float(np.abs(equations.M @ a).max()), float(np.abs(equations.h).max())):
        raise NotSupportedError(
            "the projection form needs forces at joints without drive: its torques would not produce this motion",
            evidence={
                "largest force at a passive degree of freedom [N m, N]": left,
                "degree of freedom": int(equations.passive[np.argmax(np.abs(Q[equations.passive]))]),
            },
            next_step='use method="weighted", or an arbitrary force Q_a that vanishes there together with the rest',
        )
    tau = Q[equations.driven]
    left_over = equations.M @ a + equations.h - equations.forces(tau)
    return _motion(equations, a, tau, np.linalg.pinv(equations.J.T, rcond=1e-10) @ left_over)


def projected_force(equations: DrivenEquations, a: Array, arbitrary: ArrayLike | None = None) -> Array:
    """Q = N*(J) M a + Jᵀ J^(-M)ᵀ Q_a + h (nv,), N m or N (numbers).   Nenchev & Konno 2019, (4.235).

    J must have full row rank. Without Q_a, J M⁻¹ Q_a = -drift, (4.236).
    """
    M, h, J, drift, _ = equations
    if rank_of(J) < len(J):
        raise NotSupportedError(
            "the projection form needs independent constraints",
            evidence={"rank of J": rank_of(J), "rows": len(J)},
            next_step='use method="weighted"',
        )
    JM = np.linalg.solve(M, J.T).T  # J M⁻¹
    M_c = np.linalg.inv(JM @ J.T)
    given = -drift if arbitrary is None else JM @ checked_vector("Q_a", arbitrary, len(h))
    return M @ a - J.T @ (M_c @ (J @ a)) + J.T @ (M_c @ given) + h


_ROUNDING = 1e-9


def _least_torques(
    equations: DrivenEquations, V_r: Array, a: Array, weights: ArrayLike | None, preferred: ArrayLike | None
) -> Array:
    """(4.238) with a basis V_r (nv, r) of N(J)."""
    nu = len(equations.driven)
    wanted = V_r.T @ (equations.M @ a + equations.h)
    return _nearest(V_r[equations.driven].T, wanted, 1.0, _square(weights, nu), _vector(preferred, nu))


def _nearest(A: Array, b: Array, size: float, W: Array, preferred: Array) -> Array:
    """The x with A x = b, in least squares where it must be, and (x - x_0)ᵀ W (x - x_0) least.

    Singular values that are rounding beside `size`, the largest of the matrix that A is a part of, count as zero.
    """
    half = np.linalg.cholesky(W)  # W = L Lᵀ, y = Lᵀ (x - x_0)
    inverse = scipy.linalg.solve_triangular(half, np.eye(len(W)), lower=True) if len(W) else W
    U, values, Vt = np.linalg.svd(A @ inverse.T, full_matrices=False)
    kept = values > 1e-10 * size * size_of(inverse)
    return preferred + inverse.T @ (Vt[kept].T @ (U[:, kept].T @ (b - A @ preferred) / values[kept]))


def _square(weights: ArrayLike | None, size: int) -> Array:
    """W (size, size)."""
    if weights is None:
        return np.eye(size)
    W = checked_numbers("weights", weights, f"give ({size},) or ({size}, {size}) numbers")
    W = np.diag(W) if W.ndim == 1 else W
    if W.shape != (size, size) or not np.isfinite(W).all() or np.abs(W - W.T).max(initial=0.0) > 0.0:
        raise ShapeError(f"weights must be ({size},) or a symmetric ({size}, {size})", evidence={"shape": W.shape})
    if size and np.linalg.eigvalsh(W)[0] <= 0.0:
        raise ShapeError("weights must be positive", evidence={"smallest eigenvalue": float(np.linalg.eigvalsh(W)[0])})
    return W


def _vector(preferred: ArrayLike | None, size: int) -> Array:
    return np.zeros(size) if preferred is None else checked_vector("preferred", preferred, size)


def _motion(equations: DrivenEquations, a: Array, tau: Array, multipliers: Array) -> InverseMotion:
    M, h, J, drift, _ = equations
    held = J.T @ multipliers
    residual = float(np.abs(M @ a + h - equations.forces(tau) - held).max(initial=0.0))
    return InverseMotion(tau, held, multipliers, residual, float(np.abs(J @ a + drift).max(initial=0.0)))
