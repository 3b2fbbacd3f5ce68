"""Forward kinematics: where the bodies are.

T_world_i = T_world_p(i) T_p(i)_i(q_i)        [kin.fk]   Buschmann 2014, Alg. 2
"""

from __future__ import annotations

import numpy as np

from surefoot.kinematics.recursion import Body, Fields, Recursion, Step, Sweep, joint_placement, run
from surefoot.ops import Array
from surefoot.robot import Tree


def body_placements(tree: Tree, q: Array) -> list[tuple[Array, Array]]:
    """R_world_body (3, 3) and the origin in world (3,), m, of every body, in the order of the tree.

    Args:
        tree: The tree.
        q: (nq,) configuration.
    """
    fields, _ = run(PLACEMENTS, tree, {"q": q})
    return [(body["R"], body["p"]) for body in fields[: tree.n]]


def place(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    """Outward step: the body's "R" and "p" in the world."""
    R, p = joint_placement(body, joint["q"])
    return Step({"R": parent["R"] @ R, "p": parent["p"] + parent["R"] @ p})


def _place_in_parent(body: Body, joint: Fields, own: Fields, parent: Fields) -> Step:
    R, p = joint_placement(body, joint["q"])
    return Step({"R": R, "p": p})


def still_world(gravity: Array) -> Fields:
    """The world as the place from which bodies are seen."""
    return {"R": np.eye(3), "p": np.zeros(3)}


PLACEMENTS = Recursion((Sweep("outward", place),), still_world)
"""Every body in the world."""
JOINT_PLACEMENTS = Recursion((Sweep("outward", _place_in_parent),), still_world)
"""Every body in its parent."""
