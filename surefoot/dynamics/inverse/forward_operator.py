"""FdOP: accelerations and contact forces that the torques of the drives give a constrained robot.

    [[M, Jᵀ], [J, 0]] (a; -λ) = (Sᵀ tau - h; -drift)        [dyn.fdop]   Koch, (5.2), (5.13)

The multipliers come first, from J M⁻¹ Jᵀ λ = -drift - J M⁻¹ (Sᵀ tau - h); J has full row rank. No pivoting: the result
is as smooth as the equations, and can be traced.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot import ops
from surefoot.dynamics.algebra import RowBasis, contradictions, row_basis, solve_positive
from surefoot.dynamics.checked_arguments import checked_vector
from surefoot.dynamics.constraints import Baumgarte, Constraint, Constraints, held_constraints, require_inertia
from surefoot.dynamics.inverse.driven_equations import DrivenEquations, checked_equations
from surefoot.errors import ModelError
from surefoot.ops import Array
from surefoot.robot import Robot


class OperatorResult(NamedTuple):
    """M a + h = Sᵀ tau + Jᵀ λ.

    Args:
        a: (nv,) accelerations [rad/s²] or [m/s²].
        tau: (nu,) forces of the drives [N m] or [N].
        multipliers: (m,) λ; the least of all where not unique.
    """

    a: Array
    tau: Array
    multipliers: Array


def fdop(
    robot: Robot,
    q: ArrayLike,
    v: ArrayLike,
    tau: ArrayLike,
    constraints: Sequence[Constraint] | Constraints | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> OperatorResult:
    """Accelerations and contact forces under the forces of the drives.   [dyn.fdop].

    Args:
        robot: The robot.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nu,) forces of the drives, in the order of `robot.driven`, N m or N.
        constraints: The active constraints; the robot's own loops and couplings if None.
        baumgarte: Gains that pull the state back.

    Raises:
        ShapeError: An argument has a wrong shape or is not finite.
        ModelError: The mass matrix is singular, or the constraints contradict each other.
    """
    held = held_constraints(robot, constraints)
    equations, basis = without_redundant_rows(checked_equations(robot, q, v, held, baumgarte), held.rows)
    require_inertia(robot.tree, equations.M, basis, everywhere=True)
    found = forward_operator(equations, checked_vector("tau", tau, robot.nu))
    return found._replace(multipliers=basis.multipliers(found.multipliers))


def forward_operator(equations: DrivenEquations, tau: Array) -> OperatorResult:
    """FdOP of one state; also for symbols.   [dyn.fdop].

    Args:
        equations: The equations of the state; J with full row rank.
        tau: (nu,) forces of the drives.
    """
    M, h, J, drift, _ = equations

    def solve(g: Array, drift: Array) -> tuple[Array, Array]:
        mobile = solve_positive(M, np.concatenate([J.T, -g[:, None]], axis=1))
        JT, free = mobile[:, :-1], mobile[:, -1]
        multipliers = solve_positive(J @ JT, -drift - J @ free)
        return free + JT @ multipliers, multipliers

    a, multipliers = refine(solve, M, J, h - equations.forces(tau), drift)
    return OperatorResult(a, tau, multipliers)


def refine(
    solve: Callable[[Array, Array], tuple[Array, Array]], F: Array, J: Array, g: Array, drift: Array
) -> tuple[Array, Array]:
    """A (nv,) and λ (m,) in F a + g = Jᵀ λ, J a + drift = 0, from a solver that loses digits where it squares J.

    Numbers get one step of iterative refinement (Wilkinson 1963); symbols do not.
    """
    a, multipliers = solve(g, drift)
    if ops.is_symbolic(a, multipliers):
        return a, multipliers
    more, further = solve(F @ a + g - J.T @ multipliers, J @ a + drift)
    return a + more, multipliers + further


def without_redundant_rows(equations: DrivenEquations, rows: Sequence[str]) -> tuple[DrivenEquations, RowBasis]:
    """The same equations with orthonormal rows Q a + x = 0, J = K Q, and K Q itself (numbers).

    Refused where constraints contradict each other, with the names of their rows.
    """
    wrong = contradictions(equations.J, equations.drift, rows)
    if wrong:
        raise ModelError(
            f"constraints contradict each other: no acceleration meets {', '.join(f'`{name}`' for name in wrong)}",
            evidence={f"`{name}` misses by": f"{value:.6g} m/s² or rad/s²" for name, value in wrong.items()},
            next_step="remove one of them, or start from a state that meets them (`closed_state`)",
        )
    basis = row_basis(equations.J)
    return equations._replace(J=basis.Q, drift=basis.along(equations.drift)), basis
