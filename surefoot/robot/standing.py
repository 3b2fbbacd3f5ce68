"""Whether a robot can stand in a posture: its centre of mass over the polygon of its contacts."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.geometry import convex_hull, distance_inside
from surefoot.robot.model import Robot

__all__ = ["support_doubts"]

_LINE = 1e-3  # corners that lie within this of one line span no area [m]
_LEAST = 0.1  # of the side of a square as large as the support: nearer to its edge, the least push tips the robot


def support_doubts(robot: Robot, q: ArrayLike, contacts: Iterable[str] | None = None) -> tuple[str, ...]:
    """Why a free robot that keeps its feet where they are cannot stand in a posture; empty if it can.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        contacts: Names of the contact surfaces that stand; all if omitted.
    """
    corners = robot.contact_corners(q)
    standing = [corners[name] for name in (corners if contacts is None else contacts)]
    if robot.base != "floating" or not standing:
        return ()
    hull = convex_hull(np.vstack(standing)[:, :2], tolerance=_LINE)
    if len(hull) < 3:
        shape = "line" if len(hull) == 2 else "point"
        return (f"`{robot.name}` stands on a {shape}: without stepping it tips over",)
    com = np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(q)))
    margin = float(distance_inside(com[:2], hull))
    if margin < 0.0:
        return (f"the centre of mass is {-1e3 * margin:.3g} mm outside the support polygon: the posture tips over",)
    x, y = hull.T
    side = float(np.sqrt(0.5 * abs(x @ np.roll(y, -1) - y @ np.roll(x, -1))))
    if margin < _LEAST * side:
        least = 1e3 * _LEAST * side
        return (
            f"the centre of mass is {1e3 * margin:.3g} mm from the edge of the support polygon (less than {least:.3g} "
            "mm): a small push tips the robot over",
        )
    return ()
