"""How the bodies of a tree move, outwards: the first part of the derivatives of its dynamics.

The classical acceleration of the origins is carried, and W = α~ + ω~ ω~ (see `kinematics.motion`), so that all that
depends on accelerations does without linear velocities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import mounted_turn
from surefoot.dynamics.derivatives.frames import LeanBody, joint_position
from surefoot.kinematics.recursion import PerBody, acceleration_matrix, dof_rows, joint_subspace
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial import twist


@dataclass(frozen=True, eq=False)
class PlacedJoint:
    """Where a joint has put its body, and the motions that it allows.

    Args:
        S: (6, k) motions of unit rates, in the body frame.
        turn: (3, 3) rotation by the joint.
        mount: (3, 3) constant rotation; R_parent_body = mount @ turn.
        p: (3,) origin of the body in the parent [m].
        lean: Constants of the body.
    """

    S: Array
    turn: Array
    mount: Array
    p: Array
    lean: LeanBody

    def to_parent(self, vectors: Array) -> Array:
        """Free vectors (3,) or (3, m) of the body, in the axes of the parent."""
        return self.mount @ (self.turn @ vectors)

    def to_body(self, vectors: Array) -> Array:
        """Free vectors (3,) or (3, m) of the parent, in the axes of the body."""
        return self.turn.T @ (self.mount.T @ vectors)


@dataclass(frozen=True, eq=False)
class Velocity:
    """Velocity of a body, in its axes.

    Args:
        relative: (6,) S v, the twist against the parent.
        carried_omega: (3,) the parent's angular velocity.
        carried_twice: (6,) twice the twist of the parent at the body's origin.
        omega: (3,) angular velocity.
        twice: (6,) twice the twist at its origin; what Coriolis forces need.
    """

    relative: Array
    carried_omega: Array
    carried_twice: Array
    omega: Array
    twice: Array


@dataclass(frozen=True, eq=False)
class Acceleration:
    """Acceleration of a body against free fall, in its axes.

    Args:
        relative: (6,) S a.
        carried_alpha: (3,) the parent's angular acceleration.
        carried: (3,) acceleration of the point of the parent at the body's origin.
        alpha: (3,) angular acceleration.
        linear: (3,) classical acceleration of the origin.
        W: (3, 3) α~ + ω~ ω~.
    """

    relative: Array
    carried_alpha: Array
    carried: Array
    alpha: Array
    linear: Array
    W: Array


def joints(tree: Tree, lean: Sequence[LeanBody], q: Array) -> Sequence[PlacedJoint]:
    """Every joint at a configuration q (nq,)."""

    def joint(i: int) -> PlacedJoint:
        mount, turn, p = mounted_turn(lean[i].body, joint_position(tree, i, lean[i], q))
        return PlacedJoint(joint_subspace(lean[i].body), turn, mount, p, lean[i])

    return PerBody(tree.n, joint)


def velocities(tree: Tree, placed: Sequence[PlacedJoint], v: Array) -> Sequence[Velocity]:
    """Every body at a velocity v (nv,).   [kin.twist]."""
    world = Velocity(np.zeros(6), np.zeros(3), np.zeros(6), np.zeros(3), np.zeros(6))

    def velocity(i: int) -> Velocity:
        joint = placed[i]
        parent = out[int(tree.parents[i])] if tree.parents[i] >= 0 else world
        relative = joint.S @ v[dof_rows(tree, i)]
        carried = joint.to_body(parent.omega)
        omega = carried + relative[3:]
        linear = joint.to_body(twist.point_velocity(parent.twice, joint.p))
        carried_twice = ops.concatenate([linear, 2.0 * carried])
        twice = ops.concatenate([linear + 2.0 * relative[:3], 2.0 * omega])
        return Velocity(relative, carried, carried_twice, omega, twice)

    out: Sequence[Velocity] = PerBody(tree.n, velocity)
    return out


def accelerations(
    tree: Tree, placed: Sequence[PlacedJoint], moving: Sequence[Velocity], a: Array
) -> Sequence[Acceleration]:
    """Every body at an acceleration a (nv,).   [kin.acceleration]."""
    rest = np.zeros(3)
    world = Acceleration(np.zeros(6), rest, rest, rest, -tree.gravity, np.zeros((3, 3)))

    def acceleration(i: int) -> Acceleration:
        joint, velocity = placed[i], moving[i]
        parent = out[int(tree.parents[i])] if tree.parents[i] >= 0 else world
        relative, push = velocity.relative, joint.S @ a[dof_rows(tree, i)]
        carried_alpha = joint.to_body(parent.alpha)
        carried = joint.to_body(parent.linear + parent.W @ joint.p)
        alpha = carried_alpha + ops.cross(velocity.carried_omega, relative[3:]) + push[3:]
        linear = carried + ops.cross(velocity.carried_omega + velocity.omega, relative[:3]) + push[:3]
        W = acceleration_matrix(velocity.omega, alpha)
        return Acceleration(push, carried_alpha, carried, alpha, linear, W)

    out: Sequence[Acceleration] = PerBody(tree.n, acceleration)
    return out
