"""Derivatives of inverse and forward dynamics, by recursion.

    ∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M        [dyn.rnea-derivatives]   Singh, Russell & Wensing 2022; Carpentier & Mansard 2018
    ∂a/∂q = -M⁻¹ ∂τ/∂q,  ∂a/∂v = -M⁻¹ ∂τ/∂v,  ∂a/∂τ = M⁻¹        [dyn.aba-derivatives]   Carpentier & Mansard 2018

Derivatives by q are taken in the tangent space: the columns of a free, spherical or planar joint are for small motions
in the axes of its body. All is done in body frames, where the motions of a joint are constants (see
`derivatives_columns` for the equations): outwards for velocities and accelerations, inwards for the moments of what a
joint carries, and every column inwards through the ancestors of its joint.
"""

from __future__ import annotations

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
    return _by_position(moving, pushed), _by_velocity(moving), _mass_matrix(moving)


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
    factors = factor(tree, _mass_matrix(moving))
    at_rest = _pushed(moving, np.zeros(len(tree.armature)), external)
    pushed = _pushed(moving, solve(factors, tau - _joint_forces(moving, at_rest)), external)

    lower = inverse_of_lower(factors)
    scaled = lower * -factors.reciprocals
    da_dq = scaled @ (lower.T @ _by_position(moving, pushed, still_roots=True))
    da_dv = scaled @ (lower.T @ _by_velocity(moving, still_roots=True))
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
        parts: Its joints.
        momenta: For every body, ∂F/∂a (6, m) of its joint and of all joints beyond, in its frame.
        couples: The couples u (3, m) likewise.
    """

    tree: Tree
    parts: list[Part]
    momenta: list[Array]
    couples: list[Array]

    @property
    def joints(self) -> list[PlacedJoint]:
        return [part.joint for part in self.parts]


class _Pushed(NamedTuple):
    """Accelerations of all bodies, and the wrenches for what moves as seen from them and from their parents."""

    accelerations: list[Acceleration]
    wrenches: list[tuple[Array, Array]]


def _moving(tree: Tree, q: Array, v: Array) -> _Moving:
    placed = joints(tree, lean_bodies(tree), q)
    moving = velocities(tree, placed, v)
    carried = carried_moments(tree, placed, moving)
    parts = [Part.of(*known) for known in zip(placed, moving, carried, strict=True)]
    return _Moving(
        tree,
        parts,
        gathered(tree, placed, [momenta(part) for part in parts], wrench_in_parent),
        gathered(tree, placed, [couples(part) for part in parts], PlacedJoint.to_parent),
    )


def _pushed(moving: _Moving, a: Array, external: Array | None) -> _Pushed:
    """The tree at q, v and a."""
    tree, parts = moving.tree, moving.parts
    velocity, carried = [part.velocity for part in parts], [part.carried for part in parts]
    pushed = accelerations(tree, moving.joints, velocity, a)
    loads = (
        [np.zeros(6)] * tree.n
        if external is None
        else [part.joint.lean.wrench(load) for part, load in zip(parts, external, strict=True)]
    )
    return _Pushed(pushed, carried_wrenches(tree, moving.joints, velocity, pushed, carried, loads))


def _mass_matrix(moving: _Moving) -> Array:
    rows = [joint.S.T @ momenta for joint, momenta in zip(moving.joints, moving.momenta, strict=True)]
    return symmetric_pair_matrix(moving.tree, rows) + np.diag(moving.tree.armature)


def _joint_forces(moving: _Moving, pushed: _Pushed) -> Array:
    """τ (nv,) without what the armature takes."""
    forces = []
    for part, acceleration, (own, _) in zip(moving.parts, *pushed, strict=True):
        forces.append(part.joint.S.T @ accelerated_wrench(part.velocity, acceleration, part.carried, own))
    return joint_space(moving.tree, forces)


def _by_position(moving: _Moving, pushed: _Pushed, *, still_roots: bool = False) -> Array:
    """∂τ/∂q (nv, nv); without the drifts of free roots on request.   [dyn.columns], [dyn.drifts]."""
    tree, parts, placed = moving.tree, moving.parts, moving.joints
    own = [position_wrenches(part, a, w) for part, a, w in zip(parts, *pushed, strict=True)]
    wrenches = gathered(tree, placed, own, wrench_in_parent)
    above = [joint.S.T @ columns for joint, columns in zip(placed, wrenches, strict=True)]
    below, still = [], _free_roots(tree) if still_roots else []
    for i, part in enumerate(parts):
        angular = velocity_drifts(part)[0]
        drift = position_drifts(part, pushed.accelerations[i])
        if i in still:
            drift = np.zeros(drift.shape)
        below.append(moving.couples[i].T @ angular + moving.momenta[i].T @ drift)
    return pair_matrix(tree, above, below)


def _by_velocity(moving: _Moving, *, still_roots: bool = False) -> Array:
    """∂τ/∂v (nv, nv); without the drifts of free roots on request.   [dyn.columns], [dyn.drifts]."""
    tree, parts, placed = moving.tree, moving.parts, moving.joints
    wrenches = gathered(tree, placed, [velocity_wrenches(part) for part in parts], wrench_in_parent)
    above = [joint.S.T @ columns for joint, columns in zip(placed, wrenches, strict=True)]
    below, still = [], _free_roots(tree) if still_roots else []
    for i, part in enumerate(parts):
        drift = velocity_drifts(part)[1]
        if i in still:
            drift = np.zeros(drift.shape)
        below.append(moving.couples[i].T @ part.joint.S[3:] + moving.momenta[i].T @ drift)
    return pair_matrix(tree, above, below)


def _free_roots(tree: Tree) -> list[int]:
    return [i for i, kind in enumerate(tree.kinds) if kind == "free" and tree.parents[i] < 0]
