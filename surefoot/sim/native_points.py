"""The contact points of a robot: where they are and how they move; what forces on them do to the bodies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.kinematics import contact_frame
from surefoot.kinematics.fk import PLACEMENTS
from surefoot.kinematics.motion import TWISTS
from surefoot.kinematics.path import chain
from surefoot.kinematics.recursion import Recursion, run
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.robot.tree import Tree

__all__ = ["BodyMotion", "ContactPoint", "body_motions", "contact_points", "points_by_body"]


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
    """All points by which a robot may touch the ground; a surface that is fixed to the world has none.

    Args:
        robot: The robot.
    """
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
    """Indices of the points of each body, bodies in the order of their first point.

    Args:
        points: The points.
    """
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
