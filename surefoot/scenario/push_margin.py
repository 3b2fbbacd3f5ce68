"""How hard a push must be to be hard for a robot: in shares of what would carry it to the edge of its support."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import ConvexHull

from surefoot.control import standing_contacts
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot

__all__ = ["capture_impulse", "way_to_edge"]

Array = NDArray[np.float64]


def capture_impulse(robot: Robot, q: Array, direction: ArrayLike, gravity: float = 9.81) -> float:
    """M ω s [N s]: the impulse after which the linear inverted pendulum comes to rest over the edge of the support.

        J = M ω s,  ω = √(g / z)        [scenario.capture]

    with z the height of the centre of mass over the lowest standing corner and s the way from its ground projection to
    the edge of the support polygon in the direction of the push: the capture point x + ẋ/ω of Koolen et al. 2012, eq. 8
    is then at the edge.

    Args:
        robot: The robot.
        q: (nq,) the posture it stands in.
        direction: (3,) of the push in world; its horizontal part counts.
        gravity: [m/s²].
    """
    com = pin.centerOfMass(robot.model, robot.model.createData(), np.array(q))
    corners = _standing_corners(robot, q)
    height = float(com[2] - corners[:, 2].min())
    return robot.mass * float(np.sqrt(gravity / height)) * way_to_edge(corners[:, :2], com[:2], direction)


def way_to_edge(corners: Array, start: ArrayLike, direction: ArrayLike) -> float:
    """Way [m] from a point to the edge of the convex hull of corners; 0 for a point outside.

    Args:
        corners: (k, 2) [m].
        start: (2,) [m].
        direction: (2,) or (3,); its horizontal part counts.
    """
    along = np.asarray(direction, dtype=float)[:2]
    length = float(np.linalg.norm(along))
    if length < 1e-9:
        raise NotSupportedError("the push is vertical", next_step="give it a horizontal direction")
    if len(corners) < 3 or np.linalg.matrix_rank(corners - corners.mean(axis=0), tol=1e-6) < 2:
        raise NotSupportedError(
            "the robot stands on a point or a line, it has no support polygon",
            next_step="give the push an `impulse` or a `speed` in place of a `margin`",
        )
    planes = ConvexHull(corners).equations  # outward normals and offsets: n x + d ≤ 0 inside
    distance = -(planes[:, :2] @ np.asarray(start, dtype=float) + planes[:, 2])
    speed = planes[:, :2] @ (along / length)
    if (distance < 0.0).any():
        return 0.0
    return float(np.min(distance[speed > 1e-12] / speed[speed > 1e-12]))


def _standing_corners(robot: Robot, q: Array) -> Array:
    corners = robot.contact_corners(q)
    standing = standing_contacts(robot, q)
    if not standing:
        raise NotSupportedError(
            f"`{robot.name}` has no contact surface to stand on", next_step="give the push an `impulse` or a `speed`"
        )
    return np.vstack([corners[name] for name in standing])
