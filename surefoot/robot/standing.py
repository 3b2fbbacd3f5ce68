"""Whether a robot can stand in a posture: its centre of mass over the polygon of its contacts; straight legs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.geometry import convex_hull, distance_inside
from surefoot.robot.anatomy import Foot, anatomy
from surefoot.robot.model import Robot

_LINE = 1e-3  # corners that lie within this of one line span no area [m]
_STRAIGHT = 0.02  # speed of a foot up or down per speed of its joints, share of the leg: below it, a leg cannot push
_BEND = 0.15  # how far the joints of straight legs are bent, share of the way to the middle of their ranges
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


def bend_straight_legs(robot: Robot, q: ArrayLike) -> Array:
    """(nq,) the posture with straight legs bent a little towards the middle of their joints' ranges.

    A leg is straight if its joints cannot move the foot up or down without turning it: it cannot push, and its knee may
    bend either way.

    Args:
        robot: A robot with feet.
        q: (nq,) the posture.
    """
    out = np.array(q)
    for foot in anatomy(robot).feet:
        leg = _leg(robot, foot)
        if _lift_speed(robot, foot, leg, np.array(q)) >= _STRAIGHT:
            continue
        for body in leg:
            k = int(robot.tree.q_index[body])
            low, high = robot.limits.lower[k], robot.limits.upper[k]
            if robot.tree.nq_of(body) == 1 and np.isfinite([low, high]).all():
                out[k] += _BEND * (0.5 * (low + high) - out[k])
    return out


def _leg(robot: Robot, foot: Foot) -> list[int]:
    """Bodies of a leg, from the hip to the foot; those that carry another foot as well are not part of it."""
    tree, base = robot.tree, robot.base_joint
    end = robot.body_of(foot.link)
    trunk = set() if base is None else {base, *tree.ancestors(base)}
    for other in {robot.body_of(item.link) for item in anatomy(robot).feet} - {end}:
        trunk.update(set() if end in tree.ancestors(other) else tree.ancestors(other))
    return [body for body in reversed([end, *tree.ancestors(end)]) if body not in trunk]


def _lift_speed(robot: Robot, foot: Foot, leg: list[int], q: Array) -> float:
    """Speed of the foot up or down per speed of the joints, share of the leg's length; 0 if it has to turn for that."""
    model, data = robot.model, robot.model.createData()
    pin.computeJointJacobians(model, data, q)
    hip, sole = data.oMi[leg[0] + 1].translation, (robot.placements(q)[foot.link] @ foot.placement)[:3, 3]
    length = float(np.linalg.norm(sole - hip))
    starts = [(int(robot.tree.v_index[body]), robot.tree.nv_of(body)) for body in leg]
    J = np.array(pin.getJointJacobian(model, data, leg[-1] + 1, pin.ReferenceFrame.WORLD))
    J = J[:, [start + k for start, count in starts for k in range(count)]]
    J[:3] += np.cross(J[3:].T, sole).T
    rows = J[:3] if len(foot.sole) == 1 else np.vstack([J[:3], length * J[3:]])
    up = np.eye(len(rows))[2]
    speeds = np.linalg.lstsq(rows, up, rcond=1e-6)[0]
    return 1.0 / (length * float(np.linalg.norm(speeds))) if float(up @ rows @ speeds) > 0.5 else 0.0
