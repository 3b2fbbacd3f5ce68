"""Whether a robot keeps its posture, also when it is pushed."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.motion import Log
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.sim import Push

__all__ = ["LARGEST_DEVIATION", "LARGEST_SLIP", "LARGEST_TILT", "LEAST_HEIGHT", "stand"]

LARGEST_DEVIATION = 0.35
"""How far a joint may be from its first position at the end [rad] or [m]."""
LARGEST_SLIP = 0.1
"""How far a foot may slide [m]."""
LEAST_HEIGHT = 0.8
"""Share of the height of the base before a push that must be left."""
LARGEST_TILT = np.deg2rad(20.0)
"""Tilt of the base that is allowed [rad]."""
_BEFORE = 0.05  # [s]


def stand(run: StudiedRun) -> Findings:
    """Height and tilt of the base after pushes, ground contact, slip and posture at the end.

    Args:
        run: The run.
    """
    robot, log = run.simulation.robot, run.log
    height = _least_height(log, run.simulation.events)
    tilt = float(log["base.tilt"].max())
    metrics = {"least_height_share": height, "largest_tilt_deg": float(np.rad2deg(tilt))}
    return Findings(metrics, _trouble(robot, log, height, tilt))


def _trouble(robot: Robot, log: Log, height: float, tilt: float) -> str | None:
    if robot.base_joint is not None and robot.contacts:
        if not _touches(robot, log):
            return "lost ground contact: no contact carries force at the end"
        if not (height >= LEAST_HEIGHT and tilt <= LARGEST_TILT):
            return f"did not stay upright: base at {height:.0%} of its height, tilted by {np.rad2deg(tilt):.0f}°"
    slip = max((float(log[f"contact.{name}.slip"][-1]) for name in robot.contacts), default=0.0)
    if not slip <= LARGEST_SLIP:
        return f"slid by {slip:.2f} m"
    joint, deviation = _largest_deviation(robot, log)
    if not deviation <= LARGEST_DEVIATION:
        return f"did not hold its posture: joint {joint} is off by {deviation:.2f} at the end"
    return None


def _least_height(log: Log, events: tuple[object, ...]) -> float:
    """Least height of the base from the first push on, over that just before; over the first one without pushes."""
    start = min((event.time for event in events if isinstance(event, Push)), default=0.0)
    before = max(0, int(np.searchsorted(log.time, start - _BEFORE, side="right")) - 1)
    reference = float(log["base.height"][before])
    return float(log["base.height"][before:].min()) / reference if reference > 0.0 else 1.0


def _touches(robot: Robot, log: Log) -> bool:
    """Whether any contact carried force in the last tenth of a second."""
    last = log.time >= log.time[-1] - 0.1
    return any(np.abs(log[f"contact.{name}.wrench"][last, :3]).max(initial=0.0) > 0.0 for name in robot.contacts)


def _largest_deviation(robot: Robot, log: Log) -> tuple[str, float]:
    """The joint, other than the base, that ended farthest from where it began, and by how much."""
    steps = np.abs(pin.difference(robot.model, np.array(log["q"][0]), np.array(log["q"][-1])))
    steps[robot.base_rows] = 0.0
    if not len(steps):
        return "", 0.0
    row = int(np.argmax(steps))
    joint = max(i for i in range(robot.tree.n) if robot.tree.nv_of(i) and robot.tree.v_index[i] <= row)
    return robot.tree.joint_names[joint], float(steps[row])
