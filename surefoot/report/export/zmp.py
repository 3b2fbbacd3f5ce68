"""The zero moment point of a motion, from its contact wrenches or, without these, from its accelerations."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.errors import NotSupportedError
from surefoot.motion import Trajectory
from surefoot.report.evidence import Evidence, with_layers
from surefoot.report.scene import poses
from surefoot.robot import Robot

_LONGEST_GAP = 0.03  # [s] without load that is bridged: the first tick of a simulation has no forces yet


def zmp_of_motion(trajectory: Trajectory, robot: Robot) -> tuple[Array, tuple[str, ...]]:
    """The zero moment point (n, 3) in world [m], and remarks on how it was found.

    Args:
        trajectory: The motion of a robot with a floating base.
        robot: The robot.

    Raises:
        NotSupportedError: There are neither wrenches nor velocities, or nothing carries the robot for a while.
    """
    if any(np.any(wrench) for wrench in trajectory.wrenches.values()):
        evidence = Evidence("", robot, trajectory.time, trajectory.q, wrenches=trajectory.wrenches)
        found = with_layers(evidence).zmp
        return _bridged(trajectory.time, found if found is not None else np.full((len(trajectory), 3), np.nan))
    zmp, notes = _by_dynamics(trajectory, robot)
    bridged, more = _bridged(trajectory.time, zmp)
    return bridged, (*notes, *more)


def _by_dynamics(trajectory: Trajectory, robot: Robot) -> tuple[Array, tuple[str, ...]]:
    """From the wrench that must act on the base for the motion to happen, on the level of the lowest contact.

    The first six rows of the inverse dynamics are the sum of all outer forces in the base frame.
    """
    if trajectory.v is None or robot.base_joint is None:
        raise NotSupportedError(
            "the zero moment point needs contact wrenches, or velocities",
            next_step="use a motion with one of these, or export as .csv, .yaml or .mcap",
        )
    notes = ["ZMP computed from the motion at the height of the lowest contact"]
    a = trajectory.a
    if a is None:
        a = np.gradient(trajectory.v, trajectory.time, axis=0)
        notes.append("accelerations are finite differences of the velocities")
    T = poses(robot, trajectory.q)[:, robot.base_joint]
    rows = int(robot.tree.v_index[robot.base_joint]) + np.arange(6)
    needed = np.asarray(compile_robot(robot).rnea(trajectory.q, trajectory.v, a))[:, rows]
    net = sum_wrenches(needed[:, None], T[:, None])
    heights = contact_placements(robot, trajectory.q)[:, :, 2, 3]
    level = heights.min(axis=1) if heights.size else np.zeros(len(T))
    least = 0.01 * robot.mass * float(np.linalg.norm(robot.tree.gravity))
    point = np.column_stack([np.zeros((len(T), 2)), level])
    return zero_moment_point(net, point=point, least_load=least), tuple(notes)


def _bridged(time: Array, zmp: Array) -> tuple[Array, tuple[str, ...]]:
    """Without short gaps; a long one is refused."""
    known = np.asarray(np.isfinite(zmp).all(axis=1))
    if known.all():
        return zmp, ()
    # First row of each gap, and the row after it
    edges = np.flatnonzero(np.diff(np.concatenate([[True], known, [True]]).astype(int)))
    for start, end in [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]:
        length = float(time[min(end, len(time) - 1)] - time[start])
        if length > _LONGEST_GAP or not known.any():
            raise NotSupportedError(
                "the zero moment point is undefined while nothing supports the robot",
                evidence={"from [s]": float(time[start]), "until [s]": float(time[end - 1])},
                next_step="export only the part of the motion with ground contact, or export as .csv, .yaml or .mcap",
            )
    filled = np.column_stack([np.interp(time, time[known], column[known]) for column in zmp.T])
    return filled, (f"{int((~known).sum())} samples without load use the ZMP of their neighbours",)
