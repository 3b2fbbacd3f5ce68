"""From the tables of a scenario to a robot, a world, a controller and a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.control import JointPd
from surefoot.motion import Controller, Ground, GroundBox, GroundPlane, HeightField, World, stairs
from surefoot.robot import Robot, placement
from surefoot.robot.load import load
from surefoot.scenario.schema import ControllerTable, GroundTable, PushTable, Scenario, WorldTable
from surefoot.sim import Push, Settings, Simulation

__all__ = ["build_controller", "build_push", "build_simulation", "build_world"]


def build_simulation(scenario: Scenario) -> Simulation:
    """The simulation that a scenario describes, not yet run.

    Args:
        scenario: The scenario.
    """
    robot = load(scenario.robot.name, base=scenario.robot.base, mimic=scenario.robot.mimic)
    return Simulation(
        robot,
        build_controller(scenario.controller, robot),
        build_world(scenario.world, robot),
        _settings(scenario),
        [build_push(event, robot) for event in scenario.events],
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
        robot: The robot: one that stands gets level ground if the scenario has none.
    """
    pieces = [piece for item in table.ground for piece in _ground(item)]
    if not table.ground and (robot.base == "floating" or robot.contacts):
        pieces = [GroundPlane()]
    return World(ground=tuple(pieces), friction=table.friction, gravity=np.array(table.gravity))


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
    return Push(table.time, table.duration, table.link or robot.tree.body_names[0], wrench)


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
