"""Inverse dynamics by the recursive Newton-Euler algorithm, O(n).

    tau = M(q) a + h(q, v) - Σ J_iᵀ F_i        [dyn.rnea]   Luh, Walker & Paul 1980; Buschmann 2014, Alg. 3
    (erratum: (3.40) propagates projected forces and calls their projection the result; whole forces must be passed on)

Outwards: the motion of every body and the wrench that it takes, in body axes. The *classical* acceleration of the
origin is carried in place of the spatial one, so that linear velocities are not needed: with the matrix

    W = α~ + ω~ ω~        the acceleration of a body point r is a + W r
    f = m a + W h,  n = I α + ω × I ω + h × a        [dyn.newton-euler]   Buschmann 2014, section 3.1

where h = m c is the first moment and I the inertia about the origin. I α + ω × I ω = ∫ r × W r dm holds the entries of
W Σ - (W Σ)ᵀ, with the second moments Σ = ½ tr(I) E - I. Inwards: wrenches are summed from child to parent, and
projected on the joints.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import grouped_bodies
from surefoot.kinematics.recursion import (
    Body,
    Fields,
    Recursion,
    Step,
    Sweep,
    accelerate,
    joint_placement,
    joint_subspace,
    run,
    to_parent,
)
from surefoot.ops import Array
from surefoot.robot import Tree


def rnea(tree: Tree, q: Array, v: Array, a: Array, external: Array | None = None) -> Array:
    """Joint forces (nv,), N m or N, that give the accelerations a.   [dyn.rnea].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        a: (nv,) acceleration.
        external: (n, 6) wrench on every body, about its origin, in its axes; none if omitted.
    """
    inputs = {"q": q, "v": v, "a": a}
    if external is not None:
        inputs["external"] = external
    _, joints = run(RNEA, tree, inputs, constants=grouped_bodies)
    return joints["tau"] + tree.armature * a


def nonlinear_effects(tree: Tree, q: Array, v: Array) -> Array:
    """h(q, v) (nv,): Coriolis, centrifugal and gravity forces, N m or N.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    return rnea(tree, q, v, np.zeros(len(tree.armature)))


def generalized_gravity(tree: Tree, q: Array) -> Array:
    """g(q) (nv,): the joint forces that hold the robot still, N m or N.

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    rest = np.zeros(len(tree.armature))
    return rnea(tree, q, rest, rest)


def net_wrench(body: Body, W: Array, acceleration: Array) -> Array:
    """The wrench (6,) that moves a body like this, about its origin, in its axes.   [dyn.newton-euler].

    Args:
        body: The body.
        W: α~ + ω~ ω~ (3, 3), 1/s².
        acceleration: Classical acceleration of the origin (3,), m/s².
    """
    moment = ops.array([_turning_moment(body.inertia, W, i, (i + 1) % 3, (i + 2) % 3) for i in range(3)])
    force = body.mass * acceleration + W @ body.moment
    return ops.concatenate([force, moment + ops.cross(body.moment, acceleration)])


def _turning_moment(inertia: Array, W: Array, i: int, j: int, k: int) -> Any:
    """Component i of I α + ω × I ω: (W Σ)_kj - (W Σ)_jk, for a cyclic triple i, j, k."""
    if W[j, k] is W[k, j]:  # symmetric, because α is zero
        straight = (inertia[k, k] - inertia[j, j]) * W[j, k]
    else:
        second_j = 0.5 * (inertia[i, i] + inertia[k, k] - inertia[j, j])
        second_k = 0.5 * (inertia[i, i] + inertia[j, j] - inertia[k, k])
        straight = second_j * W[k, j] - second_k * W[j, k]
    mixed = inertia[i, k] * W[j, i] - inertia[i, j] * W[k, i]
    return straight + mixed + inertia[j, k] * (W[j, j] - W[k, k])


def _world(gravity: Array) -> Fields:
    """A world at rest; gravity as its upward acceleration."""
    return {"omega": np.zeros(3), "alpha": np.zeros(3), "W": np.zeros((3, 3)), "acceleration": -gravity}


def _outward(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Motion of the body, and the wrench that it takes."""
    R, p = joint_placement(body, joint["q"])
    motion = accelerate(body, joint, own, parent).own
    wrench = net_wrench(body, motion["W"], motion["acceleration"])
    if "external" in joint:
        wrench = wrench - joint["external"]
    return Step({"R": R, "p": p, "wrench": wrench, **motion})


def _inward(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Project the wrench on the joint and hand it on whole."""
    tau = joint_subspace(body).T @ own["wrench"]
    return Step(joint={"tau": tau}, parent={"wrench": to_parent(own["R"], own["p"], own["wrench"])})


RNEA = Recursion((Sweep("outward", _outward), Sweep("inward", _inward)), _world)
