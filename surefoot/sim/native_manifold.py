"""Steps on the manifold of configurations, over `ops`: q ⊕ u, and the rate of u that a velocity causes.

Joints with a rotation of two or three dimensions move on a group: q ⊕ u = q exp(u) with u in their own frame, as
Pinocchio has it. All others add.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot import ops
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree
from surefoot.spatial import quaternion
from surefoot.spatial.stumpff import stumpff

__all__ = ["carried_along", "drift", "integrate", "seen_at_start", "tangent_rate"]


def integrate(tree: Tree, q: Array, u: Array) -> Array:
    """The configuration q ⊕ u (nq,).

    Args:
        tree: The tree.
        q: (nq,) configuration.
        u: (nv,) step, layout of v.
    """
    parts = []
    for i in np.argsort(tree.q_index, kind="stable"):
        if tree.mimic_source[i] < 0:
            start = int(tree.q_index[i])
            parts.append(_STEPS.get(tree.kinds[i], _add)(q[start : start + tree.nq_of(i)], u[dof_rows(tree, i)]))
    return ops.concatenate(parts)


def seen_at_start(tree: Tree, v: Array, a: Array) -> Array:
    """dv/dt (nv,) as seen in the axes that bodies have now.

    Velocities of free and planar joints are written in axes that turn with the body; a body that flies straight while
    it spins has a dv/dt, and none that is seen: for them ω × v is added to the linear part.

    Args:
        tree: The tree.
        v: (nv,) velocity.
        a: (nv,) dv/dt.
    """
    out = ops.zeros(len(tree.armature), like=[v, a])
    out[:] = a
    for rows in _rows(tree, "free"):
        out[rows][:3] = a[rows][:3] + ops.cross(v[rows][3:], v[rows][:3])
    for rows in _rows(tree, "planar"):
        x, y, turn = v[rows]
        out[rows][:2] = a[rows][:2] + ops.array([-turn * y, turn * x])
    return out


def drift(tree: Tree, q: Array, v: Array, h: float) -> Array:
    """Where bodies are after a time at a velocity that is constant in the axes that they have now (nq,).

    In contrast to q ⊕ h v, the origins of free and planar joints go straight.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        h: Time [s].
    """
    out = integrate(tree, q, h * v)
    for i in range(tree.n):
        start, rows = int(tree.q_index[i]), dof_rows(tree, i)
        if tree.kinds[i] == "free":
            own = q[start : start + 7]
            out[start : start + 3] = own[:3] + quaternion.rotate(own[3:], h * v[rows][:3])
        elif tree.kinds[i] == "planar":
            x, y, c, s = q[start : start + 4]
            u, w = h * v[rows][:2]
            out[start : start + 2] = ops.array([x + c * u - s * w, y + s * u + c * w])
    return out


def carried_along(tree: Tree, v: Array, h: float) -> Array:
    """A velocity (nv,) in the axes after a time at it, from that in the axes now: the other half of `drift`.

    Args:
        tree: The tree.
        v: (nv,) velocity, in the axes now.
        h: Time [s].
    """
    out = ops.zeros(len(tree.armature), like=v)
    out[:] = v
    for rows in _rows(tree, "free"):
        back = quaternion.exp(-h * v[rows][3:])
        out[rows][:3] = quaternion.rotate(back, v[rows][:3])
    for rows in _rows(tree, "planar"):
        x, y, turn = v[rows]
        c, s = ops.cos(h * turn), ops.sin(h * turn)
        out[rows][:2] = ops.array([c * x + s * y, c * y - s * x])
    return out


def _rows(tree: Tree, kind: str) -> list[slice]:
    return [dof_rows(tree, i) for i in range(tree.n) if tree.kinds[i] == kind]


def tangent_rate(tree: Tree, u: Array, v: Array) -> Array:
    """du/dt (nv,) on the way q ⊕ u with the velocity v there, to the third order of u.

        du/dt = v + ½ [u, v] + 1/12 [u, [u, v]] + O(|u|⁴)        [sim.dexp]   Munthe-Kaas 1998

    Args:
        tree: The tree.
        u: (nv,) small step.
        v: (nv,) velocity at q ⊕ u.
    """
    out = ops.zeros(len(tree.armature), like=[u, v])
    for i in range(tree.n):
        if tree.mimic_source[i] < 0:
            rows = dof_rows(tree, i)
            out[rows] = _rate(_BRACKETS.get(tree.kinds[i]), u[rows], v[rows])
    return out


def _rate(bracket: Any, u: Array, v: Array) -> Array:
    if bracket is None:
        return v
    once = bracket(u, v)
    return v + 0.5 * once + (1.0 / 12.0) * bracket(u, once)


def _rotations(u: Array, v: Array) -> Array:
    return ops.cross(u, v)


def _displacements(u: Array, v: Array) -> Array:
    """[u, v] of twists, linear first."""
    return ops.concatenate([ops.cross(u[3:], v[:3]) + ops.cross(u[:3], v[3:]), ops.cross(u[3:], v[3:])])


def _planar_displacements(u: Array, v: Array) -> Array:
    return ops.array([v[2] * u[1] - u[2] * v[1], u[2] * v[0] - v[2] * u[0], 0.0])


_BRACKETS = {"spherical": _rotations, "free": _displacements, "planar": _planar_displacements}


def _add(q: Array, u: Array) -> Array:
    return q + u


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


_STEPS = {"continuous": _turn_on_circle, "spherical": _turn_ball, "free": _displace, "planar": _displace_in_plane}


def _of_unit_length(q: Array) -> Array:
    """Rounding taken away: one step of Newton's method for 1/|q|."""
    return q * (1.5 - 0.5 * (q @ q))
