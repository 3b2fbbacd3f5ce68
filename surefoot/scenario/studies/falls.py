"""Why a legged robot fell: the first sign of trouble about when it lost its balance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from surefoot.motion import Log
from surefoot.report import spans
from surefoot.robot import Robot, anatomy

_OFF = 0.06  # a DCM that is that far off its reference for good is lost, share of the height of the centre of mass
_TILTED = np.deg2rad(20.0)  # a base that is tilted more for good has lost its balance
_STEADY = 0.25  # a robot that is fine for less has not recovered [s]
_BEFORE, _AFTER = 0.5, 0.15  # signs about the loss of balance that count [s]
_SLIP = 0.02  # a foot that slid that far slipped [m]
_LATE = 0.15  # a foot that touches down later than that is late [s]
_FULL, _LONG = 0.98, 0.1  # share of its torque at which a drive has no more to give, and how long that matters [s]
_HARD = 0.2  # a touch of itself that pushes that hard matters, share of the weight
_WORDS = {
    "torque_limit": "torque limit of {}",
    "position_limit": "joint limit of {}",
    "self_collision": "self-collision of {}",
    "obstacle_touch": "touch of {}",
}


def fall_cause(robot: Robot, log: Log) -> str | None:
    """The most likely cause of a fall, from incidents and the controller's columns; None without a fall.

    A fall is noticed late, when everything has gone wrong. So the signs about the time at which the robot lost its
    balance count, and the first of them is named: a slip, a swing foot that hits something or is late, a limit of a leg
    or the trunk, a self-collision, a capture point out of reach, a problem without solution; without a sign, what went
    wrong first, the capture point or the tilt of the trunk. A push is named with it.

    Args:
        robot: The robot.
        log: Of a walk, or of a robot that balances.
    """
    fall = log.metadata["fall_time_s"]
    if fall is None:
        return None
    lost = balance_lost(log, fall)
    start, end = lost - _BEFORE, min(lost + _AFTER, fall)
    signs = [*_incidents(robot, log, start, end), *_drives(robot, log, start, end), *_columns(log, start, end)]
    otherwise = "capture point out of reach" if _is_off(log, lost, fall) else "trunk tilted over"
    _, cause = min(signs, default=(lost, otherwise))
    push = _push(log, start, end)
    return f"{cause} after a push of {push:.1f} N s" if push > 0.0 else cause


def balance_lost(log: Log, fall: float) -> float:
    """When the robot lost its balance: since then, its DCM is off or its base is tilted, but for moments [s].

    Args:
        log: Of a walk.
        fall: When it fell [s].
    """
    time = np.asarray(log.time)
    error = np.linalg.norm(log["control.dcm"] - log["control.dcm_reference"], axis=1)
    fine = (error < _OFF * log["com.height"][0]) & (np.asarray(log["base.tilt"]) < _TILTED) & (time < fall)
    lasting = [end for start, end in spans(time, fine) if end - start >= _STEADY]
    return min(lasting[-1], fall) if lasting else float(time[0])


def _is_off(log: Log, lost: float, fall: float) -> bool:
    """Whether the DCM went away in the fall."""
    row = int(np.searchsorted(log.time, 0.5 * (lost + fall)))
    return bool(np.linalg.norm(log["control.dcm"][row] - log["control.dcm_reference"][row]) > 0.02)


def _incidents(robot: Robot, log: Log, start: float, end: float) -> Iterator[tuple[float, str]]:
    """Signs among the incidents that happened in a time."""
    inner, weight = _inner_joints(robot), robot.mass * float(np.linalg.norm(robot.tree.gravity))
    for item in log.metadata["incidents"]:
        kind, where = item["kind"], item["where"]
        if item["end"] < start or item["start"] > end:
            continue
        when = max(item["start"], start)
        if kind == "slip" and item["worst"] > _SLIP:
            yield when, _slip(robot, log, item)
        elif kind in _WORDS and (where in inner if kind.endswith("_limit") else item["worst"] > _HARD * weight):
            yield when, _WORDS[kind].format(where)


def _drives(robot: Robot, log: Log, start: float, end: float) -> Iterator[tuple[float, str]]:
    """Drives of legs and trunk that gave all that they can: whole-body control stays just below their limits."""
    time, tree = np.asarray(log.time), robot.tree
    full = np.abs(log["tau"]) >= _FULL * robot.limits.effort[robot.driven]
    for joint in _inner_joints(robot):
        columns = np.flatnonzero(robot.driven == tree.v_index[robot.joint_index(joint)])
        flags = full[:, columns].any(axis=1) & (time <= end)
        for since, until in spans(time, flags):
            if until - since >= _LONG and until >= start:
                yield max(since, start), _WORDS["torque_limit"].format(joint)


def _slip(robot: Robot, log: Log, item: dict[str, Any]) -> str:
    """A slip of a foot that stands, or of one that should be in the air."""
    row = min(int(np.searchsorted(log.time, item["start"])), len(log) - 1)
    swings = False
    if "control.support" in log.columns and log["control.phase"][row] == 2.0:
        swings = item["where"] not in anatomy(robot).feet[int(log["control.support"][row])].contacts
    return f"swing foot {item['where']} hit the ground" if swings else f"slip of {item['where']}"


def _inner_joints(robot: Robot) -> set[str]:
    """Joints of the legs and of the trunk: an arm at its limit does not fell a robot."""
    tree, found = robot.tree, anatomy(robot)
    ends = [robot.body_of(link) for link in (*(foot.link for foot in found.feet), found.torso)]
    return {tree.joint_names[body] for end in ends for body in (end, *tree.ancestors(end))}


def _columns(log: Log, start: float, end: float) -> Iterator[tuple[float, str]]:
    """Signs in what the controller logged."""
    time = np.asarray(log.time)
    recent = (time >= start) & (time <= end)
    failed = np.diff(np.asarray(log["control.fallbacks"]), prepend=0.0) > 0.0
    late = np.asarray(log["control.late"]) if "control.late" in log.columns else np.zeros(len(time))
    for flags, text in (
        (np.asarray(log["control.capturable"]) == 0.0, "capture point out of reach"),
        (late > _LATE, "late touch-down"),
        (failed, "whole-body problem without solution"),
    ):
        rows = np.flatnonzero(recent & flags)
        if len(rows):
            yield float(time[rows[0]]), text


def _push(log: Log, start: float, end: float) -> float:
    """Impulse of pushes in a time [N s]."""
    time = np.asarray(log.time)
    recent = (time >= start) & (time <= end)
    force = np.asarray(log["push.force"])[recent]
    return float(np.linalg.norm(np.trapezoid(force, time[recent], axis=0))) if recent.sum() > 1 else 0.0
