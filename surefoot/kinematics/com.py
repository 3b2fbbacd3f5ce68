"""The centre of mass: position, velocity, Jacobian and bias, from the first moments of the subtrees.

Inwards, in body axes: h_i = ∫ r dm over the subtree of body i about its origin, over the mass of all, and μ_i the
subtree's share of the mass,

    y_i = R h_i + μ_i p        what the subtree adds to its parent's moment        [kin.com]
    y_i' = R u,                u = h' + ω × h + μ v_rel                             [kin.com-velocity]
    y_i" = R (h" + ω × (h' + u)) for a = 0                                          [kin.com-bias]

with (v_rel, ω) = S v the joint's twist in body axes, where S is constant; h is constant but for what hangs on joints.
The world's moment is the centre of mass. Its Jacobian has the columns R_world_i (μ_i S_v + S_ω × h_i)
[kin.com-jacobian], the augmented-body form of Σ m_i J_i / m (Nenchev & Konno 2019, section 2.11.4).
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.errors import ModelError
from surefoot.kinematics.fk import place, still_world
from surefoot.kinematics.recursion import (
    Body,
    Fields,
    Recursion,
    Step,
    Sweep,
    bodies,
    dof_rows,
    joint_placement,
    joint_subspace,
    run,
)
from surefoot.ops import Array
from surefoot.robot import Tree


def total_mass(tree: Tree) -> Any:
    """Mass of all bodies [kg], summed as the recursions sum it: children into parents."""
    inwards = ops.zeros(tree.n + 1, like=tree.masses)
    for i in reversed(range(tree.n)):
        inwards[tree.parents[i]] += inwards[i] + tree.masses[i]
    return inwards[-1] if ops.is_symbolic(inwards) else float(inwards[-1])


def com(tree: Tree, q: Array) -> Array:
    """Centre of mass in world (3,), m.   [kin.com].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields, _ = run(moments(tree), tree, {"q": q})
    return fields[-1]["moment"]


def com_velocity(tree: Tree, q: Array, v: Array) -> Array:
    """Velocity of the centre of mass in world (3,), m/s.   [kin.com-velocity].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(moments(tree), tree, {"q": q, "v": v})
    return fields[-1]["rate"]


def com_bias(tree: Tree, q: Array, v: Array) -> Array:
    """dJ/dt v (3,), m/s²: acceleration of the centre of mass at a = 0, in world.   [kin.com-bias].

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    fields, _ = run(moments(tree), tree, {"q": q, "v": v})
    return fields[-1]["bias"]


def com_jacobian(tree: Tree, q: Array) -> Array:
    """J (3, nv) with J v the velocity of the centre of mass, in world.   [kin.com-jacobian].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    seen = Recursion((Sweep("outward", place), *moments(tree).sweeps), still_world)
    fields, _ = run(seen, tree, {"q": q})
    J = ops.zeros((3, len(tree.armature)), like=q)
    for i, body in enumerate(bodies(tree)):
        rows, own = dof_rows(tree, i), fields[i]
        J[:, rows] = J[:, rows] + own["R"] @ _pushes(body, own)
    return J


def _pushes(body: Body, own: Fields) -> Array:
    """How unit rates of the joint move the subtree's moment, in body axes (3, nv of the joint)."""
    S = joint_subspace(body)
    swings = ops.stack([ops.cross(axis, own["moment"]) for axis in S[3:].T], axis=1)
    return own["share"] * S[:3] + swings


def moments(tree: Tree) -> Recursion:
    """First moments inwards; the world's "moment", "rate" and "bias" are position, velocity and bias of the CoM.

    Raises:
        ModelError: It has no mass.
    """
    mass = total_mass(tree)
    if isinstance(mass, float) and not mass > 0.0:
        raise ModelError("a robot without mass has no centre of mass", evidence={"mass": mass})
    return Recursion((Sweep("inward", partial(_gather, mass)),), lambda gravity: {})


def _gather(whole: Any, body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Inward step: what the subtree adds to its parent's moment, and to its rates where there is a velocity.

    Args:
        whole: Mass of all bodies [kg].
        body: The body.
        joint: Its coordinates.
        own: Its fields: the sums over its children.
        parent: Not read.
    """
    none = np.zeros(3)
    mass = body.mass + own.get("mass", 0.0)
    moment = body.moment / whole + own.get("moment", none)
    share, (R, p) = mass / whole, joint_placement(body, joint["q"])
    found = {"mass": mass, "moment": R @ moment + share * p}
    if "v" in joint:
        twist = joint_subspace(body) @ joint["v"]
        inner, bias = own.get("rate", none), own.get("bias", none)
        rate = inner + ops.cross(twist[3:], moment) + share * twist[:3]
        found |= {"rate": R @ rate, "bias": R @ (bias + ops.cross(twist[3:], inner + rate))}
    return Step(own={"mass": mass, "share": share, "moment": moment}, parent=found)
