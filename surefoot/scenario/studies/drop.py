"""How deep the feet sink in when a robot has come to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.scenario.studies.findings import Findings, StudiedRun
from surefoot.sim.terrain import contact_planes

__all__ = ["AT_REST", "STIFFNESS_PER_MASS", "contact_depths", "drop"]

Array = NDArray[np.float64]
STIFFNESS_PER_MASS = 300.0
"""Effective stiffness of a foot per mass of the robot with `penalty_pid` [1/s²]: k_p + k_i / (1 − λ), Wimmer 2016."""
AT_REST = 0.02
"""Largest entry of v that counts as rest [m/s] or [rad/s]."""
_LOADED = 0.01  # share of the weight


def drop(run: StudiedRun) -> Findings:
    """Depth of each loaded foot at the end, and what the contact model predicts.

    The feet together carry the weight: Σ 300 m d = m g, so that n feet sink in by g / (300 n) on average [sim.rest].

    Args:
        run: The run.
    """
    robot, log, world = run.simulation.robot, run.log, run.simulation.world
    if world is None:
        return Findings({}, "there is no world to fall on")
    gravity = float(np.linalg.norm(world.gravity))
    loads = {name: float(log[f"contact.{name}.wrench"][-1, 2]) for name in robot.contacts}
    standing = [name for name, load in loads.items() if load > _LOADED * robot.mass * gravity]
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
        "weight_n": robot.mass * gravity,
        "final_speed": speed,
    }
    return Findings(metrics, f"still moves at the end: {speed:.3g}" if speed > AT_REST else None)


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
