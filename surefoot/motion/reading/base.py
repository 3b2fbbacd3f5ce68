"""The pose and velocity of a floating base in arrays by name: fields of its own, whole states, or bodies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ShapeError
from surefoot.motion.reading.names import find_key
from surefoot.motion.reading.parts import finite_table
from surefoot.robot import Robot
from surefoot.spatial import quaternion

Arrays = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class BaseFields:
    """The base as fields of layout ros.

    Args:
        data: base_position, base_orientation (in the order of the file), base_linear, base_angular, as far as there.
        unsure: Whether the order of the quaternion is a guess.
        remarks: What was read how.
    """

    data: dict[str, Array]
    unsure: bool
    remarks: list[str]


def base_fields(robot: Robot, arrays: Arrays) -> BaseFields:
    """The base of a robot from arrays by name; nothing for a fixed one.

    Raises:
        FileFormatError: There is no base.
        ShapeError: An array has another shape.
    """
    if robot.base_joint is None:
        return BaseFields({}, False, [])
    if (key := find_key("base_state", arrays)) is not None:
        return _from_state(arrays, key)
    fields = ("base_position", "base_orientation", "base_linear", "base_angular")
    keys = {what: find_key(what, arrays) for what in fields}
    if keys["base_position"] is None and find_key("body_positions", arrays) is not None:
        return _from_bodies(robot, arrays)
    data = {what: finite_table(arrays[key], key) for what, key in keys.items() if key is not None}
    remarks = [f"base: {', '.join(f'`{key}`' for key in keys.values() if key is not None)}"]
    is_vector = data.get("base_orientation", np.zeros(0)).shape[1:] == (3,)
    if is_vector:
        # (n, 4) quaternions xyzw of rotation vectors (n, 3)
        data["base_orientation"] = np.array([quaternion.exp(vector) for vector in data["base_orientation"]])
        remarks.append(f"`{keys['base_orientation']}` is read as rotation vectors (axis × angle)")
    if missing := [what for what in fields[:2] if what not in data]:
        raise FileFormatError(
            f"`{robot.name}` has a floating base, but the file has no {' and no '.join(missing)}",
            evidence={"found": ", ".join(arrays), "expected": "root_pos (n, 3) and root_quat (n, 4), or qpos (n, nq)"},
            next_step="record the base as well, or audit the robot with a fixed base",
        )
    for what, width in zip(fields, (3, 4, 3, 3), strict=True):
        if what in data and data[what].shape[1:] != (width,):
            raise ShapeError(f"`{keys[what]}` has shape {data[what].shape}, expected (n, {width})")
    return BaseFields(data, not is_vector, remarks)


def _from_bodies(robot: Robot, arrays: Arrays) -> BaseFields:
    """The base as the body of its name, or the first of the bodies that Isaac Lab records: quaternions wxyz.

    Their linear velocities are those of centres of mass; that of the base is computed from its positions instead.
    """
    keys = [find_key(what, arrays) for what in ("body_positions", "body_orientations")]
    position, turn = (np.asarray(arrays[key]) if key is not None else np.zeros(0) for key in keys)
    expected = (*position.shape[:2], 3), (*position.shape[:2], 4)
    if position.ndim != 3 or not position.shape[1] or (position.shape, turn.shape) != expected:
        raise ShapeError(
            f"`{keys[0]}` has shape {position.shape} and `{keys[1] or 'body_quat_w'}` {turn.shape},"
            " expected (n, bodies, 3) and (n, bodies, 4)"
        )
    key, own = find_key("body_names", arrays), robot.tree.body_names[robot.base_joint or 0]
    names = [] if key is None else [str(name) for name in np.asarray(arrays[key]).ravel()]
    at = names.index(own) if own in names[: position.shape[1]] else 0
    data = {
        "base_position": finite_table(position[:, at], f"{keys[0]}[:, {at}]"),
        "base_orientation": np.roll(finite_table(turn[:, at], f"{keys[1]}[:, {at}]"), -1, axis=1),
    }
    which = f"body `{own}`" if own in names else "the first body"
    return BaseFields(data, False, [f"base: {which} of `{keys[0]}` and `{keys[1]}` (wxyz)"])


def _from_state(arrays: Arrays, key: str) -> BaseFields:
    """One array: position, quaternion, linear and angular velocity."""
    state = finite_table(arrays[key], key)
    if state.ndim != 2 or state.shape[1] not in (7, 13):
        raise ShapeError(
            f"`{key}` has shape {state.shape}, expected (n, 7) or (n, 13): position, quaternion, velocities"
        )
    data = {"base_position": state[:, :3], "base_orientation": state[:, 3:7]}
    if state.shape[1] == 13:
        data |= {"base_linear": state[:, 7:10], "base_angular": state[:, 10:]}
    return BaseFields(data, True, [f"base: `{key}`"])
