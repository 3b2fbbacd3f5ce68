"""Derivatives of inverse and forward dynamics, by recursion.

    ∂τ/∂q, ∂τ/∂v, ∂τ/∂a = M        [dyn.rnea-derivatives]   Singh, Russell & Wensing 2022; Carpentier & Mansard 2018
    ∂a/∂q = -M⁻¹ ∂τ/∂q,  ∂a/∂v = -M⁻¹ ∂τ/∂v,  ∂a/∂τ = M⁻¹        [dyn.aba-derivatives]   Carpentier & Mansard 2018

Derivatives by q are taken in the tangent space: the columns of a free, spherical or planar joint are for small motions
in the axes of its body. All is done in body frames, where the motions of a joint are constants (see `columns` for the
equations): outwards for velocities and accelerations, inwards for the moments of what a joint carries, and every column
inwards through the ancestors of its joint. A subtree is contiguous in the tree, so the columns of all that a body
carries lie side by side. Joints that copy another (`mimic="reduce"`) first get rows and columns of their own, which are
then added to those of the leading joint.

Change of the wrenches that a joint transmits when it moves: the columns of derivatives.

Joint j moves what it carries along its motions S_j = (λ, σ), which are fixed in the body. The moved masses ride along
with the body (ω, W = α~ + ω~ ω~, acceleration a of its origin), so that the wrench F that they need changes by

    ∂F/∂a_j = wrench(N K)                                                                        N = [σ~ | λ]
    ∂F/∂v_j = wrench(2 ω~ N K + σ~ Q)
    ∂F/∂q_j = wrench([W | a] δK + ω~ δQ) + S_j ×* F_own,  δK = N K + K Nᵀ,  δQ = σ~ Q + Q Nᵀ        [dyn.columns]

with the moments K, Q of `moments`, and F_own the wrench for the motion as seen from the body. A joint with
several degrees of freedom, whose motions do not commute, is seen from its parent in place of the body. These are the
terms of Singh, Russell & Wensing 2022 (IDSVA) in body frames: there ∂F/∂v is 2 B^C S + I^C (Ψ̇ + Ṡ), and with the
moments P = ∫ r' rᵀ dm the only blocks of B^C are -p~ (p the momentum) and tr(P) E - P; linear velocities cancel. For
the joints j beyond i, which joint i moves all alike,

    ∂τ_j/∂q_i = u_j · Ψ̇_i + f_j · Ψ̈_i,  ∂τ_j/∂v_i = u_j · S_i + f_j · (Ψ̇_i + Ṡ_i)        [dyn.drifts]   ibid.

with f_j = ∂F/∂a_j, the couple u_j = 2 ∫ r' × N x dm = 2 (B^C)ᵀ S_j, and the drifts Ψ̇ = V_p × S, Ψ̈ = A_p × S + V_p × Ψ̇,
Ṡ = V_i × S, of motions S_i that the parent p carries along.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, overload

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import factor, inverse, inverse_of_lower, mirror, solve
from surefoot.dynamics.derivatives.frames import lean_bodies
from surefoot.dynamics.derivatives.moments import (
    Carried,
    accelerated_wrench,
    carried_moments,
    carried_wrenches,
    field,
    moment_of,
    turning_moment,
    wrench_in_parent,
    wrench_of,
)
from surefoot.dynamics.derivatives.motion import Acceleration, PlacedJoint, Velocity, accelerations, joints, velocities
from surefoot.dynamics.tree import require_invertible
from surefoot.kinematics.recursion import PerBody, acceleration_matrix, dof_rows
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.robot.model import NV
from surefoot.spatial import twist, wrench
from surefoot.spatial.so3 import skew


class _Columns(Sequence[Array]):
    """For every body, the columns (r, m) of its joint and of all joints beyond it, in its frame."""

    def __init__(
        self,
        tree: Tree,
        placed: Sequence[PlacedJoint],
        own: Sequence[Array],
        to_parent: Callable[[PlacedJoint, Array], Array],
    ) -> None:
        self._tree, self._placed, self._own, self._to_parent = tree, placed, own, to_parent
        self._known: list[dict[int, Array]] = [{} for _ in range(tree.n)]

    def __len__(self) -> int:
        return self._tree.n

    def walk(self, j: int) -> None:
        """Take the columns of joint j to all bodies that carry it."""
        columns = self._known[j][j] = self._own[j]
        for i in self._tree.ancestors(j):
            columns = self._known[i][j] = self._to_parent(self._placed[self._child(i, j)], columns)

    def _child(self, i: int, j: int) -> int:
        """The child of body i on the way to body j."""
        while (parent := int(self._tree.parents[j])) != i:
            j = parent
        return j

    @overload
    def __getitem__(self, i: int) -> Array: ...
    @overload
    def __getitem__(self, i: slice) -> Sequence[Array]: ...
    def __getitem__(self, i: int | slice) -> Array | Sequence[Array]:
        if isinstance(i, slice):
            return [self[k] for k in range(*i.indices(len(self)))]
        return ops.concatenate([self._known[i][j] for j in sorted(self._known[i])], axis=1)


def _starts(tree: Tree) -> list[int]:
    """First row of every joint where followers have rows of their own, and the number of all."""
    return [0, *(int(end) for end in np.cumsum([NV[kind] for kind in tree.kinds]))]


def _by_leaders(tree: Tree, full: Array) -> Array:
    """Rows and columns of followers added to those of their leaders: (nv, nv)."""
    if not (tree.mimic_source >= 0).any():
        return full
    rows = np.concatenate([np.arange(*dof_rows(tree, i).indices(len(tree.armature))) for i in range(tree.n)])
    out = ops.zeros((len(tree.armature),) * 2, like=full)
    for i, row in zip(rows, full, strict=True):
        for j, entry in zip(rows, row, strict=True):
            out[i, j] = out[i, j] + entry
    return out


def rnea_derivatives(
    tree: Tree, q: Array, v: Array, a: Array, external: Array | None = None
) -> tuple[Array, Array, Array]:
    """∂τ/∂q, ∂τ/∂v and M = ∂τ/∂a (nv, nv) of the joint forces that give the accelerations a.   [dyn.rnea-derivatives].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        external: (n, 6) wrench on every body, about its origin, in its axes, where it stays constant; none if omitted.
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
    its drifts (see `columns`) are accelerations that this joint itself can make up for: they are taken off
    before, and their opposite is the answer.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        tau: (nv,) joint forces, N m or N.
        external: (n, 6) wrench on every body, about its origin, in its axes, where it stays constant; none if omitted.

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
    """A tree at q, v: joints, their velocities, what they carry; for every body, ∂F/∂a (6, m) and couples (3, m)."""

    tree: Tree
    joints: Sequence[PlacedJoint]
    movers: Sequence[MovingJoint]
    parts: Sequence[Part]
    momenta: _Columns
    couples: _Columns


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
        _Columns(tree, placed, PerBody(tree.n, lambda i: momenta(parts[i])), wrench_in_parent),
        _Columns(tree, placed, PerBody(tree.n, lambda i: couples(parts[i])), PlacedJoint.to_parent),
    )


class _Derivative(NamedTuple):
    """∂τ/∂x: the columns ∂F/∂x (6, k) of the joints, and what their own motion adds beyond them.

    `turning(i)` (3, k) goes with the couples, `drift(i)` (6, k) with the momenta of all that joint i carries.
    """

    columns: _Columns
    turning: Sequence[Array]
    drift: Sequence[Array]


def _limb_by_limb(tree: Tree, *carried: _Columns, by: Sequence[_Derivative] = ()) -> None:
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
    starts = _starts(tree)
    out = ops.zeros((starts[-1], starts[-1]), like=[*above, *below])
    for i, (rows, columns) in enumerate(zip(above, below, strict=True)):
        start, own = starts[i], len(rows)
        end, skipped = start + rows.shape[1], 0 if own == 1 else own
        out[start:end, start : start + own] = columns
        out[start : start + own, start + skipped : end] = rows[:, skipped:]
    return _by_leaders(tree, out)


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
    tree = moving.tree
    above, starts = [moving.joints[i].S.T @ moving.momenta[i] for i in range(tree.n)], _starts(tree)
    out = ops.zeros((starts[-1], starts[-1]), like=above)
    for start, rows in zip(starts, above, strict=False):
        own, end = slice(start, start + len(rows)), start + rows.shape[1]
        out[start:end, own] = rows.T
        out[own, start:end] = rows
        out[own, own] = mirror(rows[:, : len(rows)])
    return _by_leaders(tree, out) + np.diag(tree.armature)


def _joint_forces(moving: _Moving, pushed: _Pushed) -> Array:
    """τ (nv,) without what the armature takes."""
    forces = []
    for part, acceleration, (own, _) in zip(moving.parts, *pushed, strict=True):
        forces.append(part.joint.S.T @ accelerated_wrench(part.velocity, acceleration, part.carried, own))
    out = ops.zeros(len(moving.tree.armature), like=forces)
    for i, entries in enumerate(forces):
        out[dof_rows(moving.tree, i)] = out[dof_rows(moving.tree, i)] + entries
    return out


def _by_position(moving: _Moving, pushed: _Pushed, *, still_roots: bool = False) -> _Derivative:
    """∂τ/∂q; without the drifts of free roots on request."""
    tree, parts = moving.tree, moving.parts
    still = _free_roots(tree) if still_roots else []

    def wrenches(i: int) -> Array:
        return position_wrenches(parts[i], pushed.accelerations[i], pushed.wrenches[i])

    def drift(i: int) -> Array:
        found = position_drifts(moving.movers[i], pushed.accelerations[i])
        return np.zeros(found.shape) if i in still else found

    columns = _Columns(tree, moving.joints, PerBody(tree.n, wrenches), wrench_in_parent)
    return _Derivative(columns, PerBody(tree.n, lambda i: velocity_drifts(moving.movers[i])[0]), PerBody(tree.n, drift))


def _by_velocity(moving: _Moving, *, still_roots: bool = False) -> _Derivative:
    """∂τ/∂v; without the drifts of free roots on request."""
    tree, parts = moving.tree, moving.parts
    still = _free_roots(tree) if still_roots else []

    def drift(i: int) -> Array:
        found = velocity_drifts(moving.movers[i])[1]
        return np.zeros(found.shape) if i in still else found

    columns = _Columns(tree, moving.joints, PerBody(tree.n, lambda i: velocity_wrenches(parts[i])), wrench_in_parent)
    return _Derivative(columns, PerBody(tree.n, lambda i: moving.joints[i].S[3:]), PerBody(tree.n, drift))


def _applied(second: Array, first: Array, matrix: Array) -> Array:
    """Second @ first @ matrix; symbols column by column, so that compiled code has the two factors in the cache."""
    if not ops.is_symbolic(matrix):
        return second @ (first @ matrix)
    return ops.stack([second @ (first @ column) for column in matrix.T], axis=1)


def _free_roots(tree: Tree) -> list[int]:
    return [i for i, kind in enumerate(tree.kinds) if kind == "free" and tree.parents[i] < 0]


@dataclass(frozen=True, eq=False)
class MovingJoint:
    """A joint, and the velocity of its body."""

    joint: PlacedJoint
    velocity: Velocity

    @property
    def single(self) -> bool:
        """Whether the joint has one degree of freedom."""
        return self.joint.S.shape[1] == 1

    @property
    def seen_from(self) -> tuple[Array, Array]:
        """ω (3,) and twice the twist (6,) of what it is seen from: its body, or the parent in the axes of the body."""
        if self.single:
            return self.velocity.omega, self.velocity.twice
        return self.velocity.carried_omega, self.velocity.carried_twice


@dataclass(frozen=True, eq=False)
class Part(MovingJoint):
    """A joint, the velocity of its body, what it carries, and N K (3, 4) for each of its motions."""

    carried: Carried
    moved: tuple[Array, ...]

    @classmethod
    def of(cls, joint: PlacedJoint, velocity: Velocity, carried: Carried) -> Part:
        """A joint, its body's velocity, and what it carries."""
        return cls(joint, velocity, carried, tuple(field(S) @ carried.K for S in joint.S.T))


class _View(NamedTuple):
    """The frame from which a joint is seen: its body, or the parent in the axes of the body."""

    omega: Array
    twice: Array
    Q: Array


def _view(part: Part) -> _View:
    return _View(*part.seen_from, part.carried.Q if part.single else part.carried.Q_from_parent)


def momenta(part: Part) -> Array:
    """∂F/∂a (6, k): the momentum of what the joint carries, at unit rates.   [dyn.columns]."""
    return ops.stack([wrench_of(moved) for moved in part.moved], axis=1)


def velocity_wrenches(part: Part) -> Array:
    """∂F/∂v (6, k).   [dyn.columns]."""
    view, K = _view(part), part.carried.K
    omega = view.twice[3:]
    reached = K[:3, :3] @ omega
    columns = []
    for S, moved in zip(part.joint.S.T, part.moved, strict=True):
        slide, spin = S[:3], S[3:]
        force = ops.cross(omega, moved[:, 3])
        moment = ops.cross(reached, spin) + ops.cross(K[:3, 3], ops.cross(omega, slide))
        column = ops.concatenate([force, moment]) + wrench_of(skew(spin) @ view.Q)
        if not part.single:
            column = column + wrench_of(field(twist.cross(part.velocity.relative, S)) @ K)
        columns.append(column)
    return ops.stack(columns, axis=1)


def couples(part: Part) -> Array:
    """U (3, k) = 2 ∫ r' × N x dm, with velocities r' in space.   [dyn.drifts]."""
    K, Q = part.carried.K, part.carried.Q
    linear, omega, first = part.velocity.twice[:3], part.velocity.twice[3:], K[:3, 3]
    momentum = K[3, 3] * linear + ops.cross(omega, first) + Q[:, 3]
    columns = []
    for S in part.joint.S.T:
        slide, spin = S[:3], S[3:]
        rigid = ops.cross(linear, ops.cross(spin, first)) + K[:3, :3] @ ops.cross(omega, spin)
        columns.append(rigid + moment_of(skew(spin) @ Q[:, :3].T) + ops.cross(momentum, slide))
    return ops.stack(columns, axis=1)


def position_wrenches(part: Part, acceleration: Acceleration, wrenches: tuple[Array, Array]) -> Array:
    """∂F/∂q (6, k), from the wrenches F_own (6,) as seen from the body and from its parent.   [dyn.columns]."""
    omega, _, Q = _view(part)
    W, a = _accelerated(part, acceleration)
    own = wrenches[0] if part.single else wrenches[1]
    columns = []
    for S, moved in zip(part.joint.S.T, part.moved, strict=True):
        slide, spin, first = S[:3], S[3:], moved[:, 3]
        turned = skew(spin) @ Q[:, :3] - Q[:, :3] @ skew(spin) + np.outer(Q[:, 3], slide)
        force = W @ first + ops.cross(omega, ops.cross(spin, Q[:, 3]))
        second = mirror(moved[:, :3] + moved[:, :3].T)
        moment = turning_moment(W, second) + ops.cross(first, a) + omega * (Q[:, 3] @ slide) - turned @ omega
        columns.append(ops.concatenate([force, moment]) + wrench.cross(S, own))
    return ops.stack(columns, axis=1)


def _accelerated(part: MovingJoint, acceleration: Acceleration) -> tuple[Array, Array]:
    """W (3, 3) and the acceleration of the origin (3,) of what the joint is seen from."""
    if part.single:
        return acceleration.W, acceleration.linear
    W = acceleration_matrix(part.velocity.carried_omega, acceleration.carried_alpha)
    return W, acceleration.carried


def velocity_drifts(part: MovingJoint) -> tuple[Array, Array]:
    """Ψ̇_ω (3, k), the angular part of Ψ̇, and Ψ̇ + Ṡ (6, k).   [dyn.drifts]."""
    omega, twice = part.seen_from
    # Ṡ is Ψ̇ with V_p + S v in place of V_p, and motions of a single axis commute
    sums = twice if part.single else twice + part.velocity.relative
    motions = part.joint.S.T
    angular = ops.stack([ops.cross(omega, S[3:]) for S in motions], axis=1)
    return angular, ops.stack([twist.cross(sums, S) for S in motions], axis=1)


def position_drifts(part: MovingJoint, acceleration: Acceleration) -> Array:
    """Ψ̈ (6, k); with classical accelerations (W λ + a × σ + 2 v × (ω × σ), W σ).   [dyn.drifts]."""
    omega, twice = part.seen_from
    W, a = _accelerated(part, acceleration)
    columns = []
    for S in part.joint.S.T:
        slide, spin = S[:3], S[3:]
        linear = W @ slide + ops.cross(a, spin) + ops.cross(twice[:3], ops.cross(omega, spin))
        columns.append(ops.concatenate([linear, W @ spin]))
    return ops.stack(columns, axis=1)
