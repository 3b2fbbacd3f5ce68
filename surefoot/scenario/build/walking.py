"""Build the `WalkingController` of a scenario."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.control.walking import WalkingController, WalkSettings, walk_settings
from surefoot.gait import GoalSteps, PathSteps, StepLimits, VelocitySteps, all_steps, first_support, plan_steps
from surefoot.gait import stance_of
from surefoot.motion import StepSource, World
from surefoot.robot import Robot
from surefoot.scenario.schema import WalkTable

__all__ = ["build_walker", "walk_duration"]

_STANDS = 1.5  # how long the robot stands at the end [s]
_SLOWER = 1.1  # steps may take longer than planned


def build_walker(table: WalkTable, robot: Robot, world: World, q: Array) -> WalkingController:
    """The controller, with the source of its steps.

    Args:
        table: What the scenario says.
        robot: The robot.
        world: The world.
        q: (nq,) its first posture.
    """
    limits = StepLimits.of(robot, **({} if table.step is None else {"forward": table.step}))
    settings = _settings(table, robot, limits)
    return WalkingController(robot, _source(table, robot, world, q, limits, settings), settings, q)


def _settings(table: WalkTable, robot: Robot, limits: StepLimits) -> WalkSettings:
    given = {name: getattr(table, name) for name in ("single", "double", "lift", "height")}
    found = walk_settings(robot, limits.forward, given["height"])
    return replace(found, **{name: value for name, value in given.items() if value is not None})


def _source(
    table: WalkTable, robot: Robot, world: World, q: Array, limits: StepLimits, settings: WalkSettings
) -> StepSource:
    if table.commands is not None:
        rows = [(item.time, item.forward, item.left, item.turn) for item in table.commands]
        return VelocitySteps(limits, rows, settings.single + settings.double, world)
    if table.path is not None:
        return PathSteps(limits, table.path, world=world)
    stance = stance_of(robot, q)
    if world.obstacles or world.objects:
        return plan_steps(robot, world, table.goal, stance, limits)
    return GoalSteps.from_stance(limits, stance, table.goal, world)


def walk_duration(table: WalkTable, walker: WalkingController) -> float:
    """How long the walk takes, with time to stand at the end [s].

    Args:
        table: What the scenario says.
        walker: The controller.
    """
    s, source = walker.settings, walker.source
    if table.commands is not None:
        return table.commands[-1].time + 2.0 * (s.single + s.double) + s.first + _STANDS
    stance = stance_of(walker.robot, walker.q0)
    support = first_support(source, source.limits, stance)
    count = len(all_steps(source, support))
    return float(np.ceil(s.settle + 2.0 * s.first + _SLOWER * count * (s.single + s.double) + _STANDS))
