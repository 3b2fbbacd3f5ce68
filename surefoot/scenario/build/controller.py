"""From the controller of a scenario to a `Controller`."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.control import ForceSchedule, HandReach, JointPath, JointPd, JointWaves, ReactionlessMotion
from surefoot.errors import ScenarioError
from surefoot.motion import Controller
from surefoot.robot import Robot
from surefoot.scenario.motions import Plan, PlannedFollower
from surefoot.scenario.schema import ControllerTable

__all__ = ["build_controller"]

Array = NDArray[np.float64]


def build_controller(table: ControllerTable, robot: Robot, q: Array, plan: Plan | None = None) -> Controller:
    """The controller.

    Args:
        table: What the scenario says.
        robot: The robot.
        q: (nq,) its first posture.
        plan: What was planned, for a controller that follows it.
    """
    given = table.model_dump(exclude_none=True, exclude={"kind"})
    match table.kind:
        case "joint_pd":
            return JointPd(robot, q, **given)
        case "limp":
            return ForceSchedule(robot, [])
        case "joint_path":
            return JointPath(robot, _pairs(given.pop("keyframes"), "joints"), q, **given)
        case "joint_waves":
            waves = {joint: (w["amplitude"], w["frequency"], w["phase"]) for joint, w in given.pop("waves").items()}
            return JointWaves(robot, waves, q_start=q, **given)
        case "reactionless":
            return ReactionlessMotion(robot, q_start=q, **given)
        case "hand_reach":
            return HandReach(robot, q_start=q, **given)
        case "force_schedule":
            return ForceSchedule(robot, _pairs(given["points"], "torques"))
        case "follow":
            if plan is None:
                raise ScenarioError("there is no [motion] to follow", next_step="add a [motion] table")
            return PlannedFollower(robot, plan, **given)


def _pairs(rows: list[dict[str, Any]], what: str) -> list[tuple[float, dict[str, float]]]:
    return [(row["time"], row[what]) for row in rows]
