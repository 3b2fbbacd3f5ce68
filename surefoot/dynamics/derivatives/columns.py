"""Change of the wrenches that a joint transmits when it moves: the columns of derivatives.

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

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import mirror
from surefoot.dynamics.derivatives.moments import Carried, field, moment_of, turning_moment, wrench_of
from surefoot.dynamics.derivatives.motion import Acceleration, PlacedJoint, Velocity
from surefoot.kinematics.recursion import acceleration_matrix
from surefoot.ops import Array
from surefoot.spatial import twist, wrench
from surefoot.spatial.so3 import skew


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
