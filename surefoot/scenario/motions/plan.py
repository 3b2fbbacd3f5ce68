"""`Plan`: a motion that was computed before the run, with its evaluation."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
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

PlanWatcher = Callable[[float, Mapping[str, Array]], None]
"""watcher(share of the way that is planned, for each limb its footholds (k, 3) in order [m])."""
plan_watcher: ContextVar[PlanWatcher | None] = ContextVar("plan_watcher", default=None)
"""Called while footfalls are planned."""


@contextmanager
def watch_plans(watcher: PlanWatcher) -> Iterator[None]:
    """Hear of footfalls while they are planned inside the block.

    Args:
        watcher: Called whenever the search comes nearer to its goal.
    """
    token = plan_watcher.set(watcher)
    try:
        yield
    finally:
        plan_watcher.reset(token)


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
        now: What to follow in the light of what is measured: now(t, state) -> trajectory, time along it, and where the
            joints should be (nq,); in place of the trajectory.
        starts_moving: Whether the run begins with the velocity of the trajectory, too; else at rest.
        world: The world of the run where the planner chose it; that of the scenario if None.
    """

    trajectory: Trajectory
    metrics: Mapping[str, Any] = field(default_factory=dict)
    trouble: str | None = None
    curves: tuple[Plot, ...] = ()
    judge: Callable[[Robot, Log], Findings] | None = None
    feedback: Callable[[float, Array, Array], Array] | None = None
    files: Mapping[str, Callable[[Path], None]] = field(default_factory=dict)
    now: Callable[[float, State], tuple[Trajectory, float, Array]] | None = None
    starts_moving: bool = False
    world: World | None = None

    @property
    def start(self) -> State:
        """Where the run begins."""
        motion = self.trajectory
        v = np.asarray(motion.with_velocities().v)[0]
        return State(0.0, motion.q[0], v if self.starts_moving else np.zeros_like(v))


class Planned:
    """A controller that follows a plan."""

    plan: Plan


class PlannedFollower(Planned, TrajectoryFollower):
    """Follows the trajectory of a plan.

    Args:
        robot: The robot.
        plan: The plan.
        servos: Whether the drives hear positions alone; these then go ahead by what the servos will fall behind.
        **gains: As in `TrajectoryFollower`.
    """

    def __init__(self, robot: Robot, plan: Plan, servos: bool = False, **gains: float) -> None:
        super().__init__(robot, plan.trajectory, **gains)
        self.plan, self._lead = plan, ServoLead(robot) if servos else None

    def command(self, t: float, state: State) -> Command:
        """As in `TrajectoryFollower`; a plan with feedback replaces the joint springs while it lasts."""
        if self.plan.now is not None:
            self.trajectory, along, q = self.plan.now(t, state)
            found = replace(super().command(along, state), position=self._positions.of(q))
        else:
            found = super().command(t, state)
        feedback = self.plan.feedback
        if self._lead is not None:
            found = self._lead.added_to(found)
        if feedback is None or t > self.plan.trajectory.end:
            return found
        torque = np.asarray(found.torque) + feedback(t, np.asarray(state.q), np.asarray(state.v))
        none = np.zeros(self.robot.nu)
        return replace(found, torque=np.clip(torque, -self._limits, self._limits), kp=none, kd=none)


class ServoLead:
    """Where to send hobby servos so that they end up at a position: they sag under torque, and lag behind a rate.

        Δq = (τ + d q̇) / k + dead band, towards τ        [plan.servo-lead]

    Args:
        robot: The robot; each drive has a servo stiffness.
    """

    def __init__(self, robot: Robot) -> None:
        self._stiffness, self._damping, self._band = (
            np.array([getattr(drive, name) for drive in robot.drives])
            for name in ("servo_stiffness", "servo_damping", "servo_dead_band")
        )

    def added_to(self, command: Command) -> Command:
        """The command with its positions ahead.

        Args:
            command: Torques, positions and rates that are wanted.
        """
        force = np.asarray(command.torque) + self._damping * np.asarray(command.velocity)
        band = self._band * np.tanh(force / np.maximum(self._stiffness * self._band, 1e-9))
        return replace(command, position=np.asarray(command.position) + force / self._stiffness + band)


def plan_of(controller: object) -> Plan | None:
    """The plan that a controller follows; None if it does not follow one."""
    return controller.plan if isinstance(controller, Planned) else None


Planner = Callable[[MotionTable, Robot, World], Plan]
"""From the table, the robot and the world to a plan."""
