"""Steps of bodies that fly, over `ops`, and the rate of a step u in q ⊕ u that a velocity causes.

The contact points of a robot: where they are and how they move; what forces on them do to the bodies.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.kinematics import PLACEMENTS, contact_frame, integrate
from surefoot.kinematics.frames import chain
from surefoot.kinematics.recursion import TWISTS, Recursion, dof_rows, run
from surefoot.ops import Array
from surefoot.robot import Robot, Tree
from surefoot.spatial import quaternion


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


@dataclass(frozen=True, eq=False)
class ContactPoint:
    """A corner of a contact surface, or the centre of the ball that touches there.

    Args:
        surface: Index of the contact surface in the order of `robot.contacts`.
        body: Index of the tree body that carries it.
        position: (3,) in body axes, from its origin [m].
        radius: Of the ball [m]; 0 for a corner.
        friction: Coulomb coefficient of the surface; the slipperier of surface and ground decides.
    """

    surface: int
    body: int
    position: NDArray[np.float64]
    radius: float
    friction: float


@dataclass(frozen=True, eq=False)
class BodyMotion:
    """Where a body is, and how it moves; numbers or symbols.

    Args:
        R: R_world_body (3, 3).
        p: Its origin in world (3,) [m].
        twist: (6,) of its origin, in its axes, linear first.
    """

    R: Array
    p: Array
    twist: Array


def contact_points(robot: Robot) -> tuple[ContactPoint, ...]:
    """All points by which a robot may touch the ground; a surface that is fixed to the world has none."""
    out = []
    for k, surface in enumerate(robot.contacts.values()):
        frame = contact_frame(robot, surface.name)
        if frame.body < 0:
            continue
        lift = np.array([0.0, 0.0, surface.radius])
        for corner in surface.corners:
            position = frame.R @ (corner + lift) + frame.p
            out.append(ContactPoint(k, frame.body, position, float(surface.radius), float(surface.friction)))
    return tuple(out)


def points_by_body(points: Sequence[ContactPoint]) -> dict[int, list[int]]:
    """Indices of the points of each body, bodies in the order of their first point."""
    out: dict[int, list[int]] = {}
    for k, point in enumerate(points):
        out.setdefault(point.body, []).append(k)
    return out


def body_motions(tree: Tree, q: Array, v: Array, wanted: Sequence[int]) -> dict[int, BodyMotion]:
    """Placement and twist of some bodies.

    Args:
        tree: The tree.
        q: (nq,) configuration.
        v: (nv,) velocity.
        wanted: Indices of the bodies.
    """
    needed = sorted({j for i in wanted for j in chain(tree, i)})
    if not needed:
        return {}
    fields, _ = run(_MOTIONS, tree, {"q": q, "v": v}, only=needed)
    return {i: BodyMotion(fields[i]["R"], fields[i]["p"], fields[i]["twist"]) for i in wanted}


_MOTIONS = Recursion(
    (*PLACEMENTS.sweeps, *TWISTS.sweeps), lambda gravity: {**PLACEMENTS.world(gravity), **TWISTS.world(gravity)}
)
