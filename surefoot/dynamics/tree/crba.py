"""The mass matrix by composite bodies, O(n d) for a tree of depth d.

    M_ij = S_jᵀ F,  F = I^c_i S_i walked from body i to its ancestor j        [dyn.crba]   Walker & Orin 1982, method 3;
    Featherstone 2008, section 6.2; Buschmann 2014, section 3.2

I^c_i is the inertia of all that joint i carries, rigidly joined: a mass, a first moment and an inertia about the origin
of body i. Entries of degrees of freedom that are not ancestors of each other are exact zeros.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from surefoot import ops
from surefoot.dynamics.algebra import grouped_bodies, inertia_times, join, mirror, mounted_turn, own_inertia
from surefoot.kinematics.recursion import Body, Fields, Recursion, Step, Sweep, bodies, dof_rows, joint_subspace, run
from surefoot.ops import Array
from surefoot.robot import Tree


def crba(tree: Tree, q: Array) -> Array:
    """M(q) (nv, nv), kg m², kg m and kg; armature is on its diagonal.   [dyn.crba].

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields = composite_bodies(tree, q, grouped_bodies)
    M = ops.zeros((len(tree.armature),) * 2, like=q)
    for i, body in enumerate(bodies(tree)):
        rows, S = dof_rows(tree, i), joint_subspace(body)
        F = inertia_times(fields[i], S)
        M[rows, rows] = M[rows, rows] + mirror(S.T @ F)
        for j, walked in _walk_inwards(tree, fields, i, F):
            _add(M, rows, dof_rows(tree, j), walked.T @ joint_subspace(bodies(tree)[j]))
    return M + np.diag(tree.armature)


def composite_bodies(
    tree: Tree, q: Array, constants: Callable[[Tree], Sequence[Body]] = bodies
) -> list[dict[str, Array]]:
    """All that each joint carries, rigidly joined: "mass", "moment" (3,), "inertia" (6,), as fields of the bodies.

    About the origin of the body and in its axes; the inertia as upper entries. The last item is the world's: the whole
    robot about the world's origin, in its axes.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        constants: Gives the bodies; `grouped_bodies` serves for what does not ask which body has an inertia.
    """
    fields, _ = run(COMPOSITE, tree, {"q": q}, constants=constants)
    return fields


def _walk_inwards(tree: Tree, fields: list[dict[str, Array]], i: int, F: Array) -> Iterator[tuple[int, Array]]:
    """Every ancestor of body i, with the wrenches F (6, k) on body i as the ancestor sees them."""
    for j in tree.ancestors(i):
        turn, mount, p = fields[i]["turn"], fields[i]["mount"], fields[i]["p"]
        force, moment = mount @ (turn @ F[:3]), mount @ (turn @ F[3:])
        F = ops.concatenate([force, moment + ops.stack([ops.cross(p, f) for f in force.T], axis=1)])
        i = j
        yield j, F


def _place(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Where the body is in its parent; its own inertia."""
    mount, turn, p = mounted_turn(body, joint["q"])
    return Step({"mount": mount, "turn": turn, "p": p, **own_inertia(body)})


def _join(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Join the composite body rigidly to the parent."""
    return Step(parent=join(own, own["p"]))


COMPOSITE = Recursion((Sweep("outward", _place), Sweep("inward", _join)), lambda gravity: {})


def _add(M: Array, rows: slice, columns: slice, block: Array) -> None:
    """Add a block and its mirror image (a follower may share its rows with an ancestor)."""
    M[rows, columns] = M[rows, columns] + block
    M[columns, rows] = M[columns, rows] + block.T
