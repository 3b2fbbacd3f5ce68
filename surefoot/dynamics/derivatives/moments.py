"""Moments of the masses that a joint carries, and of their velocities: what derivatives of the dynamics are made of.

With x = (r, 1) the position of a mass point in the frame of a body, and its velocity r' *as seen from that body*:

    K = ∫ x xᵀ dm (4, 4),  Q = ∫ 2 r' xᵀ dm (3, 4)        [dyn.moments]   K: Wensing, Kim & Slotine 2018

K holds the second moments, the first moment and the mass; Q twice the rates of them that the joints beyond the body
cause. A motion (λ, σ) moves points by N x, N = [σ~ | λ]. Its moments N K are turned into a force and a moment by
∫ (f, r × f) dm of the field f = N x: the wrench of a matrix ∫ f xᵀ dm. Inwards, both are taken to the parent and
summed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import mirror, packed, rotate, rotate_symmetric, unpacked
from surefoot.dynamics.derivatives.motion import Acceleration, PlacedJoint, Velocity
from surefoot.kinematics.recursion import PerBody
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew


@dataclass(frozen=True, eq=False)
class Carried:
    """Moments of a subtree.

    Args:
        K: (4, 4) ∫ x xᵀ dm, in the frame of its root body.
        Q: (3, 4) ∫ 2 r' xᵀ dm with velocities as seen from the root body.
        Q_from_parent: (3, 4) the same with velocities as seen from the parent of the root body.
        Q_between: (3, 4) the mean of both.
    """

    K: Array
    Q: Array
    Q_from_parent: Array
    Q_between: Array


def field(motion: Array) -> Array:
    """N = [σ~ | λ] (3, 4): a motion (λ, σ) (6,) moves the point r by N (r, 1)."""
    return ops.concatenate([skew(motion[3:]), motion[:3].reshape(3, 1)], axis=1)


def wrench_of(moments: Array) -> Array:
    """Force and moment (6,) of a field of forces f, from ∫ f xᵀ dm (3, 4)."""
    return ops.concatenate([moments[:, 3], moment_of(moments)])


def moment_of(moments: Array) -> Array:
    """∫ r × f dm (3,), from ∫ f rᵀ dm in the first three columns."""
    m = moments
    return ops.array([m[2, 1] - m[1, 2], m[0, 2] - m[2, 0], m[1, 0] - m[0, 1]])


def turning_moment(W: Array, second: Array) -> Array:
    """∫ r × W r dm (3,), from W (3, 3) and the second moments (3, 3).   [dyn.newton-euler]."""
    return ops.array([_about(W, second, i, (i + 1) % 3, (i + 2) % 3) for i in range(3)])


def _about(W: Array, s: Array, i: int, j: int, k: int) -> Array:
    straight = W[k, j] * s[j, j] - W[j, k] * s[k, k]
    return straight + W[k, i] * s[i, j] - W[j, i] * s[i, k] + (W[k, k] - W[j, j]) * s[j, k]


def carried_moments(tree: Tree, placed: Sequence[PlacedJoint], moving: Sequence[Velocity]) -> Sequence[Carried]:
    """What every joint carries, inwards.

    Q gains N K twice on the way through a joint that moves by N, once for the points and once for their velocities.
    """

    def carried(i: int) -> Carried:
        K, Q = placed[i].lean.moments, np.zeros((3, 4))
        for child in reversed(tree.children(i)):
            K = K + _second_in_parent(placed[child], out[child].K)
            Q = Q + _rates_in_parent(placed[child], out[child].Q_from_parent)
        stirred = field(moving[i].relative) @ K
        between = Q + stirred
        return Carried(K, Q, between + stirred, between)

    out: Sequence[Carried] = PerBody(tree.n, carried, outward=False)
    return out


def _second_in_parent(joint: PlacedJoint, K: Array) -> Array:
    """T K Tᵀ (4, 4), T the placement of the body in its parent: Steiner's theorem for second moments."""
    second, first, mass = packed(K[:3, :3]), joint.to_parent(K[:3, 3]), K[3, 3]
    for R in (joint.turn, joint.mount):
        second = rotate_symmetric(R, second)
    half = np.outer(first + (0.5 * mass) * joint.p, joint.p)
    out = ops.zeros((4, 4), like=[K, joint.turn, joint.p])
    out[:3, :3] = mirror(unpacked(second) + (half + half.T))
    out[:3, 3] = out[3, :3] = first + mass * joint.p
    out[3, 3] = mass
    return out


def _rates_in_parent(joint: PlacedJoint, Q: Array) -> Array:
    """R Q Tᵀ (3, 4)."""
    momentum = joint.to_parent(Q[:, 3])
    second = rotate(joint.mount, rotate(joint.turn, Q[:, :3]))
    return ops.concatenate([second + np.outer(momentum, joint.p), momentum.reshape(3, 1)], axis=1)


def carried_wrenches(
    tree: Tree,
    placed: Sequence[PlacedJoint],
    moving: Sequence[Velocity],
    pushed: Sequence[Acceleration],
    carried: Sequence[Carried],
    external: Sequence[Array],
) -> Sequence[tuple[Array, Array]]:
    """Wrenches (6,) for the acceleration as seen from the body, and from its parent, less external ones; inwards.

    Of a point x that moves in a body, which moves by N (rate N') in its parent: x'' + 2 N x' + (N N + N') x.
    """

    def wrenches(i: int) -> tuple[Array, Array]:
        own = -external[i]
        for child in reversed(tree.children(i)):
            own = own + wrench_in_parent(placed[child], out[child][1])
        driven = wrench_of(field(pushed[i].relative) @ carried[i].K)
        stirred = wrench_of(skew(moving[i].relative[3:]) @ carried[i].Q_between)
        return own, own + driven + stirred

    out: Sequence[tuple[Array, Array]] = PerBody(tree.n, wrenches, outward=False)
    return out


def wrench_in_parent(joint: PlacedJoint, wrenches: Array) -> Array:
    """Wrenches (6,) or (6, m) on the body, in the parent."""
    force = joint.to_parent(wrenches[:3])
    return ops.concatenate([force, joint.to_parent(wrenches[3:]) + skew(joint.p) @ force])


def accelerated_wrench(velocity: Velocity, acceleration: Acceleration, carried: Carried, seen: Array) -> Array:
    """The wrench (6,) that joint and parent exert on what the joint carries.

    Args:
        velocity: Of the body.
        acceleration: Of the body.
        carried: Moments of what the joint carries.
        seen: Wrench (6,) for the acceleration as seen from the body.
    """
    K, a = carried.K, acceleration.linear
    first = K[:3, 3]
    force = acceleration.W @ first + K[3, 3] * a
    moment = turning_moment(acceleration.W, K[:3, :3]) + ops.cross(first, a)
    coriolis = wrench_of(skew(velocity.omega) @ carried.Q)
    return ops.concatenate([force, moment]) + coriolis + seen
