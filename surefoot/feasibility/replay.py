"""Replay of a motion in MuJoCo: joint feedback along it, its torques as feed-forward, nothing that balances.

Notes report which obstacles the robot hits, and which ones the replay does not show as described.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin

from surefoot.collision import ExactCollision
from surefoot.control import TrajectoryFollower
from surefoot.errors import NotSupportedError
from surefoot.feasibility.case import Case
from surefoot.feasibility.efforts import Efforts
from surefoot.feasibility.rates import Rates
from surefoot.feasibility.touch import Touch
from surefoot.geometry import Mesh
from surefoot.motion import Log, Replay, State, Trajectory
from surefoot.robot import Robot
from surefoot.sim import StoppedError, simulate

_STEP = 0.002  # [s]
_LONGEST = 60.0  # [s]: a replay takes about as long as the motion
_PASSES = "links pass through each other"


def replay_motion(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> Replay:
    """Replay a motion, from its first state to its end or to the fall of the robot; of long ones the beginning."""
    motion, robot = _followable(case, rates, touch, efforts), case.given_robot
    note = (
        "joint feedback with feed-forward torques"
        if motion.tau is not None
        else "joint feedback with torques that carry the weight"
    )
    try:
        follower = TrajectoryFollower(robot, motion)
    except NotSupportedError as error:
        return Replay("mujoco", False, 0.0, np.zeros(0), np.zeros(0), np.zeros(0), f"not done: {error.message}")
    first = State(0.0, motion.q[0], rates.v[0])
    duration = min(motion.duration, _LONGEST)
    if duration < motion.duration:
        note = f"{note}; only the first {duration:g} s of {motion.duration:.4g} s"
    try:
        log = simulate(robot, follower, case.world, duration, "mujoco", dt=_STEP, control_dt=_STEP, initial=first)
    except StoppedError as error:
        log, note = error.log, f"{note}; stopped: {error.message}"
    start = case.trajectory.start
    return _compared(robot, motion, log, start, "; ".join([note, _PASSES, *_touch_notes(case, log)]))


def _followable(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> Trajectory:
    """The motion from time 0, with velocities, torques where they are known throughout, and contacts."""
    given, tau = case.trajectory, efforts.tau
    moved = replace(given, schedule=touch.schedule, wrenches={}, references={})
    schedule = None if moved.schedule is None else moved.schedule.shifted(-given.start)
    known = bool(np.isfinite(tau).all()) and tau.shape[1] == case.robot.nu
    time = given.time - given.start
    return replace(moved, time=time, v=rates.v, a=efforts.demand.a, tau=tau if known else None, schedule=schedule)


def _compared(robot: Robot, motion: Trajectory, log: Log, start: float, note: str) -> Replay:
    """How far the robot was from the motion while it stood."""
    fell = log.metadata.get("fall_time_s")
    until = float(log.time[-1]) if fell is None else float(fell)
    rows = np.flatnonzero((log.time <= motion.end) & (log.time <= until))[::10]
    times = np.asarray(log.time)[rows]
    wanted = motion.resample(times).q
    steps = [pin.difference(robot.model, a, b) for a, b in zip(wanted, np.asarray(log["q"])[rows], strict=True)]
    errors = np.array(steps).reshape(-1, robot.nv)
    base = (
        np.linalg.norm(errors[:, robot.base_rows[:3]], axis=1) if len(robot.base_rows) else np.full(len(rows), np.nan)
    )
    joints = np.abs(np.delete(errors, robot.base_rows, axis=1)).max(axis=1, initial=0.0)
    survived = fell is None and until >= min(motion.end, _LONGEST) - 2.0 * _STEP
    return Replay("mujoco", survived, until + start, times + start, base, joints, note)


_EVERY = 0.01  # [s]: how often the robot is held against meshes
_TOUCH = 5e-4  # [m]: hulls that are nearer touch


def _touch_notes(case: Case, log: Log) -> list[str]:
    """Sentences about obstacles: who hit them, when first, how hard; and meshes that are replayed as their hulls."""
    hulls = [note for note in log.metadata.get("notes", ()) if "convex hull" in note]
    return [*_loads(case, log), *_touched_meshes(case, log), *hulls]


def _loads(case: Case, log: Log) -> list[str]:
    """Touches that the engine reported, of obstacles other than meshes."""
    start, found = case.trajectory.start, dict[str, tuple[float, float]]()
    for incident in log.metadata.get("incidents", ()):
        if incident["kind"] == "obstacle_touch":
            first, load = found.get(incident["where"], (incident["start"], 0.0))
            found[incident["where"]] = first, max(load, incident["worst"])
    return [
        f"contact between {where} from {first + start:.3f} s, up to {load:.3g} N"
        for where, (first, load) in found.items()
    ]


def _touched_meshes(case: Case, log: Log) -> list[str]:
    """Touches of obstacles that are meshes, by the distances of hulls, which is what the engine lets touch."""
    robot = case.robot
    links = list(dict.fromkeys(item.link for item in robot.collisions if robot.body_of(item.link) >= 0))
    meshes = [thing for thing in case.world.obstacles if isinstance(thing.shape, Mesh)]
    if not links or not meshes:
        return []
    exact = ExactCollision(robot, [(link, thing.name) for thing in meshes for link in links], obstacles=meshes)
    times = np.asarray(log.time)
    step = max(1, round(_EVERY * (len(times) - 1) / max(float(times[-1] - times[0]), _EVERY)))
    touching = exact.distances(np.asarray(log["q"])[::step]) <= _TOUCH
    start = case.trajectory.start
    return [
        f"contact between {link} and {name} from {times[::step][np.argmax(touching[:, k])] + start:.3f} s,"
        " by the distance of their hulls"
        for k, (link, name) in enumerate(exact.link_pairs)
        if touching[:, k].any()
    ]
