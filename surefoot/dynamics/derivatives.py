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

from surefoot.dynamics.cholesky import factor, inverse, inverse_of_lower, solve
from surefoot.dynamics.derivatives_assembly import gathered, joint_space, pair_matrix, symmetric_pair_matrix
from surefoot.dynamics.derivatives_columns import (
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
    parts = _by_position(moving, pushed), _by_velocity(moving), _mass_rows(moving)
    _limb_by_limb(tree, *parts[0], *parts[1], parts[2])
    return pair_matrix(tree, *parts[0]), pair_matrix(tree, *parts[1]), _mass_matrix(tree, parts[2])


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
    mass_rows = _mass_rows(moving)
    _limb_by_limb(tree, mass_rows)
    factors = factor(tree, _mass_matrix(tree, mass_rows))
    at_rest = _pushed(moving, np.zeros(len(tree.armature)), external)
    pushed = _pushed(moving, solve(factors, tau - _joint_forces(moving, at_rest)), external)

    lower = inverse_of_lower(factors)
    scaled = lower * -factors.reciprocals
    by_position, by_velocity = _by_position(moving, pushed, still_roots=True), _by_velocity(moving, still_roots=True)
    _limb_by_limb(tree, *by_position, *by_velocity)
    da_dq = scaled @ (lower.T @ pair_matrix(tree, *by_position))
    da_dv = scaled @ (lower.T @ pair_matrix(tree, *by_velocity))
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
        parts: The same, with what they carry.
        momenta: For every body, ∂F/∂a (6, m) of its joint and of all joints beyond, in its frame.
        couples: The couples u (3, m) likewise.
    """

    tree: Tree
    joints: Sequence[PlacedJoint]
    parts: Sequence[Part]
    momenta: Sequence[Array]
    couples: Sequence[Array]


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
        parts,
        gathered(tree, placed, PerBody(tree.n, lambda i: momenta(parts[i])), wrench_in_parent),
        gathered(tree, placed, PerBody(tree.n, lambda i: couples(parts[i])), PlacedJoint.to_parent),
    )


def _limb_by_limb(tree: Tree, *sequences: Sequence[Array]) -> None:
    """Ask for all entries of all sequences, from the tips inwards."""
    for i in reversed(range(tree.n)):
        for sequence in sequences:
            sequence[i]


def _pushed(moving: _Moving, a: Array, external: Array | None) -> _Pushed:
    """The tree at q, v and a."""
    tree, parts = moving.tree, moving.parts
    velocity, carried = PerBody(tree.n, lambda i: parts[i].velocity), PerBody(tree.n, lambda i: parts[i].carried)
    pushed = accelerations(tree, moving.joints, velocity, a)
    loads: Sequence[Array] = [np.zeros(6)] * tree.n
    if external is not None:
        loads = PerBody(tree.n, lambda i: moving.joints[i].lean.wrench(external[i]))
    return _Pushed(pushed, carried_wrenches(tree, moving.joints, velocity, pushed, carried, loads))


def _mass_rows(moving: _Moving) -> Sequence[Array]:
    """Rows of every joint in the mass matrix, of itself and of all joints beyond it."""
    return PerBody(moving.tree.n, lambda i: moving.joints[i].S.T @ moving.momenta[i])


def _mass_matrix(tree: Tree, rows: Sequence[Array]) -> Array:
    return symmetric_pair_matrix(tree, rows) + np.diag(tree.armature)


def _joint_forces(moving: _Moving, pushed: _Pushed) -> Array:
    """τ (nv,) without what the armature takes."""
    forces = []
    for part, acceleration, (own, _) in zip(moving.parts, *pushed, strict=True):
        forces.append(part.joint.S.T @ accelerated_wrench(part.velocity, acceleration, part.carried, own))
    return joint_space(moving.tree, forces)


Pairs = tuple[Sequence[Array], Sequence[Array]]


def _by_position(moving: _Moving, pushed: _Pushed, *, still_roots: bool = False) -> Pairs:
    """∂τ/∂q, for `pair_matrix`; without the drifts of free roots on request.   [dyn.columns], [dyn.drifts]."""
    tree, parts, placed = moving.tree, moving.parts, moving.joints
    still = _free_roots(tree) if still_roots else []

    def own(i: int) -> Array:
        return position_wrenches(parts[i], pushed.accelerations[i], pushed.wrenches[i])

    def below(i: int) -> Array:
        drift = position_drifts(parts[i], pushed.accelerations[i])
        if i in still:
            drift = np.zeros(drift.shape)
        return moving.couples[i].T @ velocity_drifts(parts[i])[0] + moving.momenta[i].T @ drift

    wrenches = gathered(tree, placed, PerBody(tree.n, own), wrench_in_parent)
    return PerBody(tree.n, lambda i: placed[i].S.T @ wrenches[i]), PerBody(tree.n, below)


def _by_velocity(moving: _Moving, *, still_roots: bool = False) -> Pairs:
    """∂τ/∂v, for `pair_matrix`; without the drifts of free roots on request.   [dyn.columns], [dyn.drifts]."""
    tree, parts, placed = moving.tree, moving.parts, moving.joints
    still = _free_roots(tree) if still_roots else []

    def below(i: int) -> Array:
        drift = velocity_drifts(parts[i])[1]
        if i in still:
            drift = np.zeros(drift.shape)
        return moving.couples[i].T @ parts[i].joint.S[3:] + moving.momenta[i].T @ drift

    wrenches = gathered(tree, placed, PerBody(tree.n, lambda i: velocity_wrenches(parts[i])), wrench_in_parent)
    return PerBody(tree.n, lambda i: placed[i].S.T @ wrenches[i]), PerBody(tree.n, below)


def _free_roots(tree: Tree) -> list[int]:
    return [i for i, kind in enumerate(tree.kinds) if kind == "free" and tree.parents[i] < 0]
