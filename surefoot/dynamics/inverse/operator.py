"""IdOP: torques of a constrained robot with passive joints for accelerations that its driven joints should have.

Desired accelerations y of the driven joints cannot be had in general; they are relaxed with a weight K:

    min ½ aᵀ M a + hᵀ a + ½ |y - S a|²_K    subject to    J a = -drift        [dyn.idop]   Koch, (5.26)

The multiplier of S a is the torque, tau = K (y - S a), and with (v, w) = (S a, P a)

    [ S M Sᵀ + K   S M Pᵀ   S Jᵀ ] [ v ]   [ K y - S h ]
    [ P M Sᵀ       P M Pᵀ   P Jᵀ ] [ w ] = [ -P h      ]        (5.36)
    [ J Sᵀ         J Pᵀ     0    ] [-λ ]   [ -drift    ]

(errata: (5.27) needs [S, -S, 0, 0] as its last row and -Sᵀ above it, as printed it is solved for -y; (5.36) has drift
with the wrong sign; the signs of (5.41) do not fit together). So M a + h = Sᵀ tau + Jᵀ λ and J a = -drift hold exactly
for every y, FD(tau) is a, and y = S FD(tau) + K⁻¹ tau leads back to tau. Nothing is pivoted and nothing has a
threshold: the result is as smooth as the equations. Other relaxations are those of contact forces, of torques, of both:

    (a) forces     S a = y,               J a + drift = -K λ        [dyn.idop-forces]    Koch, (5.28), (5.29)
    (b) torques    S a = y - K tau,       J a + drift = 0           [dyn.idop-torques]   Koch, (5.30), (5.31)
    (c) all        S a = y - K' tau,      J a + drift = -K λ        [dyn.idop-all]       Koch, (5.32), (5.33)

each with M a + h = Sᵀ tau + Jᵀ λ. Printed is K with the opposite sign: the foot would yield *towards* the force that
pushes it, and the equations lose their definiteness. (b) is the relaxation of accelerations with weight K⁻¹. (a) and
(c) do not meet the contacts: what a foot does under them is not what it does in forward dynamics; they serve to
compare, and where rows of J depend on each other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.dynamics.algebra import null_basis, orthogonal_factors, solve_lower, solve_positive, solve_upper
from surefoot.dynamics.checked_arguments import checked_choice, checked_numbers, checked_vector
from surefoot.dynamics.constraints import Baumgarte, Constraint, Constraints, held_constraints, require_inertia
from surefoot.dynamics.inverse.driven_equations import DrivenEquations, checked_equations
from surefoot.dynamics.inverse.forward_operator import OperatorResult, refine, without_redundant_rows
from surefoot.errors import ModelError, ShapeError, one_of
from surefoot.ops import Array
from surefoot.robot import Robot


def relaxed_forces(equations: DrivenEquations, desired: Array, softness: Array) -> OperatorResult:
    """Desired accelerations (nu,) exactly, contacts with softness K (m, m).   [dyn.idop-forces].

    (P M Pᵀ + P Jᵀ K⁻¹ J Pᵀ) w = -P h - P M Sᵀ y - P Jᵀ K⁻¹ (J Sᵀ y + drift), λ = -K⁻¹ (J a + drift)
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
    """Contacts exactly, S a + K tau = y with softness K (nu, nu); J has full row rank.   [dyn.idop-torques].

    Torques and multipliers are found together, from their effects on accelerations: with B = (S; J) M⁻¹ (S; J)ᵀ,

    (B + diag(K, 0)) (tau; λ) = (y; -drift) + (S; J) M⁻¹ h
    """
    return _relaxed(equations, desired, softness, np.zeros((len(equations.J),) * 2))


def relaxed_all(equations: DrivenEquations, desired: Array, softness: Array, contacts: Array) -> OperatorResult:
    """S a + K' tau = y and J a + K λ = -drift, with softnesses K' (nu, nu) and K (m, m).   [dyn.idop-all]."""
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


IdopSolver = Literal["null_space", "schur"]
IdopRelaxation = Literal["acceleration", "torque", "force", "all"]


@dataclass(frozen=True)
class Weight:
    """K by rule.

    Args:
        kind: "mass": α S M Sᵀ, always positive definite; "flat": α 1 - S M Sᵀ, which makes the first block of (5.36)
            diagonal and needs α large enough.
        alpha: α; for "mass" without unit, for "flat" in kg m².
    """

    kind: Literal["mass", "flat"] = "mass"
    alpha: float = 1.0

    def matrix(self, driven_inertia: Array) -> Array:
        """K (nu, nu).

        Args:
            driven_inertia: S M Sᵀ (nu, nu).
        """
        if self.kind == "mass":
            return self.alpha * driven_inertia
        if self.kind != "flat":
            raise one_of("kind of weight", self.kind, ("mass", "flat"))
        return self.alpha * np.eye(len(driven_inertia)) - driven_inertia


def idop(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    desired: ArrayLike,
    constraints: Sequence[Constraint] | Constraints | None = None,
    solver: IdopSolver = "null_space",
    relaxation: IdopRelaxation = "acceleration",
    weight: Weight | ArrayLike = Weight(),  # noqa: B008 - frozen
    softness: float = 1e-3,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> OperatorResult:
    """Torques near those that accelerate the driven joints as desired, and the motion under them.

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        desired: (nu,) desired accelerations of the driven joints, in the order of `robot.driven`.
        constraints: The active constraints; the robot's own loops and couplings if None.
        solver: Of the accelerations' relaxation: "null_space" (5.37–5.39), or "schur" (5.40), for few contacts and
            few passive joints.
        relaxation: What gives way: "acceleration" (5.26), exact in dynamics and contacts; "torque" (5.31), the same
            motion by other equations; "force" (5.29), desired accelerations exact and contacts soft; "all" (5.33).
        weight: K, as a rule or as (nu, nu); "torque" and "all" take its inverse as their weight of torques.
        softness: Of "force" and "all": contacts accelerate by -K λ with K = softness · J M⁻¹ Jᵀ.
        baumgarte: Gains that pull the state back.

    Raises:
        ShapeError: An argument has a wrong shape or is not finite, or softness is not positive.
        ModelError: The mass matrix is singular, the constraints contradict each other, or the weight is too small.
        UnknownNameError: There is no such solver or relaxation.
    """
    checked_choice("solver", solver, get_args(IdopSolver))
    checked_choice("relaxation", relaxation, get_args(IdopRelaxation))
    held = held_constraints(robot, constraints)
    equations, basis = without_redundant_rows(checked_equations(robot, q, v, held, baumgarte), held.rows)
    require_inertia(robot.tree, equations.M, basis, everywhere=True)
    desired = checked_vector("desired", desired, robot.nu)
    K = _checked_weight(equations, weight, solver)
    contact = _contact_softness(equations, softness)
    match relaxation:
        case "acceleration":
            found = inverse_operator(equations, desired, K, solver)
        case "torque":
            found = relaxed_torques(equations, desired, np.linalg.inv(K))
        case "force":
            found = relaxed_forces(equations, desired, contact)
        case "all":
            found = relaxed_all(equations, desired, np.linalg.inv(K), contact)
    return found._replace(multipliers=basis.multipliers(found.multipliers))


def inverse_operator(
    equations: DrivenEquations,
    desired: Array,
    weight: Weight | Array = Weight(),  # noqa: B008 - frozen
    solver: IdopSolver = "null_space",
) -> OperatorResult:
    """IdOP of one state; also for symbols.   [dyn.idop].

    Args:
        equations: The equations of the state; J with full row rank.
        desired: (nu,) desired accelerations of the driven joints.
        weight: K, as a rule or as (nu, nu).
        solver: "null_space" or "schur".
    """
    K = weight_matrix(equations, weight)
    if solver == "null_space":
        return _by_null_space(equations, desired, K)
    if solver == "schur":
        return _by_schur(equations, desired, K)
    raise one_of("solver", solver, get_args(IdopSolver))


def weight_matrix(equations: DrivenEquations, weight: Weight | Array) -> Array:
    """K (nu, nu) of a rule, or the matrix itself."""
    if not isinstance(weight, Weight):
        return np.asarray(weight)
    return weight.matrix(equations.M[np.ix_(equations.driven, equations.driven)])


def _by_null_space(equations: DrivenEquations, desired: Array, K: Array) -> OperatorResult:
    """(5.37)–(5.39), in the order of the degrees of freedom: F = M + Sᵀ K S, Jᵀ = [Y Z] (R; 0)."""
    _, h, J, drift, driven = equations
    F = _relaxed_inertia(equations, K)
    g = h - equations.forces(K @ desired)
    Y, Z, R = orthogonal_factors(J.T)
    held = Y @ -solve_lower(R.T, drift)
    a = held + Z @ solve_positive(Z.T @ (F @ Z), -(Z.T @ (F @ held + g)))
    return OperatorResult(a, K @ (desired - a[driven]), solve_upper(R, Y.T @ (g + F @ a)))


def _by_schur(equations: DrivenEquations, desired: Array, K: Array) -> OperatorResult:
    """(5.40) with the signs put right: v and then w are eliminated from (5.36)."""
    M, h, J, drift, driven = equations
    passive = equations.passive
    SJ, PJ, SMP = J[:, driven].T, J[:, passive].T, M[np.ix_(driven, passive)]
    F = _relaxed_inertia(equations, K)
    H = F[np.ix_(driven, driven)]

    def solve(g: Array, drift: Array) -> tuple[Array, Array]:
        X = solve_positive(H, np.concatenate([SMP, SJ, -g[driven, None]], axis=1))  # H⁻¹ (S M Pᵀ, S Jᵀ, -S g)
        split = len(passive), len(passive) + len(J)
        HP, HJ, Hr = X[:, : split[0]], X[:, split[0] : split[1]], X[:, -1]
        A, C, b = M[np.ix_(passive, passive)] - SMP.T @ HP, PJ - SMP.T @ HJ, -g[passive] - SMP.T @ Hr
        AC = solve_positive(A, np.concatenate([C, b[:, None]], axis=1))
        multipliers = solve_positive(C.T @ AC[:, :-1] + SJ.T @ HJ, -(C.T @ AC[:, -1]) - drift - SJ.T @ Hr)
        w = AC[:, -1] + AC[:, :-1] @ multipliers
        a = ops.zeros(len(g), like=[w, Hr])
        a[driven], a[passive] = Hr - HP @ w + HJ @ multipliers, w
        return a, multipliers

    a, multipliers = refine(solve, F, J, h - equations.forces(K @ desired), drift)
    return OperatorResult(a, K @ (desired - a[driven]), multipliers)


def _relaxed_inertia(equations: DrivenEquations, K: Array) -> Array:
    """F = M + Sᵀ K S (nv, nv)."""
    M, driven = equations.M, equations.driven
    F = ops.zeros(M.shape, like=[M, K]) + M
    F[np.ix_(driven, driven)] = F[np.ix_(driven, driven)] + K
    return F


def _checked_weight(equations: DrivenEquations, weight: Weight | ArrayLike, solver: str) -> Array:
    """K as numbers, symmetric and regular, with F = M + Sᵀ K S positive definite where the solver needs it."""
    nu = len(equations.driven)
    if isinstance(weight, Weight):
        checked_vector("alpha", [weight.alpha], 1)
    given = weight if isinstance(weight, Weight) else checked_numbers("weight", weight, "pass a Weight, or K (nu, nu)")
    K = np.asarray(weight_matrix(equations, given))
    if (
        K.shape != (nu, nu)
        or not np.isfinite(K).all()
        or np.abs(K - K.T).max(initial=0.0) > 1e-9 * np.abs(K).max(initial=0.0)
    ):
        raise ShapeError(f"the weight must be a finite symmetric matrix ({nu}, {nu})", evidence={"shape": K.shape})
    F = _relaxed_inertia(equations, K)
    Z = np.eye(len(F)) if solver == "schur" else null_basis(equations.J)
    values = np.linalg.eigvalsh(Z.T @ F @ Z)
    if values.size and values[0] <= 1e-12 * abs(values[-1]):
        raise ModelError(
            "the weight is too small: M + Sᵀ K S is not positive definite along the free motions",
            evidence={
                "smallest eigenvalue": float(values[0]),
                "α of Weight('flat', α) that suffices": _enough(equations),
            },
            next_step="raise α, or use Weight('mass'), which is always large enough",
        )
    if nu and np.linalg.cond(K) > _SINGULAR:
        raise ModelError("the weight K is singular", evidence={"condition": float(np.linalg.cond(K))})
    return K


_SINGULAR = 1e14


def _enough(equations: DrivenEquations) -> float:
    """An α for which [[α 1, S M Pᵀ], [P M Sᵀ, P M Pᵀ]] is positive definite."""
    driven, passive = equations.driven, equations.passive
    SMP = equations.M[np.ix_(driven, passive)]
    values = np.linalg.eigvalsh(SMP @ np.linalg.solve(equations.M[np.ix_(passive, passive)], SMP.T))
    return float(1.01 * values[-1] + 1e-9)


def _contact_softness(equations: DrivenEquations, softness: float) -> Array:
    """K (m, m) of the contacts: a share of the mobility that the free robot has there."""
    if not (isinstance(softness, Real) and np.isfinite(softness) and softness > 0.0):
        raise ShapeError("the softness of contacts must be positive", evidence={"softness": softness})
    return softness * equations.J @ np.linalg.solve(equations.M, equations.J.T)
