"""Build the `Controller` of a scenario."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from surefoot.arrays import Array
from surefoot.errors import ScenarioError
from surefoot.motion import Controller, World
from surefoot.robot import Robot
from surefoot.scenario.motions import Plan
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import ControllerTable, MpcTable, Scenario

CONTROLLERS: Mapping[str, str] = {
    "joint_pd": "surefoot.control:JointPd",
    "limp": "surefoot.control:ForceSchedule",
    "joint_path": "surefoot.control:JointPath",
    "joint_waves": "surefoot.control:JointWaves",
    "reactionless": "surefoot.control:ReactionlessMotion",
    "inversion": "surefoot.control:InversionMotion",
    "hand_reach": "surefoot.control:HandReach",
    "force_schedule": "surefoot.control:ForceSchedule",
    "follow": "surefoot.scenario.motions:PlannedFollower",
    "follow_body": "surefoot.scenario.motions.optimal:PlannedWholeBody",
    "walk": "surefoot.scenario.build.walking:build_walker",
    "balance": "surefoot.scenario.build.balance:build_balance",
    "classic": "surefoot.control.classic:classic_controller",
    "swing_up": "surefoot.control.layered:CartPoleSwingUp",
    "layered_walk": "surefoot.control.layered:LayeredWalk",
    "mpc": "surefoot.scenario.build.receding:build_mpc",
}
"""What makes each kind of controller."""
_MOST_PERIODS = 10_000  # each of them is looked at for positions outside the limits


def build_controller(scenario: Scenario, robot: Robot, world: World, q: Array, plan: Plan | None = None) -> Controller:
    """The controller.

    Args:
        scenario: The scenario.
        robot: The robot.
        world: The world.
        q: (nq,) its first posture.
        plan: What was planned, for a controller that follows it.
    """
    table = scenario.controller
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    controller: Callable[..., Controller] = imported(CONTROLLERS[table.kind])
    match table.kind:
        case "joint_pd":
            return controller(robot, q, **given)
        case "limp":
            return controller(robot, [])
        case "joint_path":
            return controller(robot, _pairs(given.pop("keyframes"), "joints"), q, **given)
        case "joint_waves":
            _require_few_periods(table)
            waves = {joint: (w["amplitude"], w["frequency"], w["phase"]) for joint, w in given.pop("waves").items()}
            return controller(robot, waves, q0=q, **given)
        case "reactionless" | "inversion" | "hand_reach":
            return controller(robot, q0=q, **given)
        case "force_schedule":
            return controller(robot, _pairs(given["points"], "torques"))
        case "follow" | "follow_body":
            if plan is None:
                raise ScenarioError("there is nothing to follow", next_step="add a [motion] or a [planner] table")
            if table.kind == "follow_body":
                return controller(robot, plan)
            return controller(robot, plan, servos=scenario.robot.drives == "servo", **given)
        case "walk":
            if scenario.walk is None:
                raise ScenarioError("there is nowhere to walk", next_step="add a [walk] table with a goal")
            return controller(scenario.walk, robot, world, q)
        case "balance":
            if scenario.balance.output == "admittance" and scenario.sensors.kind == "none":
                raise ScenarioError(
                    "drives that give way to measured forces need force sensors",
                    next_step='set sensors.kind="default" or "ideal", or balance.output="position"',
                )
            return controller(scenario.balance, robot, q)
        case "classic":
            dt = scenario.simulation.control_dt or scenario.simulation.dt
            method = given.pop("method", "operational_space")
            return controller(method, robot, q, dt, imported("surefoot.control.classic:ClassicGains")(**given))
        case "mpc":
            return controller(scenario.mpc or MpcTable(), robot, q)
        case "swing_up":
            return controller(robot, q, scenario.simulation.control_dt or scenario.simulation.dt, **given)
        case "layered_walk":
            return controller(robot, dt=scenario.simulation.control_dt or scenario.simulation.dt, **given)


def _require_few_periods(table: ControllerTable) -> None:
    rates = [wave.frequency for wave in (table.waves or {}).values()]
    if rates and (table.cycles or 1) * max(rates) / min(rates) > _MOST_PERIODS:
        raise ScenarioError(
            "the fastest wave has too many periods until the slowest one ends",
            evidence={"frequencies": [min(rates), max(rates)], "cycles": table.cycles, "at most": _MOST_PERIODS},
            next_step="bring the frequencies closer together, or give fewer cycles",
        )


def _pairs(rows: list[dict[str, Any]], what: str) -> list[tuple[float, dict[str, float]]]:
    return [(row["time"], row[what]) for row in rows]
