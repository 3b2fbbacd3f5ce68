"""Inertias as 3 × 3 blocks, their change of axes and reference point with few operations, and grouped inertias.

An articulated inertia takes the acceleration (a, α) to the force and moment

    f = A a + B α,  n = Bᵀ a + C α,  A = Aᵀ, C = Cᵀ        [dyn.blocks]   Featherstone 2008, section 7.1

Symmetric blocks are kept as their six upper entries, xx, xy, xz, yy, yz, zz, so that each is computed once.

Mass on the axis of a hinge moves with the parent as much as with the body; so do the mass at the centre of a ball
joint and the rotational inertia of what slides without turning. Joint forces, mass matrix, accelerations, and the
momentum and energy of the whole robot do not change if it is counted as the parent's ("grouped" or base parameters),
and the body is left with

    hinge:  m = 0,  h ⟂ e,  e · Σ e = 0        slider:  I = 0        ball:  m = 0        [dyn.grouping]
    Gautier & Khalil 1990, with the second moments Σ = ½ tr(I) E - I

whose exact zeros fold while tracing. Wrenches between bodies, and momentum and energy of single ones, do change: use
`surefoot.kinematics.recursion.bodies` where they matter.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion import Body, Fields, bodies, joint_motion
from surefoot.ops import Array, Symbol
from surefoot.robot import Tree

_UPPER = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))
_PLACE = np.array([[0, 1, 2], [1, 3, 4], [2, 4, 5]])


def packed(matrix: Array) -> Array:
    """The six upper entries (6,) of a symmetric matrix (3, 3)."""
    return ops.array([matrix[i, j] for i, j in _UPPER])


def unpacked(entries: Array) -> Array:
    """The symmetric matrix (3, 3) with these upper entries (6,)."""
    return entries[_PLACE]


def mirror(block: Array) -> Array:
    """The symmetric matrix with this upper triangle."""
    out = block.copy()
    for i in range(len(out)):
        out[i + 1 :, i] = out[i, i + 1 :]
    return out


def rotate_symmetric(R: Array, entries: Array) -> Array:
    """Upper entries (6,) of R S Rᵀ, with R = R_new_old, for the symmetric S with upper entries (6,) in the old axes."""
    S = unpacked(entries)
    plane = _plane_of(R)
    if plane is None:
        return packed(R @ S @ R.T)
    i, j, k = plane
    out = ops.zeros((3, 3), like=[R, S])
    c, s = R[i, i], R[j, i]
    mix = s * (S[i, i] - S[j, j]) + (2.0 * c) * S[i, j]
    out[i, i], out[j, j], out[k, k] = S[i, i] - s * mix, S[j, j] + s * mix, S[k, k]
    out[i, j] = out[j, i] = c * mix - S[i, j]
    out[i, k] = out[k, i] = c * S[i, k] - s * S[j, k]
    out[j, k] = out[k, j] = s * S[i, k] + c * S[j, k]
    return packed(out)


def rotate(R: Array, B: Array) -> Array:
    """R B Rᵀ (3, 3).

    In the plane of a turn about one axis, with cosine c and sine s, the antisymmetric part of B stays, and the
    symmetric part changes by multiples of s (B_ii - B_jj) + c (B_ij + B_ji); this halves the operations.

    Args:
        R: R_new_old (3, 3).
        B: In the old axes (3, 3).
    """
    plane = _plane_of(R)
    if plane is None:
        return R @ B @ R.T
    i, j, k = plane
    out = ops.zeros((3, 3), like=[R, B])
    c, s = R[i, i], R[j, i]
    mix = s * (B[i, i] - B[j, j]) + c * (B[i, j] + B[j, i])
    out[i, i], out[j, j], out[k, k] = B[i, i] - s * mix, B[j, j] + s * mix, B[k, k]
    out[i, j], out[j, i] = c * mix - B[j, i], c * mix - B[i, j]
    out[i, k], out[j, k] = c * B[i, k] - s * B[j, k], s * B[i, k] + c * B[j, k]
    out[k, i], out[k, j] = c * B[k, i] - s * B[k, j], s * B[k, i] + c * B[k, j]
    return out


def _plane_of(R: Array) -> tuple[int, int, int] | None:
    """(i, j, k) if R is known to turn about the coordinate axis k, by an angle that is not a multiple of 90°."""
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        still = is_exactly(R[k, k], 1.0) and is_exactly(R[i, k], 0.0) and is_exactly(R[j, k], 0.0)
        if still and not is_exactly(R[i, i], 0.0) and not is_exactly(R[j, i], 0.0):
            return i, j, k
    return None


def is_exactly(entry: Any, number: float) -> bool:
    """Whether an entry is known to be exactly that number."""
    return not isinstance(entry, Symbol) and bool(entry == number)


def mounted_turn(body: Body, q: Array) -> tuple[Array, Array, Array]:
    """R_parent_body as the constant rotation of the joint times its turn, and the origin of the body in the parent.

    Kept apart, two turns about coordinate axes rotate a block with fewer operations than their product; about the same
    axis they are one turn.

    Args:
        body: The body.
        q: The joint's own coordinates.
    """
    turn, slide = joint_motion(body, q)
    p = body.p + body.R @ slide
    same = _plane_of(body.R) is not None and _plane_of(body.R) == _plane_of(turn)
    return (np.eye(3), body.R @ turn, p) if same else (body.R, turn, p)


def shift(p: Array, A: Array, B: Array, C: Array) -> tuple[Array, Array]:
    """B' (3, 3) and C' (6,) about another point; A stays.

    B' = B - A p~,  C' = C + p~ B' + (p~ B)ᵀ        [dyn.blocks]   Featherstone 2008, section 2.13, by blocks

    Args:
        p: The present reference point as seen from the new one (3,), m, in the axes of the blocks.
        A: (6,) upper entries.
        B: (3, 3).
        C: (6,) upper entries.
    """
    new = B - ops.stack([ops.cross(row, p) for row in unpacked(A)])
    left = ops.stack([ops.cross(p, column) for column in new.T], axis=1)
    right = ops.stack([ops.cross(p, column) for column in B.T])
    return new, C + packed(left + right)


def inertia_times(composite: Fields, S: Array) -> Array:
    """Momenta (6, k) about the origin of a composite for unit rates along S (6, k): (m v + ω × h, h × v + I ω)."""
    mass, moment, inertia = composite["mass"], composite["moment"], unpacked(composite["inertia"])
    linear = [mass * twist[:3] + ops.cross(twist[3:], moment) for twist in S.T]
    angular = [ops.cross(moment, twist[:3]) + inertia @ twist[3:] for twist in S.T]
    return ops.concatenate([ops.stack(linear, axis=1), ops.stack(angular, axis=1)])


def own_inertia(body: Body) -> dict[str, Any]:
    """The body alone as a composite: "mass", "moment" (3,), "inertia" (6,)."""
    return {"mass": body.mass, "moment": body.moment, "inertia": packed(body.inertia)}


def join(own: Fields, p: Array) -> dict[str, Array]:
    """A composite body in the axes of the parent, about another point: "mass", "moment" (3,), "inertia" (6,).

    h' = R h + m p,  I' = R I Rᵀ + 2 (p · k) E - p kᵀ - k pᵀ,  k = R h + ½ m p        [dyn.composite]   Steiner

    Args:
        own: The fields of the body, as of `composite_bodies`.
        p: Its origin seen from the new reference point (3,), m, in the axes of the parent.
    """
    mass, moment, inertia = own["mass"], own["moment"], own["inertia"]
    for R in (own["turn"], own["mount"]):
        moment, inertia = R @ moment, rotate_symmetric(R, inertia)
    k = moment + (0.5 * mass) * p
    twice = (2.0 * p) * k
    steiner = [
        twice[1] + twice[2], -(p[0] * k[1] + p[1] * k[0]), -(p[0] * k[2] + p[2] * k[0]),
        twice[0] + twice[2], -(p[1] * k[2] + p[2] * k[1]), twice[0] + twice[1],
    ]  # fmt: skip
    return {"mass": mass, "moment": moment + mass * p, "inertia": inertia + ops.array(steiner)}


@lru_cache(maxsize=64)
def grouped_bodies(tree: Tree) -> tuple[Body, ...]:
    """The bodies of a tree with grouped inertias; neither bodies nor inertias are physical.   [dyn.grouping]."""
    out = list(bodies(tree))
    for i in reversed(range(tree.n)):
        parent = int(tree.parents[i])
        if parent >= 0:
            out[i], given = _split(out[i])
            out[parent] = _with(out[parent], join({**given, "turn": np.eye(3), "mount": out[i].R}, out[i].p))
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
    along = body.moment @ e
    second = 0.5 * np.trace(I) - e @ I @ e
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
