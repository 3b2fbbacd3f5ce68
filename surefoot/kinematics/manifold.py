"""Configurations over `ops`: q ⊕ u, and the rate of q that a velocity causes.

Joints with a rotation of two or three dimensions move on a group: q ⊕ u = q exp(u) with u in their own frame, as
Pinocchio has it. All others add.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot import Tree
from surefoot.spatial import quaternion
from surefoot.spatial.stumpff import stumpff


def integrate(tree: Tree, q: Array, u: Array) -> Array:
    """The configuration q ⊕ u (nq,).

    Args:
        tree: The tree.
        q: (nq,) configuration.
        u: (nv,) step, layout of v.
    """
    return _by_joint(tree, q, u, _STEPS, lambda position, step: position + step)


def configuration_rate(tree: Tree, q: Array, v: Array) -> Array:
    """dq/dt (nq,) at a velocity.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
    """
    return _by_joint(tree, q, v, _RATES, lambda _, rate: rate)


_Rule = Callable[[Array, Array], Array]


def _by_joint(tree: Tree, q: Array, v: Array, rules: Mapping[str, _Rule], other: _Rule) -> Array:
    """Entries (nq,) from each joint's entries of q and v, by the rule of its kind; followers have none."""
    parts = []
    for i in np.argsort(tree.q_index, kind="stable"):
        if tree.mimic_source[i] < 0:
            start = int(tree.q_index[i])
            rule = rules.get(tree.kinds[i], other)
            parts.append(rule(q[start : start + tree.nq_of(i)], v[dof_rows(tree, i)]))
    return ops.concatenate(parts)


def _circle_rate(q: Array, v: Array) -> Array:
    return ops.array([-q[1] * v[0], q[0] * v[0]])


def _planar_rate(q: Array, v: Array) -> Array:
    c, s = q[2], q[3]
    return ops.concatenate([ops.array([c * v[0] - s * v[1], s * v[0] + c * v[1]]), _circle_rate(q[2:], v[2:])])


def _free_rate(q: Array, v: Array) -> Array:
    return ops.concatenate([quaternion.rotate(q[3:], v[:3]), quaternion.rates(q[3:], v[3:])])


_RATES: dict[str, _Rule] = {
    "continuous": _circle_rate,
    "spherical": quaternion.rates,
    "free": _free_rate,
    "planar": _planar_rate,
}


def _turn_on_circle(q: Array, u: Array) -> Array:
    """(cos, sin) turned by an angle."""
    c, s = ops.cos(u[0]), ops.sin(u[0])
    return _of_unit_length(ops.array([q[0] * c - q[1] * s, q[1] * c + q[0] * s]))


def _turn_ball(q: Array, u: Array) -> Array:
    return _of_unit_length(quaternion.product(q, quaternion.exp(u)))


def _displace(q: Array, u: Array) -> Array:
    """A pose times exp(u): p + R J(φ) ρ, and the quaternion."""
    x = u[3:] @ u[3:]
    tilde = ops.cross(u[3:], u[:3])
    moved = u[:3] + stumpff(2, x) * tilde + stumpff(3, x) * ops.cross(u[3:], tilde)
    return ops.concatenate([q[:3] + quaternion.rotate(q[3:], moved), _turn_ball(q[3:], u[3:])])


def _displace_in_plane(q: Array, u: Array) -> Array:
    x, across = u[2] * u[2], ops.array([-u[1], u[0]])
    moved = stumpff(1, x) * u[:2] + (u[2] * stumpff(2, x)) * across
    c, s = q[2], q[3]
    p = q[:2] + ops.array([c * moved[0] - s * moved[1], s * moved[0] + c * moved[1]])
    return ops.concatenate([p, _turn_on_circle(q[2:], u[2:])])


_STEPS: dict[str, _Rule] = {
    "continuous": _turn_on_circle,
    "spherical": _turn_ball,
    "free": _displace,
    "planar": _displace_in_plane,
}


def _of_unit_length(q: Array) -> Array:
    """Rounding taken away: one step of Newton's method for 1/|q|."""
    return q * (1.5 - 0.5 * (q @ q))
