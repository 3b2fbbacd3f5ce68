"""How deep the feet of a robot at rest sink into the ground."""

from __future__ import annotations

from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Log, World
from surefoot.motion.world import contact_planes
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun

STIFFNESS_PER_MASS = 300.0
"""Effective stiffness of a foot per mass of the robot with `penalty_pid` [1/s²]: k_p + k_i / (1 − λ), Wimmer 2016."""
AT_REST = 0.02
"""Largest entry of v that counts as rest [m/s] or [rad/s]."""
LARGEST_ERROR = 0.03
"""By which share depth and force at rest may be off."""
_LOADED = 0.01  # share of the weight


def drop(run: StudiedRun) -> Findings:
    """Depth of each loaded foot at the end, and what the contact model predicts.

    The feet together carry the weight: Σ 300 m d = m g, so that n feet sink in by g / (300 n) on average [sim.rest].
    """
    robot, log, world = run.simulation.robot, run.log, run.simulation.world
    if world is None or not world.gravity.any():
        return Findings({}, "the scenario has no ground to fall on, or no gravity")
    gravity = float(np.linalg.norm(world.gravity))
    weight, loads = robot.mass * gravity, _loads(robot, log, world.gravity / gravity)
    standing = [name for name, load in loads.items() if load > _LOADED * weight]
    if not standing:
        return Findings({"feet_down": 0}, "no foot is on the ground at the end")
    depths = contact_depths(robot, np.array(log["q"][-1]), world)
    depth = float(np.mean([depths[name] for name in standing]))
    speed = float(np.abs(log["v"][-1]).max())
    expected = gravity / (STIFFNESS_PER_MASS * len(standing)) if _is_penalty(run) else None
    metrics = {
        "feet_down": len(standing),
        "penetration_m": depth,
        "penetration_by_contact_m": depths,
        "expected_penetration_m": expected,
        "rest_force_n": sum(loads.values()),
        "weight_n": weight,
        "final_speed": speed,
    }
    return Findings(metrics, _trouble(metrics))


def _trouble(metrics: dict[str, Any]) -> str | None:
    """Motion, depth and force that are not those of rest."""
    speed, depth, expected = (metrics[name] for name in ("final_speed", "penetration_m", "expected_penetration_m"))
    if not speed <= AT_REST:
        return f"still moving at the end: {speed:.3g}"
    if expected is not None and not abs(depth - expected) <= LARGEST_ERROR * expected:
        return f"sinks in by {1e3 * depth:.3g} mm, not {1e3 * expected:.3g} mm"
    force, weight = metrics["rest_force_n"], metrics["weight_n"]
    if not abs(force - weight) <= LARGEST_ERROR * weight:
        return f"the ground carries {force:.4g} N, but the robot weighs {weight:.4g} N"
    return None


def _loads(robot: Robot, log: Log, down: Array) -> dict[str, float]:
    """Force of each contact against gravity at the end [N]."""
    frames = robot.placements(np.array(log["q"][-1]))
    turns = {name: (frames[item.frame] @ item.placement)[:3, :3] for name, item in robot.contacts.items()}
    return {name: -float(down @ turn @ log[f"contact.{name}.wrench"][-1, :3]) for name, turn in turns.items()}


def contact_depths(robot: Robot, q: Array, world: World) -> dict[str, float]:
    """Depth [m] of the deepest point of each contact surface below the ground, negative above it.

    Args:
        robot: The robot.
        q: (nq,) the posture.
        world: The world.
    """
    frames, out = robot.placements(q), {}
    for name, corners in robot.contact_corners(q).items():
        contact = robot.contacts[name]
        up = frames[contact.frame][:3, :3] @ contact.placement[:3, 2]
        centres = corners + contact.radius * up  # of the ball that touches; the corner itself for flat soles
        planes = contact_planes(world, centres)
        distance = np.sum(planes[:, :3] * centres, axis=1) - planes[:, 3] - contact.radius
        out[name] = float(-distance.min())
    return out


def _is_penalty(run: StudiedRun) -> bool:
    return run.scenario.simulation.engine == "native" and run.scenario.simulation.contact == "penalty_pid"
