"""`retime`: the same way in another time."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.motion.exchange import joint_kinds, manifold
from surefoot.motion.stance import ContactSchedule, Phase
from surefoot.motion.timing.path import path_through
from surefoot.motion.timing.timing import PathLimits, time_path
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

_STILL = 1e-6  # steps that are shorter than this are no way [rad], [m]


def retime(robot: Robot, motion: Trajectory, limits: PathLimits | None = None, dt: float = 0.01) -> Trajectory:
    """The fastest motion from rest to rest along the way of another one, within limits.

    A spline through its samples is the path. The contact schedule follows the way; pauses are lost, and torques,
    wrenches and references, which belong to the old clock, are omitted.

    Args:
        robot: The robot.
        motion: Its motion; too fast or too slow.
        limits: Velocities, accelerations and others; by default the robot's velocities.
        dt: Step of the new motion [s].

    Raises:
        NotSupportedError: Nothing moves, or no speed keeps the limits; with the reason.
    """
    motion.require(robot)
    model = manifold(joint_kinds(robot))
    kept, time = [0], [0]
    for k in range(1, len(motion)):
        if np.linalg.norm(pin.difference(model, np.array(motion.q[kept[-1]]), np.array(motion.q[k]))) > _STILL:
            kept.append(k)
        time.append(len(kept) - 1)
    if len(kept) < 2:
        raise NotSupportedError("a motion without a way cannot be timed", evidence={"samples": len(motion)})
    path = path_through(robot, motion.q[kept])
    timing = time_path(path, limits)
    if not timing.success:
        raise NotSupportedError(f"the motion cannot be timed: {timing.cause}", next_step="relax a limit")
    places = path.curve.breaks[np.array(time)]
    moments = motion.start + np.interp(places, timing.s, timing.time)
    schedule = _mapped(motion, moments, motion.start + timing.duration)
    return timing.trajectory(dt, start=motion.start, schedule=schedule)


def _mapped(motion: Trajectory, moments: Array, end: float) -> ContactSchedule | None:
    """The schedule in new time; phases that have become empty are omitted."""
    if motion.schedule is None:
        return None
    whole = motion.schedule.clipped(motion.start, motion.end)
    phases, at = [], motion.start
    for phase in whole.phases:
        until = end if phase is whole.phases[-1] else float(np.interp(phase.end, motion.time, moments))
        if until > at + 1e-9:
            phases.append(Phase(at, until, phase.stance))
            at = until
    return ContactSchedule(tuple(phases))
