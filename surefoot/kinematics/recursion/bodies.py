"""The constants of one body and its joint, in the form in which the recursions want them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial.so3 import skew

_SNAP = 4.0 * np.finfo(float).eps


@dataclass(frozen=True, eq=False)
class Body:
    """One body and the joint that moves it. Numbers, or symbols where one text serves many bodies.

    Args:
        kind: Joint kind, as in `Tree.kinds`.
        R: (3, 3) R_parent_joint at q = 0.
        p: (3,) origin of the joint in the parent [m].
        axis: (3,) unit axis in the joint frame; zero for joints without one.
        pitch: Of a helical joint [m/rad].
        mass: [kg].
        moment: (3,) mass times centre of mass, in the body frame [kg m].
        inertia: (3, 3) about the *origin* of the body frame, in its axes [kg m²].
        ratio: The joint moves `ratio` times as fast as the coordinate that drives it; 1 but for followers.
        offset: Its position is offset + ratio times that coordinate; 0 but for followers.
    """

    kind: str
    R: Array
    p: Array
    axis: Array
    pitch: Any
    mass: Any
    moment: Array
    inertia: Array
    ratio: Any
    offset: Any


@lru_cache(maxsize=64)
def bodies(tree: Tree) -> tuple[Body, ...]:
    """The bodies of a tree, in its order."""
    return tuple(_body(tree, i) for i in range(tree.n))


def _body(tree: Tree, i: int) -> Body:
    mass, com, placement = (_plain(part[i]) for part in (tree.masses, tree.coms, tree.placements))
    follows = tree.mimic_source[i] >= 0
    return Body(
        kind=tree.kinds[i],
        R=snapped(_plain(placement[:3, :3])),
        p=_plain(placement[:3, 3]),
        axis=snapped(tree.axes[i]),
        pitch=float(tree.pitches[i]),
        mass=mass,
        moment=mass * com,
        inertia=_plain(tree.inertias[i]) - mass * (skew(com) @ skew(com)),
        ratio=float(tree.mimic_ratio[i]) if follows else 1.0,
        offset=float(tree.mimic_offset[i]) if follows else 0.0,
    )


def _plain(part: Any) -> Any:
    """A part of a tree as float numbers, unless it holds symbols."""
    entries = np.asarray(part)
    if any(isinstance(entry, ops.Symbol) for entry in entries.flat):
        return part
    return float(entries) if entries.ndim == 0 else entries.astype(float)


def snapped(values: Array) -> Array:
    """Entries of rotations and axes within rounding of 0 and ±1, made exact, so that tracing can fold them."""
    if ops.is_symbolic(values):
        entries = [x if isinstance(x, ops.Symbol) else snapped(np.asarray(x, dtype=float)).item() for x in values.flat]
        return np.array(entries).reshape(values.shape)
    near = np.round(values)
    return np.where(np.abs(values - near) <= _SNAP, near, values)


def joint_placement(body: Body, q: Array) -> tuple[Array, Array]:
    """R_parent_body (3, 3) and the origin of the body in the parent (3,), m.

    Args:
        body: The body.
        q: The joint's own coordinates (its entries of the configuration, followers already scaled).
    """
    R, p = joint_motion(body, q)
    return body.R @ R, body.p + body.R @ p


def joint_motion(body: Body, q: Array) -> tuple[Array, Array]:
    """R_joint_body (3, 3) and the origin of the body in the joint frame (3,), m: `joint_placement` less the constants.

    Args:
        body: The body.
        q: The joint's own coordinates.
    """
    match body.kind:
        case "revolute":
            return _turn(body.axis, ops.cos(q[0]), ops.sin(q[0])), np.zeros(3)
        case "continuous":
            return _turn(body.axis, q[0], q[1]), np.zeros(3)
        case "prismatic":
            return np.eye(3), body.axis * q[0]
        case "helical":
            return _turn(body.axis, ops.cos(q[0]), ops.sin(q[0])), body.axis * (body.pitch * q[0])
        case "spherical":
            return _of_quaternion(q), np.zeros(3)
        case "planar":
            return _turn(np.array([0.0, 0.0, 1.0]), q[2], q[3]), ops.array([q[0], q[1], 0.0])
        case "free":
            return _of_quaternion(q[3:]), q[:3]
        case _:  # translation
            return np.eye(3), q


def _turn(axis: Array, c: Any, s: Any) -> Array:
    """Rotation about a unit axis u with cosine c and sine s (Rodrigues; Buschmann 2014, (2.31)).

    u uᵀ + c (E - u uᵀ) + s u~: about a coordinate axis, the entries that stay fold to exact zeros and ones.
    """
    along = np.outer(axis, axis)
    return along + c * (np.eye(3) - along) + s * skew(axis)


def _of_quaternion(q: Array) -> Array:
    """Rotation of a unit quaternion x, y, z, w."""
    x, y, z, w = q
    xx, yy, zz = 2.0 * x * x, 2.0 * y * y, 2.0 * z * z
    xy, xz, yz = 2.0 * x * y, 2.0 * x * z, 2.0 * y * z
    xw, yw, zw = 2.0 * x * w, 2.0 * y * w, 2.0 * z * w
    return ops.array(
        [[1.0 - yy - zz, xy - zw, xz + yw], [xy + zw, 1.0 - xx - zz, yz - xw], [xz - yw, yz + xw, 1.0 - xx - yy]]
    )


def joint_subspace(body: Body) -> Array:
    """S (6, nv): the joint's twist in the body frame is S v, v the velocity of the driving coordinate.

    S is constant for every joint kind (Buschmann 2014, (2.79) and (2.80), where hinge and slider are swapped), and
    followers carry their ratio in it.
    """
    S = ops.zeros((6, _COLUMNS.get(body.kind, 1)), like=[body.axis, body.ratio])
    match body.kind:
        case "revolute" | "continuous":
            S[3:, 0] = body.axis * body.ratio
        case "prismatic":
            S[:3, 0] = body.axis * body.ratio
        case "helical":
            S[:3, 0], S[3:, 0] = body.axis * (body.pitch * body.ratio), body.axis * body.ratio
        case "spherical":
            S[3:] = np.eye(3)
        case "planar":
            S[0, 0] = S[1, 1] = S[5, 2] = 1.0
        case "translation":
            S[:3] = np.eye(3)
        case "free":
            S[:] = np.eye(6)
    return S


_COLUMNS = {"spherical": 3, "planar": 3, "translation": 3, "free": 6}


def to_child(R: Array, p: Array, twist: Array) -> Array:
    """A twist (6,) of the parent, in the child: ω' = Rᵀ ω, v' = Rᵀ (v + ω × p).

    Args:
        R: R_parent_child (3, 3).
        p: Origin of the child in the parent (3,), m.
        twist: Velocity or spatial acceleration (6,) about the parent's origin, in its axes.
    """
    linear = twist[:3] + ops.cross(twist[3:], p)
    return ops.concatenate([R.T @ linear, R.T @ twist[3:]])


def to_parent(R: Array, p: Array, wrench: Array) -> Array:
    """A wrench (6,) on the child, in the parent: f' = R f, m' = R m + p × f'.

    Args:
        R: R_parent_child (3, 3).
        p: Origin of the child in the parent (3,), m.
        wrench: (6,) about the child's origin, in its axes.
    """
    force = R @ wrench[:3]
    return ops.concatenate([force, R @ wrench[3:] + ops.cross(p, force)])
