"""Build the events of a simulation."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike
from scipy.spatial import ConvexHull

from surefoot.arrays import Array
from surefoot.control import standing_contacts
from surefoot.errors import NotSupportedError
from surefoot.robot import Robot, anatomy
from surefoot.scenario.build.world import build_ground
from surefoot.scenario.schema import EventTable
from surefoot.sim import Event, FrictionChange, ParameterError, Payload, Push, SensorLoss, TerrainChange

_HANDS = ("left_hand", "right_hand")
_SPEED, _DURATION, _DIRECTION = 0.1, 0.1, (1.0, 1.0, 0.0)  # of pushes that say nothing


def build_event(table: EventTable, robot: Robot, q: Array) -> Event:
    """An event.

    Args:
        table: What the scenario says.
        robot: The robot, whose mass and stance scale a push.
        q: (nq,) its first posture.
    """
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    link = _link(table, robot)
    match table.kind:
        case "push":
            return _push(table, robot, q, link)
        case "friction":
            return FrictionChange(**given)
        case "payload":
            mass = given.pop("share", 0.0) * robot.mass
            return Payload(**{"mass": mass, **given, "link": link})
        case "terrain":
            return TerrainChange(table.time, build_ground(table.ground or [], robot))
        case "sensor_loss":
            return SensorLoss(**given)
        case "parameter_error":
            renamed: dict[str, Any] = {"mass": given.pop("mass_factor", 1.0), **given}
            return ParameterError(**{k: v for k, v in renamed.items() if k in {f.name for f in fields(ParameterError)}})


def _link(table: EventTable, robot: Robot) -> str:
    """The link of an event: as given, the trunk, a hand, or the base."""
    if table.link in _HANDS and table.link not in robot.link_names:
        hands = anatomy(robot).hands
        if len(hands) <= _HANDS.index(table.link):
            message = f"`{robot.name}` has no {table.link.replace('_', ' ')} to load"
            raise NotSupportedError(message, subject=robot.name, kind="robot", next_step="name a link")
        return robot.tree.body_names[robot.body_of(hands[_HANDS.index(table.link)])]
    if table.link == "torso" and "torso" not in robot.link_names:
        return anatomy(robot).torso
    return table.link or robot.tree.body_names[robot.base_joint or 0]


def repeat_push(table: EventTable, first: float, period: float, end: float) -> list[EventTable]:
    """The pushes that one with `steps` stands for; any other event as it is.

    Args:
        table: What the scenario says.
        first: Middle of the first swing [s].
        period: Time of a step [s].
        end: No push begins later [s].
    """
    if table.steps is None:
        return [table]
    swings = np.arange(first, end, period)
    x, y, z = table.direction or _DIRECTION
    out = []
    for k, time in enumerate(swings[swings >= table.time][:: table.steps]):
        c, s = np.cos(k * (table.turn or 0.0)), np.sin(k * (table.turn or 0.0))
        changes = {"time": float(time), "direction": (c * x - s * y, s * x + c * y, z), "steps": None, "turn": None}
        out.append(table.model_copy(update=changes))
    return out


def _push(table: EventTable, robot: Robot, q: Array, link: str) -> Push:
    """A push; its force is impulse / duration. By margin it acts at the height of the centre of mass."""
    direction = np.array(table.direction or _DIRECTION) / np.linalg.norm(table.direction or _DIRECTION)
    duration = table.duration or _DURATION
    if table.force is not None or table.moment is not None:
        wrench = np.concatenate([table.force or np.zeros(3), table.moment or np.zeros(3)])
    else:
        wrench = np.concatenate([_impulse(table, robot, q, direction) / duration * direction, np.zeros(3)])
    at = table.at or ("body" if table.margin is None else "com_height")
    return Push(table.time, duration, link, wrench, at)


def _impulse(table: EventTable, robot: Robot, q: Array, direction: Array) -> float:
    """Of a push [N s]."""
    if table.impulse is not None:
        return table.impulse
    if table.speed is not None:
        return robot.mass * table.speed
    if table.margin is not None and not without_margin(table, robot, q):
        return table.margin * capture_impulse(robot, q, direction, float(np.linalg.norm(robot.tree.gravity)))
    return robot.mass * _SPEED


def without_margin(table: EventTable, robot: Robot, q: Array) -> list[str]:
    """Why a push given by its margin falls back to 0.1 m/s, if it does.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
    """
    if table.kind != "push" or table.margin is None or table.speed is not None or table.impulse is not None:
        return []
    if robot.base_joint is None:
        return [
            f"`{robot.name}` has a fixed base, so the push has no margin; its impulse is {_SPEED} m/s times the mass"
        ]
    try:
        capture_impulse(robot, q, table.direction or _DIRECTION)
    except NotSupportedError as error:
        return [f"the push has no margin, its impulse is {_SPEED} m/s times the mass: {error.message}"]
    return []


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
    """Distance [m] from a point to the edge of the convex hull of corners; 0 for a point outside.

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
            "the robot stands on a point or a line and has no support polygon",
            next_step="give the push an `impulse` or a `speed` instead of a `margin`",
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
