"""Costs and constraints by name. Each is a few lines over `ops`; those of the user are of the same kind.

def upright(node):
    return node.placement("torso_link")[:2, 2]          # how far the torso's axis leans [1]

problem.cost("upright", 10.0, upright)                  # 10/2 |…|², integrated
problem.constrain("upright", upright, -0.1, 0.1)        # or as a bound
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.contact import wrench_cone
from surefoot.ocp.node import Node
from surefoot.ops import Array as AnyArray
from surefoot.robot import ContactSurface, Robot

Function = Callable[..., Any]
SMOOTH = 1e-3
"""Rounding of |power| at 0, as a share of 1 W."""


def torque(node: Node) -> AnyArray:
    """Forces of the drives [N m] or [N]."""
    return node.tau


def torque_rate(node: Node) -> AnyArray:
    """Rates of the controls, where these are linear or integrated."""
    return ops.zeros(0) if node.control_rate is None else node.control_rate


def acceleration(node: Node) -> AnyArray:
    """Second rates of the coordinates."""
    return node.ddy


def joint_speed(node: Node) -> AnyArray:
    """Rates of the driven joints."""
    return node.joint_rates


def speed(node: Node) -> AnyArray:
    """Rates of all coordinates."""
    return node.dy


def contact_force(node: Node) -> AnyArray:
    """All contact wrenches."""
    return ops.concatenate([np.zeros(0), *node.wrenches.values()])


def momentum(node: Node) -> AnyArray:
    """Angular momentum about the centre of mass [N m s]."""
    return node.momentum[3:]


def power(node: Node) -> AnyArray:
    """Sum of the drives' |power| [W], rounded at 0."""
    p = node.tau * node.joint_rates
    return ops.sqrt(p * p + SMOOTH).sum()


def posture(node: Node, reference: AnyArray) -> AnyArray:
    """Coordinates against a reference."""
    return node.y - reference


def joint_posture(node: Node, reference: AnyArray) -> AnyArray:
    """Driven joints against a reference."""
    return node.joints - reference


def com_position(node: Node, reference: AnyArray) -> AnyArray:
    """Centre of mass against a reference [m]."""
    return node.com - reference


def com_height(node: Node, reference: AnyArray) -> AnyArray:
    """Height of the centre of mass against a reference [m]."""
    return node.com[2:] - reference


def base_turn(node: Node) -> AnyArray:
    """Yaw, pitch and roll of the base [rad]."""
    return node.y[3:6]


def pressure(node: Node) -> AnyArray:
    """Centre of pressure of each flat contact times its normal force, over the weight: m_y and m_x [m]."""
    weight = node.robot.mass * float(np.linalg.norm(node.robot.tree.gravity))
    return ops.concatenate([np.zeros(0), *(wrench[3:5] * (1.0 / weight) for wrench in node.wrenches.values())])


def unity(node: Node) -> AnyArray:
    """One: integrated, the duration."""
    return ops.stack([1.0])


def weighted(function: Function) -> Function:
    """A scalar cost with its weight as data."""
    return lambda node, weight: weight[0] * function(node)


def less_of(parameter: str) -> Function:
    """A scalar cost: less for more of a free parameter."""
    return lambda node, weight: -weight[0] * node.parameters[parameter]


RESIDUALS: dict[str, tuple[Function, int | str]] = {
    "torque": (torque, 0),
    "torque_rate": (torque_rate, 0),
    "acceleration": (acceleration, 0),
    "joint_speed": (joint_speed, 0),
    "speed": (speed, 0),
    "contact_force": (contact_force, 0),
    "momentum": (momentum, 0),
    "base_turn": (base_turn, 0),
    "pressure": (pressure, 0),
    "posture": (posture, "nv"),
    "joint_posture": (joint_posture, "nu"),
    "com": (com_position, 3),
    "com_height": (com_height, 1),
}
"""Costs ½ w |…|², with the size of their reference."""

SCALARS: dict[str, Function] = {"power": power}
"""Costs w · …"""


def torque_share(robot: Robot) -> Function:
    """Forces of the drives over their limits."""
    limits = np.array([drive.torque_limit for drive in robot.drives])
    return lambda node: node.tau * (1.0 / limits)


def cone_rows(surface: ContactSurface, faces: Array, ground: Array) -> Function:
    """Faces of the wrench cone of a contact, over the weight: unilateral, friction, centre of pressure, yaw; ≥ 0.

    Args:
        surface: The contact.
        faces: (m, 6), see `wrench_faces`.
        ground: (3, 3) axes of the ground in world. Those of a point contact turn with its foot, so that its force is
            turned into them; those of a sole are the same.
    """

    def rows(node: Node) -> AnyArray:
        weight = node.robot.mass * float(np.linalg.norm(node.robot.tree.gravity))
        wrench = node.wrenches[surface.name] * (10.0 / weight)
        if surface.kind == "point":
            force = ground.T @ (node.placement(surface.name)[:3, :3] @ wrench[:3])
            wrench = ops.concatenate([force, wrench[3:]])
        return faces @ wrench

    return rows


def wrench_faces(surface: ContactSurface, friction: float | None, margin: float) -> Array:
    """Rows (m, 6) of the wrench cone with a smaller sole; those of directions that are not tied are omitted."""
    from dataclasses import replace

    corners = np.array(surface.corners)
    if margin > 0.0 and len(corners) > 2:
        centre = corners.mean(axis=0)
        offset = corners - centre
        corners = centre + np.sign(offset) * np.maximum(np.abs(offset) - margin, 1e-4 * (offset != 0.0))
        surface = replace(surface, corners=corners)
    faces = wrench_cone(surface, friction).faces
    return np.asarray(faces[:, :] if surface.kind != "point" else faces[np.abs(faces[:, :3]).max(axis=1) > 0.0])


def height_rows(robot_contact: ContactSurface) -> Function:
    """Height of the corners of a contact surface above the world's ground plane z = 0 [m]."""

    def rows(node: Node) -> AnyArray:
        T = node.placement(robot_contact.name)
        return ops.stack([T[2, :3] @ corner + T[2, 3] for corner in robot_contact.corners])

    return rows
