"""From the tables of a scenario to a robot, a world, a controller and a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.control import JointPd
from surefoot.errors import NotSupportedError
from surefoot.geometry import Plane
from surefoot.motion import Controller, Ground, GroundBox, GroundPlane, HeightField, World, stairs
from surefoot.robot import Robot, placement
from surefoot.robot.contact_search import lowest_points
from surefoot.robot.load import load
from surefoot.scenario.schema import ControllerTable, GroundTable, PushTable, Scenario, WorldTable
from surefoot.sim import Push, Settings, Simulation

__all__ = ["build_controller", "build_push", "build_simulation", "build_world"]

_TOLERATED_DEPTH = 0.005  # [m]


def build_simulation(scenario: Scenario) -> Simulation:
    """The simulation that a scenario describes, not yet run.

    Args:
        scenario: The scenario.
    """
    robot = load(scenario.robot.name, base=scenario.robot.base, mimic=scenario.robot.mimic)
    if robot.tree.n == 0:
        raise NotSupportedError(f"`{robot.name}` has no moving joint: there is nothing to simulate")
    sunk = _depth_at_home(robot) if not scenario.world.ground and _could_stand(robot) else 0.0
    return Simulation(
        robot,
        build_controller(scenario.controller, robot),
        build_world(scenario.world, robot),
        _settings(scenario),
        [build_push(event, robot) for event in scenario.events],
        notes=[f"no ground: at home the robot would be {sunk:.3g} m inside it"] if sunk > _TOLERATED_DEPTH else [],
    )


def build_controller(table: ControllerTable, robot: Robot) -> Controller:
    """The controller.

    Args:
        table: What the scenario says.
        robot: The robot.
    """
    return JointPd(robot, bandwidth=table.bandwidth, damping_ratio=table.damping_ratio)


def build_world(table: WorldTable, robot: Robot) -> World:
    """The world.

    Args:
        table: What the scenario says.
        robot: The robot: one that stands gets level ground if the scenario has none. A planar or fixed base cannot be
            lifted out of the ground: a robot that is more than 5 mm inside it at home gets none.
    """
    pieces = [piece for item in table.ground for piece in _ground(item)]
    if not table.ground and _could_stand(robot) and _depth_at_home(robot) <= _TOLERATED_DEPTH:
        pieces = [GroundPlane()]
    return World(ground=tuple(pieces), friction=table.friction, gravity=np.array(table.gravity))


def _could_stand(robot: Robot) -> bool:
    return robot.base == "floating" or bool(robot.contacts)


def _depth_at_home(robot: Robot) -> float:
    """How far the lowest point of a robot with a planar or fixed base is below z = 0 at home [m]; 0 if it floats."""
    if robot.base == "floating":
        return 0.0
    frames = robot.placements(robot.home)
    shapes = [item for item in robot.collisions if not isinstance(item.shape, Plane)]
    points = [lowest_points(item.shape, frames[item.link] @ item.placement) for item in shapes]
    points += robot.contact_corners(robot.home).values()
    return max(0.0, -min((float(cloud[:, 2].min()) for cloud in points), default=0.0))


def _ground(table: GroundTable) -> list[Ground]:
    """The pieces of one table; what is left out has the defaults of the pieces."""
    keys = {"kind", "position", "yaw"}
    given: dict[str, Any] = {k: v for k, v in table.model_dump(exclude_none=True).items() if k not in keys}
    match table.kind:
        case "plane":
            return [GroundPlane(**given)]
        case "box":
            turn = pin.rpy.rpyToMatrix(0.0, 0.0, table.yaw or 0.0)
            return [GroundBox(pose=placement(table.position or (0.0, 0.0, 0.0), turn), **given)]
        case "stairs":
            return list(stairs(**given))
        case "height_field":
            return [HeightField(**given)]


def build_push(table: PushTable, robot: Robot) -> Push:
    """A push; its force is impulse / duration.

    Args:
        table: What the scenario says.
        robot: The robot, whose mass scales a push given by speed.
    """
    impulse = table.speed * robot.mass if table.impulse is None else table.impulse
    direction = np.array(table.direction) / np.linalg.norm(table.direction)
    wrench = np.concatenate([impulse / table.duration * direction, np.zeros(3)])
    return Push(table.time, table.duration, table.link or robot.tree.body_names[robot.base_joint or 0], wrench)


def _settings(scenario: Scenario) -> Settings:
    table = scenario.simulation
    return Settings(
        duration=table.duration,
        dt=table.dt,
        control_dt=table.dt if table.control_dt is None else table.control_dt,
        seed=table.seed,
        initial_spread=table.initial_spread,
        self_collision=table.self_collision,
    )
