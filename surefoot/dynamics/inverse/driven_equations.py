"""The equations of a constrained robot of which only some joints are driven.

    M a + h = Sᵀ tau + Jᵀ λ,    J a + drift = 0        [dyn.driven]

S picks the driven degrees of freedom, P the others, the passive ones (Koch, section 5.2). λ acts on the robot
(errata of Nenchev & Konno 2019: their λ of section 4.12 is the opposite, their F̄ᶜ is this one).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.dynamics.algebra import rank_of, size_of
from surefoot.dynamics.checked_arguments import checked_configuration, checked_vector
from surefoot.dynamics.constraints import Baumgarte, Constraints, checked_gains, drift_of
from surefoot.dynamics.tree import crba, nonlinear_effects, require_invertible
from surefoot.ops import Array
from surefoot.robot import Robot, Tree


class DrivenEquations(NamedTuple):
    """M a + h = Sᵀ tau + Jᵀ λ, J a + drift = 0.

    Args:
        M: (nv, nv) mass matrix.
        h: (nv,) velocity and gravity terms.
        J: (m, nv).
        drift: (m,).
        driven: (nu,) degrees of freedom that S picks, in the order of tau.
    """

    M: Array
    h: Array
    J: Array
    drift: Array
    driven: NDArray[np.int64]

    @property
    def passive(self) -> NDArray[np.int64]:
        """Degrees of freedom that no drive acts on, ascending: those that P picks."""
        return np.setdiff1d(np.arange(len(self.h)), self.driven)

    def forces(self, tau: Array) -> Array:
        """Sᵀ tau (nv,).

        Args:
            tau: (nu,) forces of the drives, N m or N.
        """
        return np.eye(len(self.h))[:, self.driven] @ tau


class Actuation(NamedTuple):
    """Whether the constraints leave no motion to joints that are not driven.

    Args:
        rank: Rank of J Pᵀ.
        passive: Number of passive degrees of freedom, nv - nu.
    """

    rank: int
    passive: int

    @property
    def full(self) -> bool:
        """Whether driven accelerations determine all others: rank(J Pᵀ) = nv - nu."""
        return self.rank == self.passive


def driven_equations(
    tree: Tree,
    constraints: Constraints,
    driven: ArrayLike,
    q: Array,
    v: Array,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> DrivenEquations:
    """The equations of a state; also for symbols.

    Args:
        tree: The tree.
        constraints: The active constraints.
        driven: (nu,) driven degrees of freedom.
        q: (nq,) configuration.
        v: (nv,) velocity.
        baumgarte: Gains that pull the state back.
    """
    J = constraints.jacobian(tree, q)
    drift = drift_of(tree, constraints, J, q, v, baumgarte)
    return DrivenEquations(crba(tree, q), nonlinear_effects(tree, q, v), J, drift, np.asarray(driven, dtype=np.int64))


def checked_equations(
    robot: Robot, q: ArrayLike, v: ArrayLike, constraints: Constraints, baumgarte: Baumgarte
) -> DrivenEquations:
    """The equations of a robot whose drives are its own, from checked arguments; refused where M is singular."""
    require_invertible(robot.tree)
    state = checked_configuration(robot, q), checked_vector("v", v, robot.nv)
    return driven_equations(robot.tree, constraints, robot.driven, *state, checked_gains(baumgarte))


def actuation(J: ArrayLike, driven: ArrayLike) -> Actuation:
    """Whether a constrained robot is fully actuated: rank(J Pᵀ) = nv - nu (numbers).

    [dyn.full-actuation]   Koch, definition 16, (5.17a)

    Args:
        J: (m, nv) constraints.
        driven: (nu,) driven degrees of freedom.
    """
    J = np.asarray(J, dtype=float)
    passive = np.setdiff1d(np.arange(J.shape[1]), np.asarray(driven, dtype=np.int64))
    return Actuation(rank_of(J[:, passive], size_of(J)), len(passive))
