"""Derivatives of inverse and forward dynamics, by recursion.

    ∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M        [dyn.rnea-derivatives]   Singh, Russell & Wensing 2022; Carpentier & Mansard 2018
    ∂a/∂q = -M⁻¹ ∂τ/∂q,  ∂a/∂v = -M⁻¹ ∂τ/∂v,  ∂a/∂τ = M⁻¹        [dyn.aba-derivatives]   Carpentier & Mansard 2018

Derivatives by q are taken in the tangent space: the columns of a free, spherical or planar joint are for small motions
in the axes of its body. All is done in body frames, where the motions of a joint are constants (see
`derivatives_columns` for the equations): outwards for velocities and accelerations, inwards for the moments of what a
joint carries, and every column inwards through the ancestors of its joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.cholesky import factor, inverse, inverse_of_lower, solve
from surefoot.dynamics.derivatives_assembly import Columns, joint_space, pair_matrix, symmetric_pair_matrix
from surefoot.dynamics.derivatives_columns import (
    MovingJoint,
    Part,
    couples,
    momenta,
    position_drifts,
    position_wrenches,
    velocity_drifts,
    velocity_wrenches,
)
from surefoot.dynamics.derivatives_frames import lean_bodies
from surefoot.dynamics.derivatives_moments import (
    accelerated_wrench,
    carried_moments,
    carried_wrenches,
    wrench_in_parent,
)
from surefoot.dynamics.derivatives_motion import Acceleration, PlacedJoint, accelerations, joints, velocities
from surefoot.dynamics.forward import require_invertible
from surefoot.kinematics.per_body import PerBody
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["aba_derivatives", "rnea_derivatives"]


def rnea_derivatives(
    tree: Tree, q: Array, v: Array, a: Array, external: Array | None = None
) -> tuple[Array, Array, Array]:
    """∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a (nv, nv) of the joint forces that give the accelerations a.   [dyn.rnea-derivatives].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        external: (n, 6) wrench on every body, about its origin, in its axes, where it stays constant; none if left out.
    """
    moving = _moving(tree, q, v)
    pushed = _pushed(moving, a, external)
    by_position, by_velocity = _by_position(moving, pushed), _by_velocity(moving)
    _limb_by_limb(tree, moving.momenta, moving.couples, by=(by_position, by_velocity))
    return _pair_matrix(moving, by_position), _pair_matrix(moving, by_velocity), _mass_matrix(moving)


def aba_derivatives(
    tree: Tree, q: Array, v: Array, tau: Array, external: Array | None = None
) -> tuple[Array, Array, Array]:
    """∂a/∂q, ∂a/∂v and M⁻¹ = ∂a/∂τ (nv, nv) of the accelerations a under joint forces.   [dyn.aba-derivatives].

    M⁻¹ = X D⁻¹ Xᵀ with X = L⁻¹, which is as sparse as the mass matrix. The columns of a free root need no solving where
    its drifts (see `derivatives_columns`) are accelerations that this joint itself can make up for: they are taken off
    before, and their opposite is the answer.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes, where it stays constant; none if left out.

    Raises:
        ModelError: The mass matrix of the robot is singular.
    """
    require_invertible(tree)
    moving = _moving(tree, q, v)
    _limb_by_limb(tree, moving.momenta)
    factors = factor(tree, _mass_matrix(moving))
    at_rest = _pushed(moving, np.zeros(len(tree.armature)), external)
    pushed = _pushed(moving, solve(factors, tau - _joint_forces(moving, at_rest)), external)

    lower = inverse_of_lower(factors)
    scaled = lower * -factors.reciprocals
    by_position, by_velocity = _by_position(moving, pushed, still_roots=True), _by_velocity(moving, still_roots=True)
    _limb_by_limb(tree, moving.couples, by=(by_position, by_velocity))
    da_dq, da_dv = (_applied(scaled, lower.T, _pair_matrix(moving, x)) for x in (by_position, by_velocity))
    for i in _free_roots(tree):
        rows, part = dof_rows(tree, i), moving.parts[i]
        da_dq[rows, rows] = da_dq[rows, rows] - position_drifts(part, pushed.accelerations[i])
        da_dv[rows, rows] = da_dv[rows, rows] - velocity_drifts(part)[1]
    return da_dq, da_dv, inverse(factors, lower)


@dataclass(frozen=True, eq=False)
class _Moving:
    """A tree at q, v.

    Args:
        tree: The tree.
        joints: Its joints.
        movers: The same, with the velocities of their bodies.
        parts: The same, with what they carry.
        momenta: For every body, ∂F/∂a (6, m) of its joint and of all joints beyond, in its frame.
        couples: The couples u (3, m) likewise.
    """

    tree: Tree
    joints: Sequence[PlacedJoint]
    movers: Sequence[MovingJoint]
    parts: Sequence[Part]
    momenta: Columns
    couples: Columns


class _Pushed(NamedTuple):
    """Accelerations of all bodies, and the wrenches for what moves as seen from them and from their parents."""

    accelerations: Sequence[Acceleration]
    wrenches: Sequence[tuple[Array, Array]]


def _moving(tree: Tree, q: Array, v: Array) -> _Moving:
    placed = joints(tree, lean_bodies(tree), q)
    moving = velocities(tree, placed, v)
    carried = carried_moments(tree, placed, moving)
    parts = PerBody(tree.n, lambda i: Part.of(placed[i], moving[i], carried[i]))
    return _Moving(
        tree,
        placed,
        PerBody(tree.n, lambda i: MovingJoint(placed[i], moving[i])),
        parts,
        Columns(tree, placed, PerBody(tree.n, lambda i: momenta(parts[i])), wrench_in_parent),
        Columns(tree, placed, PerBody(tree.n, lambda i: couples(parts[i])), PlacedJoint.to_parent),
    )


class _Derivative(NamedTuple):
    """∂τ/∂x: the columns ∂F/∂x (6, k) of the joints, and what their own motion adds beyond them.

    `turning(i)` (3, k) goes with the couples, `drift(i)` (6, k) with the momenta of all that joint i carries.
    """

    columns: Columns
    turning: Sequence[Array]
    drift: Sequence[Array]


def _limb_by_limb(tree: Tree, *carried: Columns, by: Sequence[_Derivative] = ()) -> None:
    """Joint by joint, from the tips inwards: the order in which compiled code keeps least in mind.

    What the ancestors of a joint bring comes first, so that products with its columns can be formed at once.
    """
    for j in reversed(range(tree.n)):
        for i in (*reversed(tree.ancestors(j)), j):
            for derivative in by:
                derivative.turning[i], derivative.drift[i]
        for columns in (*carried, *(derivative.columns for derivative in by)):
            columns.walk(j)


def _pair_matrix(moving: _Moving, derivative: _Derivative) -> Array:
    """∂τ/∂x (nv, nv).   [dyn.columns], [dyn.drifts]."""
    tree, turning, drift = moving.tree, derivative.turning, derivative.drift
    above = [moving.joints[i].S.T @ derivative.columns[i] for i in range(tree.n)]
    below = [moving.couples[i].T @ turning[i] + moving.momenta[i].T @ drift[i] for i in range(tree.n)]
    return pair_matrix(tree, above, below)


def _pushed(moving: _Moving, a: Array, external: Array | None) -> _Pushed:
    """The tree at q, v and a."""
    tree, parts = moving.tree, moving.parts
    velocity = PerBody(tree.n, lambda i: moving.movers[i].velocity)
    carried = PerBody(tree.n, lambda i: parts[i].carried, outward=False)
    pushed = accelerations(tree, moving.joints, velocity, a)
    loads: Sequence[Array] = [np.zeros(6)] * tree.n
    if external is not None:
        loads = PerBody(tree.n, lambda i: moving.joints[i].lean.wrench(external[i]))
    return _Pushed(pushed, carried_wrenches(tree, moving.joints, velocity, pushed, carried, loads))


def _mass_matrix(moving: _Moving) -> Array:
    rows = [moving.joints[i].S.T @ moving.momenta[i] for i in range(moving.tree.n)]
    return symmetric_pair_matrix(moving.tree, rows) + np.diag(moving.tree.armature)


def _joint_forces(moving: _Moving, pushed: _Pushed) -> Array:
    """τ (nv,) without what the armature takes."""
    forces = []
    for part, acceleration, (own, _) in zip(moving.parts, *pushed, strict=True):
        forces.append(part.joint.S.T @ accelerated_wrench(part.velocity, acceleration, part.carried, own))
    return joint_space(moving.tree, forces)


def _by_position(moving: _Moving, pushed: _Pushed, *, still_roots: bool = False) -> _Derivative:
    """∂τ/∂q; without the drifts of free roots on request."""
    tree, parts = moving.tree, moving.parts
    still = _free_roots(tree) if still_roots else []

    def wrenches(i: int) -> Array:
        return position_wrenches(parts[i], pushed.accelerations[i], pushed.wrenches[i])

    def drift(i: int) -> Array:
        found = position_drifts(moving.movers[i], pushed.accelerations[i])
        return np.zeros(found.shape) if i in still else found

    columns = Columns(tree, moving.joints, PerBody(tree.n, wrenches), wrench_in_parent)
    return _Derivative(columns, PerBody(tree.n, lambda i: velocity_drifts(moving.movers[i])[0]), PerBody(tree.n, drift))


def _by_velocity(moving: _Moving, *, still_roots: bool = False) -> _Derivative:
    """∂τ/∂v; without the drifts of free roots on request."""
    tree, parts = moving.tree, moving.parts
    still = _free_roots(tree) if still_roots else []

    def drift(i: int) -> Array:
        found = velocity_drifts(moving.movers[i])[1]
        return np.zeros(found.shape) if i in still else found

    columns = Columns(tree, moving.joints, PerBody(tree.n, lambda i: velocity_wrenches(parts[i])), wrench_in_parent)
    return _Derivative(columns, PerBody(tree.n, lambda i: moving.joints[i].S[3:]), PerBody(tree.n, drift))


def _applied(second: Array, first: Array, matrix: Array) -> Array:
    """Second @ first @ matrix; symbols column by column, so that compiled code has the two factors in the cache."""
    if not ops.is_symbolic(matrix):
        return second @ (first @ matrix)
    return ops.stack([second @ (first @ column) for column in matrix.T], axis=1)


def _free_roots(tree: Tree) -> list[int]:
    return [i for i, kind in enumerate(tree.kinds) if kind == "free" and tree.parents[i] < 0]
