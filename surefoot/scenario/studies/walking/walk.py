"""How well a robot walked: goal, speed, steps, cost of transport, and why it fell if it did."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.control.walking import WalkingController
from surefoot.gait import StepLimits, stance_of
from surefoot.motion import Log
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.schema import WalkTable
from surefoot.scenario.studies.falls import fall_cause
from surefoot.scenario.studies.walking.steps import SWING, WalkRecord
from surefoot.tasks import FrameOrientation, Gaze

__all__ = ["GOAL_ANGLE", "GOAL_DISTANCE", "HELD_ANGLE", "walk"]

GOAL_DISTANCE, GOAL_ANGLE = 0.05, np.deg2rad(5.0)
"""How near to its goal a walk must end [m], [rad]."""
HELD_ANGLE = np.deg2rad(5.0)
"""By how much a tray may tilt, and a gaze may miss its point [rad]."""
_EVERY = 10  # ticks between looks at what a robot holds


def walk(run: StudiedRun) -> Findings:
    """Goal, speed, steps, cost of transport and cause of a fall.

    Args:
        run: The run; its controller is `walk`.
    """
    controller, log, robot = run.simulation.controller, run.log, run.simulation.robot
    if not isinstance(controller, WalkingController):
        return Findings({}, "the controller does not walk")
    goal = _goal(run.scenario.walk, controller)
    start, end = (_body_pose(robot, log["q"][k]) for k in (0, -1))
    distance, angle = _error(end, goal)
    way = _way(robot, log)
    walking = np.asarray(log["control.phase"]) > 0.0
    seconds = float(walking.sum()) * run.simulation.settings.control_dt
    metrics: dict[str, Any] = {
        "goal_error_m": distance,
        "goal_error_rad": angle,
        "mean_speed_m_s": way / seconds if seconds > 0.0 else 0.0,
        "cruise_speed_m_s": _cruise_speed(robot, log),
        "steps": controller.steps,
        "walked_m": way,
        **_costs_of_transport(run, way),
        "peak_contact_force_of_weight": _peak_force(robot, log),
        "dcm_error_max_m": float(np.linalg.norm(log["control.dcm"] - log["control.dcm_reference"], axis=1).max()),
        "adapted_steps": controller.adapted_steps,
        "replanned": getattr(controller.source, "replanned", 0),
        "replans_failed": getattr(controller.source, "failed", 0),
        "fallbacks": int(log["control.fallbacks"][-1]),
        "fallback_reasons": dict(controller.body.troubles),
        "fall_cause": fall_cause(robot, log),
        "start_to_end_m": float(np.hypot(*(end - start)[:2])),
        **_held(controller, log),
    }
    record = WalkRecord(robot, log)
    trouble = _trouble(log, distance, angle) or _missed(metrics)
    return Findings(metrics, trouble, record.plots(), [record.table()], record.outlines())


def _goal(table: WalkTable | None, walker: WalkingController) -> Array | None:
    """(3,) x, y, yaw where the walk shall end; None if it has no goal."""
    if table is None or table.goal is None:
        goal = getattr(walker.source, "goal", None)  # the end of a path
        return None if goal is None else np.array(goal)
    scale = StepLimits.of(walker.robot).leg if table.unit == "leg" else 1.0
    return np.array(table.goal) * (scale, scale, 1.0)


def _trouble(log: Log, distance: float | None, angle: float | None) -> str | None:
    """Why the walk does not pass, other than by a fall."""
    for item in log.metadata["incidents"]:
        if item["kind"] == "position_limit":
            return f"joint {item['where']} hit its limit"
        if item["kind"] == "obstacle_touch":
            return f"touch of {item['where']}"
    if distance is None or angle is None:
        return None
    if distance > GOAL_DISTANCE:
        return f"ended {_above(1e3 * distance, 1)} mm from its goal (at most {1e3 * GOAL_DISTANCE:g} mm)"
    if angle > GOAL_ANGLE:
        return f"ended turned by {_above(np.rad2deg(angle), 2)}° from its goal (at most {np.rad2deg(GOAL_ANGLE):g}°)"
    return None


def _above(value: float, digits: int) -> str:
    """A number rounded up, so that it never looks like the limit that it is above."""
    return f"{np.ceil(10.0**digits * value) / 10.0**digits:.{digits}f}"


def _held(walker: WalkingController, log: Log) -> dict[str, float]:
    """Largest angles by which a tray tilts and a gaze misses its point, from the first lift-off on [rad]."""
    found: dict[str, float] = {}
    rows = np.flatnonzero(np.maximum.accumulate(log["control.phase"]) >= SWING)[::_EVERY]
    for task in walker.tasks:
        if isinstance(task, FrameOrientation):
            name, up = "tray_tilt_max_rad", np.asarray(task.target)[2]
        elif isinstance(task, Gaze):
            name, up = "gaze_error_max_rad", np.asarray(task.axis)
        else:
            continue
        angles = [0.0]
        for row in rows:
            T = walker.robot.placements(log["q"][row])[task.frame]
            to = np.asarray(task.target) - T[:3, 3] if isinstance(task, Gaze) else np.array([0.0, 0.0, 1.0])
            angles.append(float(np.arccos(np.clip(T[:3, :3] @ up @ to / np.linalg.norm(to), -1.0, 1.0))))
        found[name] = max(angles)
    return found


def _missed(metrics: dict[str, Any]) -> str | None:
    """Why what the robot did meanwhile does not pass."""
    if metrics.get("tray_tilt_max_rad", 0.0) > HELD_ANGLE:
        return f"the tray tilted by {_above(np.rad2deg(metrics['tray_tilt_max_rad']), 2)}°"
    if metrics.get("gaze_error_max_rad", 0.0) > HELD_ANGLE:
        return f"the gaze missed its point by {_above(np.rad2deg(metrics['gaze_error_max_rad']), 2)}°"
    return None


def _body_pose(robot: Robot, q: Array) -> Array:
    """(3,) x, y and yaw of the middle between the feet."""
    left, right = stance_of(robot, q)
    x, y = 0.5 * (left.position + right.position)[:2]
    turn = np.exp(1j * left.yaw) + np.exp(1j * right.yaw)
    return np.array([x, y, np.angle(turn)])


def _error(end: Array, goal: Any) -> tuple[float | None, float | None]:
    if goal is None:
        return None, None
    angle = abs((end[2] - goal[2] + np.pi) % (2.0 * np.pi) - np.pi)
    return float(np.hypot(end[0] - goal[0], end[1] - goal[1])), float(angle)


def _way(robot: Robot, log: Log) -> float:
    """Length of the way of the base, without its sway: over the places at which supports change [m]."""
    steps = np.flatnonzero(np.diff(np.asarray(log["control.steps"]))) + 1
    rows = np.unique([0, *steps[::2], len(log) - 1])
    places = np.array([_body_pose(robot, log["q"][k])[:2] for k in rows])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum())


def _cruise_speed(robot: Robot, log: Log) -> float | None:
    """Without the first and the last two steps [m/s]; None if there are no others."""
    landings = np.flatnonzero(np.diff(np.asarray(log["control.steps"]))) + 1
    if len(landings) < 6:
        return None
    a, b = landings[1], landings[-3]
    way = np.hypot(*(_body_pose(robot, log["q"][b]) - _body_pose(robot, log["q"][a]))[:2])
    return float(way / (log.time[b] - log.time[a]))


def _costs_of_transport(run: StudiedRun, way: float) -> dict[str, float | None]:
    """Energy over m g s, without recovery (Collins et al. 2005): ∫ Σ |τ ω| dt, and what the supply gives to motors.

    The electrical one is None unless all drives are motors whose winding and supply are known.
    """
    robot, log = run.simulation.robot, run.log
    weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
    powers: dict[str, Array | None] = {"cost_of_transport": np.abs(log["tau"] * log["v"][:, robot.driven])}
    are_motors = set(run.simulation.participants[0].drives.kinds.values()) == {"dc_motor"}
    powers["electrical_cost_of_transport"] = np.maximum(log["drive.electrical_power"], 0.0) if are_motors else None
    return {
        name: None
        if power is None or way <= 0.05
        else float(np.trapezoid(power.sum(axis=1), log.time)) / (weight * way)
        for name, power in powers.items()
    }


def _peak_force(robot: Robot, log: Log) -> float:
    """Largest sum of normal forces from the first step on, in weights."""
    total = sum(log[f"contact.{name}.wrench"][:, 2] for name in robot.contacts)
    walks = np.maximum.accumulate(log["control.phase"]) > 0.0
    return float(np.max(total, where=walks, initial=0.0)) / (robot.mass * float(np.linalg.norm(robot.tree.gravity)))
