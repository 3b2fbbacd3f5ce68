"""The floating base beside joint positions, as simulators and policies log it: pose, and velocities in some frame.

Velocities are taken in the axes, world or body, in which they match the differences of the pose.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ShapeError
from surefoot.motion.exchange import rotate, rotate_back
from surefoot.motion.reading.parts import finite_table
from surefoot.robot import Robot

__all__ = ["base_fields", "in_body_axes", "turning"]

_TELLS = 0.7  # the misfit in the right axes is this much smaller, or nothing tells


@dataclass(frozen=True, eq=False)
class _BaseFields:
    """The base as fields of layout ros.

    Args:
        data: base_position, base_orientation (in the order of the file), base_linear, base_angular, as far as there.
        unsure: Whether the order of the quaternion is a guess.
        remarks: What was read how.
    """

    data: dict[str, Array]
    unsure: bool
    remarks: list[str]


def base_fields(
    robot: Robot, arrays: Mapping[str, Any], find: Callable[[str, Iterable[str]], str | None]
) -> _BaseFields:
    """The base of a robot from arrays by name; nothing for a fixed one.

    Args:
        robot: The robot.
        arrays: By key.
        find: The key of a thing (`names.find_key`).

    Raises:
        FileFormatError: Position or orientation are missing.
    """
    if robot.base_joint is None:
        return _BaseFields({}, False, [])
    if (key := find("base_state", arrays)) is not None:
        return _from_state(arrays, key)
    fields = ("base_position", "base_orientation", "base_linear", "base_angular")
    keys = {what: find(what, arrays) for what in fields}
    data = {what: finite_table(arrays[key], key) for what, key in keys.items() if key is not None}
    if missing := [what for what in fields[:2] if what not in data]:
        raise FileFormatError(
            f"`{robot.name}` has a floating base, but the file has no {' and no '.join(missing)}",
            evidence={"found": ", ".join(arrays), "expected": "root_pos (n, 3) and root_quat (n, 4), or qpos (n, nq)"},
            next_step="record the base as well, or audit the robot with a fixed base",
        )
    for what, width in zip(fields, (3, 4, 3, 3), strict=True):
        if what in data and data[what].shape[1:] != (width,):
            raise ShapeError(f"`{keys[what]}` has shape {data[what].shape}, expected (n, {width})")
    return _BaseFields(data, True, [f"base: {', '.join(f'`{key}`' for key in keys.values() if key is not None)}"])


def _from_state(arrays: Mapping[str, Any], key: str) -> _BaseFields:
    """One array: position, quaternion, linear and angular velocity."""
    state = finite_table(arrays[key], key)
    if state.ndim != 2 or state.shape[1] not in (7, 13):
        raise ShapeError(
            f"`{key}` has shape {state.shape}, expected (n, 7) or (n, 13): position, quaternion, velocities"
        )
    data = {"base_position": state[:, :3], "base_orientation": state[:, 3:7]}
    if state.shape[1] == 13:
        data |= {"base_linear": state[:, 7:10], "base_angular": state[:, 10:]}
    return _BaseFields(data, True, [f"base: `{key}`"])


def in_body_axes(
    time: Array, pose: tuple[Array, Array, Array], linear: Array, angular: Array
) -> tuple[Array, Array, list[str]]:
    """Velocities of the base in body axes, and in which axes they were found to be.

    Args:
        time: (n,) [s].
        pose: Positions (n, 3) in world [m], unit quaternions xyzw (n, 4), and the rotation vectors (n − 1, 3) between
            samples in body axes [rad].
        linear: (n, 3) as given.
        angular: (n, 3) as given.
    """
    position, turn, turned = pose
    dt = np.diff(time)[:, None]
    moved, spun = np.diff(position, axis=0) / dt, turned / dt
    remarks = []
    if _fits_better(moved, linear, rotate(turn, linear)):
        linear = rotate_back(turn, linear)
        remarks.append("linear velocity of the base is in world axes")
    if _fits_better(spun, rotate_back(turn, angular), angular):
        angular = rotate_back(turn, angular)
        remarks.append("angular velocity of the base is in world axes")
    return linear, angular, remarks


def _fits_better(found: Array, one: Array, other: Array) -> bool:
    """Whether means between samples of the one velocity fit clearly better than those of the other."""
    if not len(found):
        return False
    misfits = [float(np.sum((found - 0.5 * (v[1:] + v[:-1])) ** 2)) for v in (one, other)]
    return misfits[0] < _TELLS * misfits[1]


def turning(turn: Array) -> Array:
    """(n − 1, 3) rotation vectors from each of the unit quaternions xyzw (n, 4) to the next, in body axes [rad]."""
    a, b = turn[:-1], turn[1:]
    vector = a[:, 3:] * b[:, :3] - b[:, 3:] * a[:, :3] - np.cross(a[:, :3], b[:, :3])
    cosine = np.sum(a * b, axis=1)
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(cosine)) * np.where(cosine < 0.0, -1.0, 1.0)
    return np.asarray(vector * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)[:, None])
