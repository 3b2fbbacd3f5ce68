"""The mass matrix by composite bodies, O(n d) for a tree of depth d.

    M_ij = S_jᵀ F,  F = I^c_i S_i walked from body i to its ancestor j        [dyn.crba]   Walker & Orin 1982, method 3;
    Featherstone 2008, section 6.2; Buschmann 2014, section 3.2

I^c_i is the inertia of all that joint i carries, rigidly joined: a mass, a first moment and an inertia about the origin
of body i. Entries of degrees of freedom that are not ancestors of each other are exact zeros.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.dynamics.block_inertia import mirrored, mounted_turn, packed, rotated_symmetric, unpacked
from surefoot.kinematics.bodies import Body, bodies, joint_subspace
from surefoot.kinematics.recursion import Fields, Recursion, Step, Sweep, dof_rows, run
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["COMPOSITE", "composite_bodies", "inertia_times", "joined", "mass_matrix", "own_inertia"]


def mass_matrix(tree: Tree, q: Array) -> Array:
    """M(q) (nv, nv), kg m², kg m and kg; armature is on its diagonal.   [dyn.crba].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields = composite_bodies(tree, q)
    M = ops.zeros((len(tree.armature),) * 2, like=q)
    for i, body in enumerate(bodies(tree)):
        rows, S = dof_rows(tree, i), joint_subspace(body)
        F = inertia_times(fields[i], S)
        M[rows, rows] = M[rows, rows] + mirrored(S.T @ F)
        for j, walked in _walk_inwards(tree, fields, i, F):
            _add(M, rows, dof_rows(tree, j), walked.T @ joint_subspace(bodies(tree)[j]))
    return M + np.diag(tree.armature)


def composite_bodies(tree: Tree, q: Array) -> list[dict[str, Array]]:
    """All that each joint carries, rigidly joined: "mass", "moment" (3,), "inertia" (6,), as fields of the bodies.

    About the origin of the body and in its axes; the inertia as upper entries. The last item is the world's: the whole
    robot about the world's origin, in its axes.

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields, _ = run(COMPOSITE, tree, {"q": q})
    return fields


def inertia_times(composite: Fields, S: Array) -> Array:
    """Momenta (6, k) about the origin for unit rates along the columns of S (6, k): (m v + ω × h, h × v + I ω).

    Args:
        composite: "mass", "moment" and "inertia", as of `composite_bodies`.
        S: Twists (6, k).
    """
    mass, moment, inertia = composite["mass"], composite["moment"], unpacked(composite["inertia"])
    linear = [mass * twist[:3] + ops.cross(twist[3:], moment) for twist in S.T]
    angular = [ops.cross(moment, twist[:3]) + inertia @ twist[3:] for twist in S.T]
    return ops.concatenate([ops.stack(linear, axis=1), ops.stack(angular, axis=1)])


def _walk_inwards(tree: Tree, fields: list[dict[str, Array]], i: int, F: Array) -> Iterator[tuple[int, Array]]:
    """Every ancestor of body i, with the wrenches F (6, k) on body i as the ancestor sees them."""
    for j in tree.ancestors(i):
        turn, mount, p = fields[i]["turn"], fields[i]["mount"], fields[i]["p"]
        force, moment = mount @ (turn @ F[:3]), mount @ (turn @ F[3:])
        F = ops.concatenate([force, moment + ops.stack([ops.cross(p, f) for f in force.T], axis=1)])
        i = j
        yield j, F


def own_inertia(body: Body) -> dict[str, Any]:
    """The body alone as a composite: "mass", "moment" (3,), "inertia" (6,)."""
    return {"mass": body.mass, "moment": body.moment, "inertia": packed(body.inertia)}


def _place(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Where the body is in its parent; its own inertia."""
    mount, turn, p = mounted_turn(body, joint["q"])
    return Step({"mount": mount, "turn": turn, "p": p, **own_inertia(body)})


def _join(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Join the composite body rigidly to the parent."""
    return Step(parent=joined(own, own["p"]))


def joined(own: Fields, p: Array) -> dict[str, Array]:
    """A composite body in the axes of the parent, about another point: "mass", "moment" (3,), "inertia" (6,).

    h' = R h + m p,  I' = R I Rᵀ + 2 (p · k) E - p kᵀ - k pᵀ,  k = R h + ½ m p        [dyn.composite]   Steiner

    Args:
        own: The fields of the body, as of `composite_bodies`.
        p: Its origin seen from the new reference point (3,), m, in the axes of the parent.
    """
    mass, moment, inertia = own["mass"], own["moment"], own["inertia"]
    for R in (own["turn"], own["mount"]):
        moment, inertia = R @ moment, rotated_symmetric(R, inertia)
    k = moment + (0.5 * mass) * p
    twice = (2.0 * p) * k
    steiner = [
        twice[1] + twice[2], -(p[0] * k[1] + p[1] * k[0]), -(p[0] * k[2] + p[2] * k[0]),
        twice[0] + twice[2], -(p[1] * k[2] + p[2] * k[1]), twice[0] + twice[1],
    ]  # fmt: skip
    return {"mass": mass, "moment": moment + mass * p, "inertia": inertia + ops.array(steiner)}


def _nothing(gravity: Array) -> Fields:
    """A world without mass."""
    return {}


COMPOSITE = Recursion((Sweep("outward", _place), Sweep("inward", _join)), _nothing)


def _add(M: Array, rows: slice, columns: slice, block: Array) -> None:
    """Add a block and its mirror image (a follower may share its rows with an ancestor)."""
    M[rows, columns] = M[rows, columns] + block
    M[columns, rows] = M[columns, rows] + block.T
