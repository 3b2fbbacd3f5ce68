"""Steps of bodies that fly, over `ops`, and the rate of a step u in q ⊕ u that a velocity causes."""

from __future__ import annotations

from typing import Any

from surefoot import ops
from surefoot.kinematics import integrate
from surefoot.kinematics.recursion import dof_rows
from surefoot.ops import Array
from surefoot.robot.tree import Tree
from surefoot.spatial import quaternion

__all__ = ["carried_along", "drift", "seen_at_start", "tangent_rate"]


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
