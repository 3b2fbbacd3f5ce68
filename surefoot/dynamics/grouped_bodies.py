"""Bodies with as much of their inertia as possible given to their parents: the same dynamics with fewer constants.

Mass on the axis of a hinge moves with the parent as much as with the body; so do the mass at the centre of a ball
joint and the rotational inertia of what slides without turning. Joint forces, mass matrix, accelerations, and the
momentum and energy of the whole robot do not change if it is counted as the parent's ("grouped" or base parameters),
and the body is left with

    hinge:  m = 0,  h ⟂ e,  e · Σ e = 0        slider:  I = 0        ball:  m = 0        [dyn.grouping]
    Gautier & Khalil 1990, with the second moments Σ = ½ tr(I) E - I

whose exact zeros fold while tracing. Wrenches between bodies, and momentum and energy of single ones, do change: use
`surefoot.kinematics.bodies.bodies` where they matter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot.dynamics.block_inertia import joined, own_inertia, packed, unpacked
from surefoot.kinematics.bodies import Body, bodies
from surefoot.ops import Array
from surefoot.robot.tree import Tree

__all__ = ["grouped_bodies"]


@lru_cache(maxsize=64)
def grouped_bodies(tree: Tree) -> tuple[Body, ...]:
    """The bodies of a tree with grouped inertias; neither bodies nor inertias are physical.   [dyn.grouping]."""
    out = list(bodies(tree))
    for i in reversed(range(tree.n)):
        parent = int(tree.parents[i])
        if parent >= 0:
            out[i], given = _split(out[i])
            out[parent] = _with(out[parent], joined({**given, "turn": np.eye(3), "mount": out[i].R}, out[i].p))
    return tuple(out)


def _split(body: Body) -> tuple[Body, dict[str, Any]]:
    """The body without what its parent can have, and that part, in the axes of the joint and about its origin."""
    match body.kind:
        case "revolute" | "continuous":
            return _off_the_axis(body)
        case "prismatic" | "translation":
            given = {"mass": 0.0, "moment": np.zeros(3), "inertia": packed(body.inertia)}
            return replace(body, inertia=np.zeros((3, 3))), given
        case "spherical":
            return replace(body, mass=0.0), {"mass": body.mass, "moment": np.zeros(3), "inertia": np.zeros(6)}
        case _:
            return body, {"mass": 0.0, "moment": np.zeros(3), "inertia": np.zeros(6)}


def _off_the_axis(body: Body) -> tuple[Body, dict[str, Any]]:
    """What is left of a body on a hinge without the mass, first and second moments that can lie on the axis."""
    e, I = body.axis, body.inertia  # noqa: E741
    along = float(body.moment @ e)
    second = float(0.5 * np.trace(I) - e @ I @ e)
    rod = second * (np.eye(3) - np.outer(e, e))
    left = replace(body, mass=0.0, moment=body.moment - along * e, inertia=_flat(e, I - rod))
    return left, {"mass": body.mass, "moment": along * e, "inertia": packed(rod)}


def _flat(e: Array, inertia: Array) -> Array:
    """The inertia of a body without second moment along e, I_ee = I_11 + I_22: exactly, if e is a coordinate axis."""
    out = inertia.copy()
    for i in np.flatnonzero(np.abs(e) == 1.0):
        out[i, i] = out[(i + 1) % 3, (i + 1) % 3] + out[(i + 2) % 3, (i + 2) % 3]
    return out


def _with(body: Body, given: dict[str, Any]) -> Body:
    """The body with the inertia of another one, given about its origin and in its axes, added to it."""
    whole = {name: value + given[name] for name, value in own_inertia(body).items()}
    return replace(body, mass=whole["mass"], moment=whole["moment"], inertia=unpacked(whole["inertia"]))
