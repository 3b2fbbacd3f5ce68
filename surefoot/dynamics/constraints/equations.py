"""The equations of constrained motion, as every method of elimination takes them.

    M a = force + Jᵀ λ,    J a + drift = 0        [dyn.constrained]
    force = tau - h(q, v),    drift = J̇ v + 2 α J v + β² r

α and β pull the state back onto the constraints (Baumgarte 1972; Buschmann 2014, section 3.4.1, where β = α; errata: in
(3.56), (3.58) and (3.61) the derivative of ∂Φ/∂q is multiplied by the velocity).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.dynamics.checked_arguments import checked_vector
from surefoot.dynamics.constraints.constraints import Constraints
from surefoot.dynamics.tree import crba, rnea
from surefoot.errors import ShapeError
from surefoot.ops import Array
from surefoot.robot import Tree


class _Gains(NamedTuple):
    alpha: float
    beta: float


class Baumgarte(_Gains):
    """Gains that pull a state back onto its constraints; 0 for none. Negative ones would push it away: refused.

    Args:
        alpha: Of the velocities [1/s], 0 or more.
        beta: Of the positions [1/s], 0 or more.
    """

    __slots__ = ()

    def __new__(cls, alpha: float = 0.0, beta: float = 0.0) -> Baumgarte:
        """Gains, checked."""
        gains = checked_vector("baumgarte", (alpha, beta), 2)
        if (gains < 0.0).any():
            raise ShapeError(
                "a Baumgarte gain is negative and would push the state away from its constraints",
                evidence={"alpha": alpha, "beta": beta},
                next_step="pass gains of 0 (none) or more [1/s]",
            )
        return super().__new__(cls, *gains.tolist())


def checked_gains(given: Baumgarte | Sequence[float]) -> Baumgarte:
    """The gains, also of a pair of numbers (α, β); ShapeError unless both are finite and 0 or more."""
    return given if isinstance(given, Baumgarte) else Baumgarte(*checked_vector("baumgarte", given, 2).tolist())


class ConstrainedEquations(NamedTuple):
    """M a = force + Jᵀ λ, J a + drift = 0.

    Args:
        M: (nv, nv) mass matrix.
        force: (nv,) tau - h, and what acts from outside.
        J: (m, nv).
        drift: (m,).
    """

    M: Array
    force: Array
    J: Array
    drift: Array


@dataclass(frozen=True)
class ConstrainedMotion:
    """Accelerations and constraint forces of a constrained robot.

    Args:
        a: (nv,) accelerations [rad/s²] or [m/s²].
        constraint_force: (nv,) Jᵀ λ, what the constraints do to the joints [N m] or [N]; always unique.
        multipliers: (m,) λ on the second frames in the axes of the first ones; the least of all where not unique.
        rank: Rank of J: the number of independent rows.
        redundant: Names of rows that depend on those before them.
        residual: Largest entry of |J a + drift|; above rounding only where constraints contradict each other.
        rows: Names of the rows.
    """

    a: NDArray[np.float64]
    constraint_force: NDArray[np.float64]
    multipliers: NDArray[np.float64]
    rank: int
    redundant: tuple[str, ...]
    residual: float
    rows: tuple[str, ...]


def constrained_equations(
    tree: Tree,
    constraints: Constraints,
    q: Array,
    v: Array,
    tau: Array,
    external: Array | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> ConstrainedEquations:
    """The equations of a state.

    Args:
        tree: The tree.
        constraints: The active constraints.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
        baumgarte: Gains that pull the state back.
    """
    h = rnea(tree, q, v, np.zeros(len(tree.armature)), external)
    J = constraints.jacobian(tree, q)
    return ConstrainedEquations(crba(tree, q), tau - h, J, drift_of(tree, constraints, J, q, v, baumgarte))


def drift_of(tree: Tree, constraints: Constraints, J: Array, q: Array, v: Array, baumgarte: Baumgarte) -> Array:
    """J̇ v + 2 α J v + β² r (m,).

    Args:
        tree: The tree.
        constraints: The active constraints.
        J: (m, nv) its Jacobian.
        q: (nq,) configuration.
        v: (nv,) velocity.
        baumgarte: Gains; terms whose gain is 0 cost nothing.
    """
    drift = constraints.bias(tree, q, v)
    if baumgarte.alpha:
        drift = drift + 2.0 * baumgarte.alpha * (J @ v)
    if baumgarte.beta:
        drift = drift + baumgarte.beta**2 * constraints.residual(tree, q)
    return drift
