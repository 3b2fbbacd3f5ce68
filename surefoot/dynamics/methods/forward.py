"""Constrained forward dynamics for kernels: multipliers first, through the sparse factors of the mass matrix.

    A = J M⁻¹ Jᵀ,    A λ = -drift - J M⁻¹ force,    a = M⁻¹ (force + Jᵀ λ)        [dyn.range_space]
    Nenchev & Konno 2019, section 4.12 (errata: (4.170)–(4.176) have J̇ q̇ where J q̇ is printed)

With M = Lᵀ D L only U = L⁻ᵀ Jᵀ is needed: A = Uᵀ D⁻¹ U. U has entries only for joints that move a constraint, so that
most of it is exact zeros. Rows of J that depend on those before them leave no pivot in A; their multiplier is 0, and
what the others do is not changed.

Contacts are held to the world at *anchors*, which are arguments, so that one kernel serves for every foothold.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import Factors, factor, solve_first_half, solve_second_half
from surefoot.dynamics.constraints import Baumgarte, ConstraintPart, Constraints, Tie, tilt_of
from surefoot.dynamics.tree import crba, rnea
from surefoot.kinematics import relative_jacobian
from surefoot.kinematics.frames import WORLD, relative_bias, relative_placement
from surefoot.ops import Array
from surefoot.robot import Tree

_TINY = 1e-300
_LOST = 1e-11  # share of a diagonal entry of A that is left of it where a row depends on others


def constrained_forward(
    tree: Tree,
    constraints: Constraints,
    q: Array,
    v: Array,
    tau: Array,
    anchors: Array | None = None,
    baumgarte: Baumgarte = Baumgarte(),  # noqa: B008 - frozen
) -> tuple[Array, Array]:
    """Accelerations (nv,) and multipliers (m,).

    Args:
        tree: The tree.
        constraints: The active constraints.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        anchors: (contacts, 3, 4) placements in world of the ends of contacts; those of the constraints if omitted.
        baumgarte: Gains that pull the state back.
    """
    J, drift = anchored(tree, constraints, q, v, anchors, baumgarte)
    held = Held.of(factor(tree, crba(tree, q)), J)
    return held.solve(tau - rnea(tree, q, v, np.zeros(len(tree.armature))), drift)


class Held(NamedTuple):
    """M and J in factors: what solves M a = force + Jᵀ λ, J a + drift = 0.

    Args:
        factors: Of M.
        U: (nv, m) L⁻ᵀ Jᵀ.
        scaled: (m, nv) Uᵀ D⁻¹.
        A: (m, m) J M⁻¹ Jᵀ.
    """

    factors: Factors
    U: Array
    scaled: Array
    A: Array

    @classmethod
    def of(cls, factors: Factors, J: Array) -> Held:
        """From the factors of M, and J (m, nv)."""
        U = solve_first_half(factors, J.T)
        scaled = U.T * factors.reciprocals
        return cls(factors, U, scaled, scaled @ U)

    def solve(self, force: Array, drift: Array) -> tuple[Array, Array]:
        """Accelerations (nv, …) and multipliers (m, …) of forces (nv, …) and drifts (m, …)."""
        half = solve_first_half(self.factors, force)
        multipliers = solve_semidefinite(self.A, -drift - self.scaled @ half)
        return solve_second_half(self.factors, half + self.U @ multipliers), multipliers


def anchored(
    tree: Tree, constraints: Constraints, q: Array, v: Array, anchors: Array | None, baumgarte: Baumgarte
) -> tuple[Array, Array]:
    """J (m, nv) and the drift (m,), with contacts at the anchors.

    Args:
        tree: The tree.
        constraints: The active constraints.
        q: (nq,) configuration.
        v: (nv,) velocity.
        anchors: (contacts, 3, 4); None for those of the constraints.
        baumgarte: Gains that pull the state back.
    """
    anchors = anchor_values(constraints) if anchors is None else anchors
    places = iter(anchors)
    ends = [next(places) if isinstance(part, Tie) and part.is_contact else None for part in constraints.parts]
    rows = [_part(tree, part, q, v, end, baumgarte) for part, end in zip(constraints.parts, ends, strict=True)]
    if not rows:
        return np.zeros((0, len(tree.armature))), np.zeros(0)
    return ops.concatenate([J for J, _ in rows]), ops.concatenate([drift for _, drift in rows])


def anchor_values(constraints: Constraints) -> Array:
    """(contacts, 3, 4) where the contacts among the constraints hold the robot, in world."""
    ends = [part.first for part in constraints.parts if isinstance(part, Tie) and part.is_contact]
    return np.array([np.column_stack([end.R, end.p]) for end in ends]).reshape(-1, 3, 4)


def solve_semidefinite(A: Array, right: Array) -> Array:
    """Solve A x = right (n,) or (n, k), A symmetric and positive semidefinite, by its factors L D Lᵀ.

    Rows that depend on those before them get x = 0; the solution is exact where the right side does not contradict
    that. There are no branches, so that it can be traced.
    """
    n = len(right)
    L, x, inverse = ops.zeros((n, n), like=[A]) + A, ops.zeros(np.shape(right), like=[A, right]) + right, []
    for k in range(n):
        least = ops.maximum(_LOST * A[k, k], _TINY)
        inverse.append(ops.where(ops.less(least, L[k, k]), 1.0 / ops.maximum(L[k, k], least), 0.0))
        for i in range(k + 1, n):
            column, L[i, k] = L[i, k], L[i, k] * inverse[k]
            for j in range(k + 1, i):
                L[i, j] = L[i, j] - L[j, k] * column
            L[i, i] = L[i, i] - L[i, k] * column
            x[i] = x[i] - L[i, k] * x[k]
    for k in reversed(range(n)):
        x[k] = x[k] * inverse[k]
        if k + 1 < n:
            x[k] = x[k] - L[k + 1 :, k] @ x[k + 1 :]
    return x


def _part(
    tree: Tree, part: ConstraintPart, q: Array, v: Array, anchor: Array | None, gains: Baumgarte
) -> tuple[Array, Array]:
    """J (rows, nv) and drift (rows,) of one part."""
    if anchor is None or not isinstance(part, Tie):
        J, bias = part.jacobian(tree, q), part.bias(tree, q, v)
    else:
        J = _turned_back(anchor, relative_jacobian(tree, WORLD, part.second, q))[list(part.held)]
        bias = _turned_back(anchor, relative_bias(tree, WORLD, part.second, q, v))[list(part.held)]
    if gains.alpha:
        bias = bias + 2.0 * gains.alpha * (J @ v)
    if gains.beta:
        bias = bias + gains.beta**2 * _residual(tree, part, q, anchor)
    return J, bias


def _turned_back(anchor: Array, twists: Array) -> Array:
    """Twists (6, …) in the axes of the anchor."""
    R = anchor[:, :3]
    return ops.concatenate([R.T @ twists[:3], R.T @ twists[3:]])


def _residual(tree: Tree, part: ConstraintPart, q: Array, anchor: Array | None) -> Array:
    if anchor is None or not isinstance(part, Tie):
        return part.residual(tree, q)
    T, R = relative_placement(tree, WORLD, part.second, q), anchor[:, :3]
    return ops.concatenate([R.T @ (T[:3, 3] - anchor[:, 3]), tilt_of(R.T @ T[:3, :3], part.held)])[list(part.held)]
