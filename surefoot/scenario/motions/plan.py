"""`Plan`: a motion that was computed before the run, with its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.control import TrajectoryFollower
from surefoot.motion import Command, Log, State, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.schema import MotionTable

__all__ = ["Plan", "Planned", "PlannedFollower", "Planner"]


@dataclass(frozen=True, eq=False)
class Plan:
    """A motion and how to judge it.

    Args:
        trajectory: The motion; its first configuration is where the run begins.
        metrics: What the planner measured, for `metrics.json`.
        trouble: Why the plan itself fails; None if it does not.
        curves: Plots for the page, sampled at the times of the trajectory.
        judge: Looks at the run: judge(robot, log); what it finds is added.
        feedback: Forces of the drives to add: feedback(t, q, v) -> (nu,); in place of joint springs.
        files: Further files of the run: name → what writes it to a path.
        world: The world of the run where the planner chose it; that of the scenario if None.
    """

    trajectory: Trajectory
    metrics: Mapping[str, Any] = field(default_factory=dict)
    trouble: str | None = None
    curves: tuple[Plot, ...] = ()
    judge: Callable[[Robot, Log], Findings] | None = None
    feedback: Callable[[float, Array, Array], Array] | None = None
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    world: World | None = None


class Planned:
    """A controller that follows a plan."""

    plan: Plan


class PlannedFollower(Planned, TrajectoryFollower):
    """Follows the trajectory of a plan.

    Args:
        robot: The robot.
        plan: The plan.
        **gains: As in `TrajectoryFollower`.
    """

    def __init__(self, robot: Robot, plan: Plan, **gains: float) -> None:
        super().__init__(robot, plan.trajectory, **gains)
        self.plan = plan

    def command(self, t: float, state: State) -> Command:
        """As in `TrajectoryFollower`; a plan with feedback replaces the joint springs while it lasts."""
        found, feedback = super().command(t, state), self.plan.feedback
        if feedback is None or t > self.plan.trajectory.end:
            return found
        torque = np.asarray(found.torque) + feedback(t, np.asarray(state.q), np.asarray(state.v))
        none = np.zeros(self.robot.nu)
        return replace(found, torque=np.clip(torque, -self._limits, self._limits), kp=none, kd=none)


Planner = Callable[[MotionTable, Robot, World], Plan]
"""From the table, the robot and the world to a plan."""
