"""Costs and constraints by name. Each is a few lines over `ops`; those of the user are of the same kind.

def upright(node):
    return node.placement("torso_link")[:2, 2]          # how far the torso's axis leans [1]

problem.cost("upright", 10.0, upright)                  # 10/2 |…|², integrated
problem.constrain("upright", upright, -0.1, 0.1)        # or as a bound
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull, QhullError

from surefoot import ops
from surefoot.arrays import Array, finite_array, number
from surefoot.contact import wrench_cone
from surefoot.errors import ShapeError, one_of
from surefoot.ocp.node import Node
from surefoot.ops import Array as AnyArray
from surefoot.robot import ContactSurface, Robot

Function = Callable[..., Any]
SMOOTH = 1e-3
"""Rounding of |power| at 0, as a share of 1 W, and of friction cones, as a share of a tenth of the weight."""


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
    """Centre of pressure of each flat contact against the middle of its sole, times its share of the weight [m]."""
    shares = [offset_of_pressure(node, name) * (1.0 / _weight(node)) for name in node.wrenches]
    return ops.concatenate([np.zeros(0), *shares])


def slowness(node: Node) -> AnyArray:
    """One over the parameter `step_length`: integrated, one over the mean speed of a step [s/m]."""
    return ops.stack([1.0 / node.parameters["step_length"]])


def transport(node: Node, rounding: AnyArray) -> AnyArray:
    """Power over weight and the parameter `step_length`: integrated, the cost of transport of a step [1].

    |power| of each drive is rounded within a reference [W] of 0, and too small by up to as much.
    """
    p, r = node.tau * node.joint_rates, rounding[0]
    total = (ops.sqrt(p * p + r * r) - r).sum()
    return ops.stack([total / (_weight(node) * node.parameters["step_length"])])


def unity(node: Node) -> AnyArray:
    """One: integrated, the duration."""
    return ops.stack([1.0])


def weighted(function: Function) -> Function:
    """A scalar cost with its weight, and then what the function takes besides, as data."""
    return lambda node, given: given[0] * (function(node) if len(given) == 1 else function(node, given[1:]))


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

SCALARS: dict[str, Function] = {"power": power, "slowness": slowness, "transport": transport}
"""Costs w · …; the last two need a parameter `step_length`, the last a rounding [W] as reference."""


def torque_share(robot: Robot) -> Function:
    """Forces of the drives over their limits."""
    limits = np.array([drive.torque_limit for drive in robot.drives])
    return lambda node: node.tau * (1.0 / limits)


def falling(robot: Robot) -> list[int]:
    """Drives whose torque falls with speed before their top speed."""
    return [k for k, d in enumerate(robot.drives) if d.corner_speed < d.speed_limit < np.inf]


def torque_speed_rows(robot: Robot) -> Function:
    """Torque–speed lines of drives: |τ/T + ω/(W − C)| (W − C)/W, below 1 as the line of `Drive.torque_at_speed` is.

    T is the torque limit, C the corner speed and W the speed limit. In braking, the torque limit is reached first.
    """
    rows = falling(robot)
    top = np.array([robot.drives[k].speed_limit for k in rows])
    fall = np.array([1.0 - robot.drives[k].corner_speed / robot.drives[k].speed_limit for k in rows])
    torque_limit = np.array([robot.drives[k].torque_limit for k in rows])
    return lambda node: node.tau[rows] * (fall / torque_limit) + node.joint_rates[rows] * (1.0 / top)


def coordinate_rows(rows: tuple[int, ...], rates: bool) -> Function:
    """Some coordinates, or their rates."""
    return lambda node: (node.dy if rates else node.y)[list(rows)]


def head_stabilisation(link: str) -> Function:
    """A cost: how far the z axis of a link leans [1], and how fast it turns [rad/s]; (5,).

    Args:
        link: The head or trunk; a link whose z axis is vertical at home.
    """

    def residual(node: Node) -> AnyArray:
        return ops.concatenate([node.placement(link)[:2, 2], node.velocity(link)[3:]])

    return residual


def ankle_excitation(joints: Sequence[str]) -> Function:
    """A cost: second rates of some coordinates, such as those of elastic ankles [rad/s²].

    Args:
        joints: Names of coordinates (`problem.chart.names`).
    """

    def residual(node: Node) -> AnyArray:
        names = node.chart.names
        for name in joints:
            if name not in names:
                raise one_of("coordinate", str(name), names)
        return node.ddy[[names.index(name) for name in joints]]

    return residual


def zmp_inside(vertices: ArrayLike, margin: float = 0.0) -> Function:
    """A constraint: the zero-moment point of all contacts inside a convex polygon on the ground z = 0; rows ≥ 0 [m].

    A row is the distance to an edge [m] times the share of the weight that contacts carry.

    Args:
        vertices: (m, 2) in world [m], in any order; m ≥ 3.
        margin: Least distance to the edges [m].
    """
    points = finite_array(vertices, (None, 2), "vertices of a ZMP polygon")
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ShapeError(
            "the ZMP polygon has no area", evidence={"vertices": points}, next_step="give three corners or more"
        ) from error
    normals, offsets = hull.equations[:, :2], hull.equations[:, 2] + number(margin, "margin of the ZMP polygon")

    def rows(node: Node) -> AnyArray:
        share, moment = _ground_moment(node, tuple(node.wrenches))
        return -(normals @ moment) - offsets * share

    return rows


def cone_rows(surface: ContactSurface, faces: Array, ground: Array, friction: float | None = None) -> Function:
    """Faces of the wrench cone of a contact, over the weight: unilateral, friction, centre of pressure, yaw; ≥ 0.

    Args:
        surface: The contact.
        faces: (m, 6), see `wrench_faces`.
        ground: (3, 3) axes of the ground in world. Those of a point contact turn with its foot, so that its force is
            turned into them; those of a sole are the same.
        friction: If given, the force is inside the round friction cone besides, whose tip is rounded off.
    """

    def rows(node: Node) -> AnyArray:
        wrench = node.wrenches[surface.name] * (10.0 / _weight(node))
        if surface.kind == "point":
            force = ground.T @ (node.placement(surface.name)[:3, :3] @ wrench[:3])
            wrench = ops.concatenate([force, wrench[3:]])
        if friction is None:
            return faces @ wrench
        sideways = ops.sqrt(wrench[0] * wrench[0] + wrench[1] * wrench[1] + SMOOTH**2) - SMOOTH
        return ops.concatenate([faces @ wrench, ops.stack([friction * wrench[2] - sideways])])

    return rows


def wrench_faces(surface: ContactSurface, friction: float | None, margin: float, inscribed: bool = False) -> Array:
    """Rows (m, 6) of the wrench cone with a smaller sole; those of directions that are not tied are omitted."""
    from dataclasses import replace

    corners = np.array(surface.corners)
    if margin > 0.0 and len(corners) > 2:
        centre = corners.mean(axis=0)
        offset = corners - centre
        corners = centre + np.sign(offset) * np.maximum(np.abs(offset) - margin, 1e-4 * (offset != 0.0))
        surface = replace(surface, corners=corners)
    faces = wrench_cone(surface, friction, inscribed=inscribed).faces
    return np.asarray(faces[:, :] if surface.kind != "point" else faces[np.abs(faces[:, :3]).max(axis=1) > 0.0])


def height_rows(robot_contact: ContactSurface) -> Function:
    """Height of the corners of a contact surface above the world's ground plane z = 0 [m]."""

    def rows(node: Node) -> AnyArray:
        T = node.placement(robot_contact.name)
        return ops.stack([T[2, :3] @ corner + T[2, 3] for corner in robot_contact.corners])

    return rows


def speed_rows(surface: ContactSurface) -> Function:
    """How far the speed of a contact is below a reference [m/s], in each of the directions that it ties, both ways.

    Turning counts with the size of the surface.
    """
    size = float(np.ptp(np.asarray(surface.corners)[:, :2], axis=0).max()) if len(surface.corners) > 1 else 0.0
    scale = np.array([1.0] * 3 + [0.5 * size] * 3)[: 6 if size else 3]

    def rows(node: Node, most: AnyArray) -> AnyArray:
        rates = node.velocity(surface.name, "local_world_aligned")[: len(scale)] * scale
        return ops.concatenate([most[0] - rates, most[0] + rates])

    return rows


# -- walking ------------------------------------------------------------------------------------------------------


def _weight(node: Node) -> Any:
    return node.mass * float(np.linalg.norm(node.robot.tree.gravity))


def offset_of_pressure(node: Node, name: str) -> AnyArray:
    """Moment (2,) that moves the centre of pressure away from the middle of a sole: offset · normal force [N m]."""
    wrench, centre = node.wrenches[name], np.asarray(node.robot.contacts[name].corners).mean(axis=0)
    return ops.stack([-wrench[4] - centre[0] * wrench[2], wrench[3] - centre[1] * wrench[2]])


def _ground_moment(node: Node, contacts: Sequence[str]) -> tuple[Any, AnyArray]:
    """Vertical force over the weight, and it times the zero-moment point (2,) on the plane z = 0 [m]."""
    total, moment = 0.0, np.zeros(2)
    for name in contacts:
        T, wrench = node.placement(name), node.wrenches[name] * (1.0 / _weight(node))
        force = T[:3, :3] @ wrench[:3]
        turn = T[:3, :3] @ wrench[3:] + ops.cross(T[:3, 3], force)
        total, moment = total + force[2], moment + ops.stack([-turn[1], turn[0]])
    return total, moment


def zmp_rows(contacts: tuple[str, ...]) -> Function:
    """Zero-moment point within a radius of the middle of a sole, or of the segment between two; rows ≥ 0.

    Koch, section 7.3: a circle in single support; in double support a capsule, here with square ends. On level ground.

    Args:
        contacts: One or two contacts; the radius [m] is the reference.
    """

    def circle(node: Node, radius: AnyArray) -> AnyArray:
        x, y = offset_of_pressure(node, contacts[0]) / (radius[0] * _weight(node))
        f = node.wrenches[contacts[0]][2] * (1.0 / _weight(node))
        return ops.stack([f * f - x * x - y * y])

    def capsule(node: Node, radius: AnyArray) -> AnyArray:
        first, second = (middle_of_sole(node, name)[:2] for name in contacts)
        total, moment = (10.0 * part for part in _ground_moment(node, contacts))
        way = second - first
        length = ops.sqrt(way @ way)
        along, off = (moment - first * total) @ way / length, moment - first * total
        across = (off[1] * way[0] - off[0] * way[1]) / length
        r = radius[0] * total
        return ops.stack([r - across, r + across, r + along, r + length * total - along])

    return circle if len(contacts) == 1 else capsule


def middle_of_sole(node: Node, name: str) -> AnyArray:
    """Middle (3,) of a contact surface in world [m]."""
    T = node.placement(name)
    return T[:3, :3] @ np.asarray(node.robot.contacts[name].corners).mean(axis=0) + T[:3, 3]


def step_rows(stance: str, swing: str) -> Function:
    """Length and width of a step against the parameters `step_length` and `step_width` [m]."""

    def rows(node: Node) -> AnyArray:
        gap = node.placement(swing)[:2, 3] - node.placement(stance)[:2, 3]
        return ops.stack([gap[0] - node.parameters["step_length"], gap[1] - node.parameters["step_width"]])

    return rows


def beside_rows(surface: ContactSurface, side: float) -> Function:
    """How far the corners of a sole are beyond the line y = reference, on one side of it (±1) [m]."""

    def rows(node: Node, line: AnyArray) -> AnyArray:
        T = node.placement(surface.name)
        return ops.stack([side * (T[1, :3] @ corner + T[1, 3] - line[0]) for corner in surface.corners])

    return rows


def above_rows(surface: ContactSurface) -> Function:
    """Height of the corners of a sole over a reference height [m]."""
    heights = height_rows(surface)
    return lambda node, least: heights(node) - least[0]


def load_rows(name: str) -> Function:
    """Normal force of a contact over the weight, against a reference."""
    return lambda node, most: ops.stack([node.wrenches[name][2] * (1.0 / _weight(node)) - most[0]])
