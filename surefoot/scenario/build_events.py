"""From the events of a scenario to those of a simulation."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError
from surefoot.robot import Robot
from surefoot.scenario.build_world import build_ground
from surefoot.scenario.push_margin import capture_impulse
from surefoot.scenario.schema import EventTable
from surefoot.sim import Event, FrictionChange, ParameterError, Payload, Push, SensorLoss, TerrainChange

__all__ = ["build_event", "without_margin"]

Array = NDArray[np.float64]
_SPEED, _DURATION, _DIRECTION = 0.1, 0.1, (1.0, 1.0, 0.0)  # of pushes that say nothing


def build_event(table: EventTable, robot: Robot, q: Array) -> Event:
    """An event.

    Args:
        table: What the scenario says.
        robot: The robot, whose mass and stance scale a push.
        q: (nq,) its first posture.
    """
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    link = table.link or robot.tree.body_names[robot.base_joint or 0]
    match table.kind:
        case "push":
            return _push(table, robot, q, link)
        case "friction":
            return FrictionChange(**given)
        case "payload":
            return Payload(**{**given, "link": link})
        case "terrain":
            return TerrainChange(table.time, build_ground(table.ground or []))
        case "sensor_loss":
            return SensorLoss(**given)
        case "parameter_error":
            renamed: dict[str, Any] = {"mass": given.pop("mass_factor", 1.0), **given}
            return ParameterError(**{k: v for k, v in renamed.items() if k in {f.name for f in fields(ParameterError)}})


def _push(table: EventTable, robot: Robot, q: Array, link: str) -> Push:
    """A push; its force is impulse / duration. By margin it acts at the height of the centre of mass."""
    direction = np.array(table.direction or _DIRECTION) / np.linalg.norm(table.direction or _DIRECTION)
    duration = table.duration or _DURATION
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
    """Why a push that is given by its margin is one of 0.1 m/s instead, if so.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
    """
    if table.kind != "push" or table.margin is None or table.speed is not None or table.impulse is not None:
        return []
    if robot.base_joint is None:
        return [f"`{robot.name}` is fixed to the world, so its push has no margin: it is {_SPEED} m/s times its mass"]
    try:
        capture_impulse(robot, q, table.direction or _DIRECTION)
    except NotSupportedError as error:
        return [f"the push has no margin, it is {_SPEED} m/s times the mass: {error.message}"]
    return []
