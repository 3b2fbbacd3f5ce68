"""What can be told about a motion from its states and contact forces: centre of mass, ZMP, capture point, stances."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.motion import ContactSchedule
from surefoot.report.evidence import Evidence
from surefoot.robot import Robot

__all__ = ["capture_point", "contact_activity", "spans", "with_layers"]

Flags = NDArray[np.bool_]
_SHORTEST = 0.03  # [s]: shorter touches and shorter gaps between touches are not shown
_LEAST_LOAD = 0.01  # of the weight: a contact with less does not carry


def with_layers(evidence: Evidence) -> Evidence:
    """With centre of mass, ZMP and capture point where they are missing and can be told.

    Args:
        evidence: A motion; the ZMP needs wrenches, the capture point velocities and gravity.
    """
    robot = evidence.robot
    if robot.base != "floating" or robot.tree.n == 0:
        return evidence
    kernels = compile_robot(robot)
    com = np.asarray(kernels.com(evidence.q)) if evidence.com is None else evidence.com
    found: dict[str, Any] = {"com": com}
    frames = dict(zip(robot.contacts, contact_placements(robot, evidence.q).swapaxes(0, 1), strict=True))
    level = _level(robot, evidence.wrenches, frames, com)
    if evidence.zmp is None and any(np.any(w) for w in evidence.wrenches.values()):
        places = np.stack([frames[name] for name in evidence.wrenches], axis=1)
        net = sum_wrenches(np.stack(list(evidence.wrenches.values()), axis=1), places)
        point = np.column_stack([np.zeros((len(level), 2)), level])
        found["zmp"] = zero_moment_point(net, point=point, least_load=_LEAST_LOAD * _weight(robot))
    if evidence.capture_point is None and evidence.v is not None and _is_pulled_down(robot):
        velocity = np.asarray(kernels.bundle(["vcom"])(evidence.q, evidence.v)["vcom"])
        found["capture_point"] = capture_point(com, velocity, level, float(np.linalg.norm(robot.tree.gravity)))
    return replace(evidence, **found)


def capture_point(com: Array, velocity: Array, level: Array, gravity: float) -> Array:
    """Where a linear pendulum of the same height would come to rest, (n, 3) in world [m].

        ξ = c + ċ / ω,  ω² = g / (c_z − h)        Pratt et al. 2006

    Args:
        com: (n, 3) centre of mass [m].
        velocity: (n, 3) its velocity [m/s].
        level: (n,) h, height of the ground [m].
        gravity: g [m/s²].
    """
    height = com[:, 2] - level
    stands = height > 1e-3
    rate = np.sqrt(gravity / np.where(stands, height, 1.0))
    found = np.column_stack([com[:, :2] + velocity[:, :2] / rate[:, None], level])
    return np.where(stands[:, None], found, np.nan)


def contact_activity(evidence: Evidence) -> dict[str, Flags]:
    """When each contact carries: (n,) by contact, from the schedule or from the wrenches; empty if nobody knows.

    Args:
        evidence: A motion.
    """
    time = evidence.time
    if evidence.schedule is not None:
        return {name: _scheduled(evidence.schedule, name, time) for name in evidence.schedule.names}
    least = max(_LEAST_LOAD * _weight(evidence.robot), 1e-9)
    return {name: _settled(time, wrench[:, 2] > least) for name, wrench in evidence.wrenches.items()}


def spans(time: Array, flags: Flags) -> list[tuple[float, float]]:
    """Intervals (start, end) [s] in which flags hold.

    Args:
        time: (n,) [s].
        flags: (n,).
    """
    edges = np.flatnonzero(np.diff(np.concatenate([[False], flags, [False]]).astype(int)))
    last = len(time) - 1
    return [(float(time[a]), float(time[min(b, last)])) for a, b in edges.reshape(-1, 2)]


def _scheduled(schedule: ContactSchedule, name: str, time: Array) -> Flags:
    flags = np.zeros(len(time), dtype=bool)
    for start, end in schedule.active(name):
        flags |= (time >= start - 1e-9) & (time <= end + 1e-9)
    return flags


def _settled(time: Array, flags: Flags) -> Flags:
    """Without short gaps, then without short touches."""
    out = flags.copy()
    for value in (False, True):
        for start, end in spans(time, out == value):
            if end - start < _SHORTEST and start > time[0] and end < time[-1]:
                out[(time >= start) & (time < end)] = not value
    return out


def _level(robot: Robot, wrenches: Mapping[str, Array], placements: Mapping[str, Array], com: Array) -> Array:
    """Height of the contacts, each counted by its load (n,) [m]; while nothing is loaded, of the lowest one."""
    if not placements:
        return np.zeros(len(com))
    lowest = np.min([T[:, 2, 3] for T in placements.values()], axis=0)
    if not wrenches:
        return np.asarray(lowest)
    loads = {name: np.maximum(wrench[:, 2], 0.0) for name, wrench in wrenches.items()}
    total = np.sum(list(loads.values()), axis=0)
    mean = np.sum([load * placements[name][:, 2, 3] for name, load in loads.items()], axis=0)
    carried = total > _LEAST_LOAD * _weight(robot)
    return np.where(carried, mean / np.where(carried, total, 1.0), lowest)


def _weight(robot: Robot) -> float:
    return robot.mass * float(np.linalg.norm(robot.tree.gravity))


def _is_pulled_down(robot: Robot) -> bool:
    return bool(robot.tree.gravity[2] < -1e-3)
