"""Replay of a motion in MuJoCo: joint feedback along it, its torques as feed-forward, nothing that balances."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control import TrajectoryFollower
from surefoot.errors import NotSupportedError
from surefoot.feasibility.case import Case
from surefoot.feasibility.replay_touches import touch_notes
from surefoot.motion import Log, Replay, State, Trajectory
from surefoot.robot import Robot
from surefoot.sim import StoppedError, simulate

__all__ = ["replayed"]

_STEP = 0.002  # [s]
_PASSES = "links pass through each other"


def replayed(case: Case) -> Replay:
    """Replay a motion, from its first state to its end or to the fall of the robot.

    Args:
        case: The motion.
    """
    motion, robot = _followable(case), case.given_robot
    note = "joint feedback, torques as feed-forward" if motion.tau is not None else "joint feedback, weight carried"
    try:
        follower = TrajectoryFollower(robot, motion)
    except NotSupportedError as error:
        return Replay("mujoco", False, 0.0, np.zeros(0), np.zeros(0), np.zeros(0), f"not done: {error.message}")
    first = State(0.0, motion.q[0], case.v[0])
    try:
        log = simulate(
            robot, follower, case.world, motion.duration, "mujoco", dt=_STEP, control_dt=_STEP, initial=first
        )
    except StoppedError as error:
        log, note = error.log, f"{note}; stopped: {error.message}"
    start = case.trajectory.start
    return _compared(robot, motion, log, start, "; ".join([note, _PASSES, *touch_notes(case, log)]))


def _followable(case: Case) -> Trajectory:
    """The motion from time 0, with velocities, torques where they are known throughout, and contacts."""
    given, tau = case.trajectory, case.efforts.tau
    moved = replace(given, schedule=case.touch.schedule, wrenches={}, references={})
    schedule = None if moved.schedule is None else moved.schedule.shifted(-given.start)
    known = bool(np.isfinite(tau).all()) and tau.shape[1] == case.robot.nu
    time = given.time - given.start
    return replace(moved, time=time, v=case.v, a=case.efforts.demand.a, tau=tau if known else None, schedule=schedule)


def _compared(robot: Robot, motion: Trajectory, log: Log, start: float, note: str) -> Replay:
    """How far the robot was from the motion while it stood."""
    fell = log.metadata.get("fall_time_s")
    until = float(log.time[-1]) if fell is None else float(fell)
    rows = np.flatnonzero((log.time <= motion.end) & (log.time <= until))[::10]
    times = np.asarray(log.time)[rows]
    wanted = motion.resample(times).q
    errors = _differences(robot, wanted, np.asarray(log["q"])[rows])
    base = (
        np.linalg.norm(errors[:, robot.base_rows[:3]], axis=1) if len(robot.base_rows) else np.full(len(rows), np.nan)
    )
    joints = np.abs(np.delete(errors, robot.base_rows, axis=1)).max(axis=1, initial=0.0)
    survived = fell is None and until >= motion.end - 2.0 * _STEP
    return Replay("mujoco", survived, until + start, times + start, base, joints, note)


def _differences(robot: Robot, wanted: Array, found: Array) -> Array:
    steps = [pin.difference(robot.model, a, b) for a, b in zip(wanted, found, strict=True)]
    return np.array(steps).reshape(-1, robot.nv)
