"""Multipliers through runs of the O(n) recursion; the mass matrix is never built.

    (J M⁻¹ Jᵀ) λ = -(drift + J a_free),    M⁻¹ f: one run of `aba` without gravity and velocity        [dyn.m-plus-two]

Rows that depend on others are omitted, and the others made orthonormal, Jᵀ λ = Qᵀ μ, so that the unknowns μ are well
conditioned.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache
from math import sqrt

import numpy as np

from surefoot.arrays import Array
from surefoot.dynamics.algebra import RowBasis
from surefoot.dynamics.tree import forward_dynamics
from surefoot.errors import ModelError
from surefoot.robot import Tree

_CONVERGED = 1e-15  # residual, as a share of the right side
_ENOUGH = 1e-10
_LOST = 1e-8  # of a residual: a smaller part across all directions so far is rounding
_MORE = 3  # iterations, beyond one for each row


@dataclass(frozen=True, eq=False)
class HeldState:
    """A state, the forces that act, and the constraints.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes; or None.
        basis: Basis of the rows of J.
        drift: (m,).
    """

    tree: Tree
    q: Array
    v: Array
    tau: Array
    external: Array | None
    basis: RowBasis
    drift: Array

    def accelerated(self, mu: Array) -> Array:
        """Accelerations (nv,) under forces μ (rank,) along the held directions: one run."""
        return forward_dynamics(self.tree, self.q, self.v, self.tau + self.basis.Q.T @ mu, self.external)

    def response(self, mu: Array) -> Array:
        """Accelerations along the held directions under forces μ along them, Q M⁻¹ Qᵀ μ (rank,): one run."""
        force = self.basis.Q.T @ mu
        return self.basis.Q @ forward_dynamics(_weightless(self.tree), self.q, np.zeros_like(self.v), force)


def by_recursion(state: HeldState) -> tuple[Array, Array]:
    """Accelerations and multipliers by m + 2 runs: one free, one for each independent row, and one with all forces.

    Gattringer 2006, named in Buschmann 2014, section 3.4.2. Joints that copy others (`mimic="reduce"`) have no O(n)
    recursion; each of their runs builds and factors the mass matrix.
    """
    rank = state.basis.rank
    right = -state.basis.along(state.drift) - state.basis.Q @ state.accelerated(np.zeros(rank))
    responses = np.array([state.response(unit) for unit in np.eye(rank)]).reshape(rank, rank)
    mu = np.linalg.solve(0.5 * (responses + responses.T), right)
    return state.accelerated(mu), state.basis.multipliers(mu)


def by_iteration(state: HeldState) -> tuple[Array, Array]:
    """Accelerations and multipliers by iteration, one run for each step.

    Förg 2007, named in Buschmann 2014, section 3.4.2, iterates on λ with O(n) runs; here by conjugate gradients
    (Hestenes & Stiefel 1952) with residuals kept orthogonal, so that as many steps as rows suffice. Where few
    directions matter, it stops earlier.

    Raises:
        ModelError: The iteration does not converge.
    """
    free = state.accelerated(np.zeros(state.basis.rank))
    right = -state.basis.along(state.drift) - state.basis.Q @ free
    mu = _conjugate_gradients(state.response, right)
    return state.accelerated(mu), state.basis.multipliers(mu)


def _conjugate_gradients(apply: Callable[[Array], Array], right: Array) -> Array:
    """X in A x = right, with A symmetric and positive definite."""
    x, residual = np.zeros_like(right), right
    size = float(np.linalg.norm(right))
    directions: list[tuple[Array, Array]] = []
    for steps in range(len(right) + _MORE):  # noqa: B007 (for the message)
        if np.linalg.norm(residual) <= _CONVERGED * size:
            break
        step = residual
        for _ in range(2):
            for direction, image in directions:
                step = step - (image @ step) * direction
        if not np.linalg.norm(step) > _LOST * np.linalg.norm(residual):
            step, directions = residual, []  # they span all that is left, which is rounding: refine it afresh
        image = apply(step)
        curvature = float(step @ image)
        if not curvature > 0.0:
            break
        length = sqrt(curvature)
        directions.append((step / length, image / length))
        along = directions[-1][0] @ residual
        x, residual = x + along * directions[-1][0], residual - along * directions[-1][1]
    if not np.linalg.norm(residual) <= _ENOUGH * size:
        raise ModelError(
            "the multipliers do not converge",
            evidence={"residual left": float(np.linalg.norm(residual) / size), "steps": steps},
            next_step='use method="lagrange"',
        )
    return x


@lru_cache(maxsize=32)
def _weightless(tree: Tree) -> Tree:
    """The same tree without gravity."""
    return replace(tree, gravity=np.zeros(3))
