"""Partial feedback linearisation: torques with which chosen joints accelerate exactly as commanded.

    collocated:      the driven joints,   (P M Pᵀ) w = -P h - P M Sᵀ y,             tau = S (M a + h)
    non-collocated:  the passive joints,  (P M Sᵀ) v = -P h - P M Pᵀ y,             tau = S (M a + h)        [dyn.pfl]
    Spong 1994, sections 2 and 3; collocated without constraints: the hybrid dynamics of Koch, (5.7)–(5.9)

The second needs *strong inertial coupling*: P M Sᵀ with full row rank, so at least as many drives as passive joints.
With constraints both are one thing: accelerations are a = a_0 + B tau, and E B tau = y - E a_0 for the joints E picks.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot import ops
from surefoot.dynamics.algebra import null_basis, rank_of, solve_positive
from surefoot.dynamics.checked_arguments import checked_numbers, checked_robot, checked_vector
from surefoot.dynamics.constraints import Baumgarte, Constraint, Constraints, held_constraints
from surefoot.dynamics.inverse.driven_equations import DrivenEquations, checked_equations
from surefoot.dynamics.inverse.forward_operator import OperatorResult, forward_operator, without_redundant_rows
from surefoot.errors import ModelError, ShapeError
from surefoot.ops import Array
from surefoot.robot import Robot


def partial_linearisation(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    desired: ArrayLike,
    commanded: ArrayLike | None = None,
    constraints: Sequence[Constraint] | Constraints | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> OperatorResult:
    """Torques with which some joints accelerate as commanded, and the motion of the whole robot.   [dyn.pfl].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        desired: (k,) commanded accelerations [rad/s²] or [m/s²].
        commanded: (k,) degrees of freedom that they belong to, driven or passive; `robot.driven` if omitted.
        constraints: The active constraints; the robot's own loops and couplings if None.
        baumgarte: Gains that pull the state back.

    Raises:
        ShapeError: An argument has a wrong shape or is not finite, or a degree of freedom does not exist.
        ModelError: The drives cannot accelerate these joints independently, the mass matrix is singular, or the
            constraints contradict each other.
    """
    checked_robot(robot)
    rows = robot.driven if commanded is None else _checked_rows(robot, commanded)
    held = held_constraints(robot, constraints)
    equations, basis = without_redundant_rows(checked_equations(robot, q, v, held, baumgarte), held.rows)
    found = linearise(equations, rows, checked_vector("desired", desired, len(rows)))
    return found._replace(multipliers=basis.multipliers(found.multipliers))


def _checked_rows(robot: Robot, commanded: ArrayLike) -> NDArray[np.int64]:
    """Indices of v (k,), all different."""
    given = checked_numbers("commanded", commanded, "pass indices of v")
    rows = np.unique(given[np.isin(given, np.arange(robot.nv))])
    if given.ndim != 1 or len(rows) != given.size:
        raise ShapeError(
            "commanded degrees of freedom must be different indices of v",
            evidence={"given": given.tolist()},
            next_step=f"pass whole numbers from 0 to {robot.nv - 1}",
        )
    return given.astype(np.int64)


def linearise(equations: DrivenEquations, commanded: Array, desired: Array) -> OperatorResult:
    """The least torques with which chosen joints (k,) accelerate as commanded (k,) (numbers).   [dyn.pfl].

    J must have full row rank. Refused where the drives cannot accelerate these joints independently.
    """
    M, _, J, _, driven = equations
    V_r = null_basis(J)
    mobility = V_r @ np.linalg.solve(V_r.T @ M @ V_r, V_r.T)
    most = np.sqrt(np.diag(np.linalg.inv(M)))  # entries of the mobility are below most_i most_j
    share = mobility[np.ix_(commanded, driven)] / np.outer(most[commanded], most[driven])
    if rank_of(share, 1.0) < len(commanded):
        raise ModelError(
            "the drives cannot accelerate these joints independently",
            evidence={
                "independent": rank_of(share, 1.0),
                "commanded": len(commanded),
                "singular values, as shares of free motion": np.linalg.svd(share, compute_uv=False).tolist(),
            },
            next_step="command fewer joints, or others",
        )
    rest = forward_operator(equations, np.zeros(len(driven))).a
    tau = np.linalg.pinv(mobility[np.ix_(commanded, driven)]) @ (desired - rest[commanded])
    return forward_operator(equations, tau)


def collocated(M: Array, h: Array, driven: Array, desired: Array) -> tuple[Array, Array]:
    """Torques (nu,) and accelerations (nv,) where the driven joints get the commanded ones; also for symbols.

    Args:
        M: (nv, nv).
        h: (nv,).
        driven: (nu,) driven degrees of freedom.
        desired: (nu,) their accelerations.
    """
    passive = np.setdiff1d(np.arange(len(h)), driven)
    free = solve_positive(M[np.ix_(passive, passive)], -h[passive] - M[np.ix_(passive, driven)] @ desired)
    return _torques(M, h, driven, passive, desired, free)


def non_collocated(M: Array, h: Array, driven: Array, desired: Array) -> tuple[Array, Array]:
    """Torques (nu,) and accelerations (nv,) where the passive joints get the commanded ones; also for symbols.

    The driven joints accelerate as little as they can: with D = P M Sᵀ, v = Dᵀ (D Dᵀ)⁻¹ (-P h - P M Pᵀ y).

    Args:
        M: (nv, nv), with strong inertial coupling.
        h: (nv,).
        driven: (nu,) driven degrees of freedom.
        desired: (nv - nu,) accelerations of the passive joints, ascending.
    """
    passive = np.setdiff1d(np.arange(len(h)), driven)
    D = M[np.ix_(passive, driven)]
    v = D.T @ solve_positive(D @ D.T, -h[passive] - M[np.ix_(passive, passive)] @ desired)
    return _torques(M, h, driven, passive, v, desired)


def _torques(M: Array, h: Array, driven: Array, passive: Array, v: Array, w: Array) -> tuple[Array, Array]:
    a = ops.zeros(len(h), like=[M, h, v, w])
    a[driven], a[passive] = v, w
    return (M @ a + h)[driven], a
