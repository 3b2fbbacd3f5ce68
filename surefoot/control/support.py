"""Whether what a robot stands on can hold it upright."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.geometry.polygon import convex_hull, distance_inside
from surefoot.robot import Robot

__all__ = ["support_doubts"]

Array = NDArray[np.float64]
_LINE = 1e-3  # corners that lie within this of one line span no area [m]


def support_doubts(robot: Robot, q: Array, contacts: tuple[str, ...]) -> tuple[str, ...]:
    """Why a free robot that keeps its feet where they are cannot stand in a posture; empty if it can.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        contacts: Names of the contact surfaces that stand.
    """
    if robot.base != "floating" or not contacts:
        return ()
    corners = robot.contact_corners(q)
    hull = convex_hull(np.vstack([corners[name] for name in contacts])[:, :2], tolerance=_LINE)
    if len(hull) < 3:
        shape = "line" if len(hull) == 2 else "point"
        return (f"`{robot.name}` stands on a {shape}: without stepping it tips over",)
    com = np.array(pin.centerOfMass(robot.model, robot.model.createData(), np.array(q)))
    margin = float(distance_inside(com[:2], hull))
    if margin >= 0.0:
        return ()
    return (f"the centre of mass is {-margin:.3g} m outside the support polygon: the posture tips over",)
