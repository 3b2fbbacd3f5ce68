"""Whether a run that holds a posture passed, and if not, why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.motion import Log
from surefoot.robot import Robot

__all__ = ["LARGEST_DEVIATION", "LARGEST_SLIP", "PASSED", "verdict_of"]

PASSED = "passed"
LARGEST_DEVIATION = 0.35
"""How far a joint may be from home at the end of a run that holds it [rad] or [m]."""
LARGEST_SLIP = 0.1
"""How far a foot may slide [m]."""


def verdict_of(robot: Robot, log: Log, metrics: Mapping[str, Any], trouble: str | None) -> str:
    """`PASSED`, or the first thing that went wrong.

    Args:
        robot: The robot.
        log: What was measured.
        metrics: What it sums up to.
        trouble: Why the simulation stopped early; None if it did not.
    """
    if trouble is not None:
        return trouble
    if metrics["fallen"]:
        return f"fell at {metrics['fall_time_s']:.2f} s"
    if robot.base_joint is not None and robot.contacts and not _touches(robot, log):
        return "lost the ground: no contact carries force at the end"
    if (metrics["slip_m"] or 0.0) > LARGEST_SLIP:
        return f"slid by {metrics['slip_m']:.2f} m"
    joint, deviation = _largest_deviation(robot, log)
    if deviation > LARGEST_DEVIATION:
        return f"did not hold its posture: joint {joint} is off by {deviation:.2f} at the end"
    return PASSED


def _touches(robot: Robot, log: Log) -> bool:
    """Whether any contact carried force in the last tenth of a second."""
    time = np.asarray(log.time)
    last = time >= time[-1] - 0.1
    return any(np.abs(log[f"contact.{name}.wrench"][last, :3]).max(initial=0.0) > 0.0 for name in robot.contacts)


def _largest_deviation(robot: Robot, log: Log) -> tuple[str, float]:
    """The joint, other than the base, that ended farthest from home, and by how much."""
    steps = np.abs(pin.difference(robot.model, np.array(robot.home), np.array(log["q"][-1])))
    steps[robot.base_rows] = 0.0
    if not len(steps):
        return "", 0.0
    row = int(np.argmax(steps))
    joint = max(i for i in range(robot.tree.n) if robot.tree.nv_of(i) and robot.tree.v_index[i] <= row)
    return robot.tree.joint_names[joint], float(steps[row])
