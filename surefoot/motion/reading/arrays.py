"""Motions in arrays by name: logs of simulators and learned policies, MuJoCo's qpos and qvel, our own layouts.

Key and width distinguish whole states (`q`, `qpos`) from joints alone (`joint_pos`, `dof_pos`, …), which have the base
in arrays of its own (`root_pos`, `root_quat`, …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, one_of
from surefoot.motion.exchange import (
    LAYOUTS,
    ROS_KEYS,
    VECTOR_KEYS,
    column_names,
    layout_blocks,
    layout_sizes,
    rotate_back,
)
from surefoot.motion.reading.names import ALIASES, find_key, matched_joints, plain_key
from surefoot.motion.reading.parts import PUSH, MotionParts, finite_table
from surefoot.robot import Robot

__all__ = ["parts_of_arrays", "parts_of_matrix"]

Arrays = Mapping[str, Any]
_TARGETS = 0.5  # [rad]: commands that stay this near the positions are position targets, not torques


def parts_of_arrays(
    robot: Robot, arrays: Arrays, layout: str | None = None, joints: Sequence[str] | None = None
) -> MotionParts:
    """The parts of a motion that is stored as arrays by name.

    Args:
        robot: The robot.
        arrays: By key.
        layout: One of `exchange.LAYOUTS`; None to detect it by the keys.
        joints: Order of the joints, if the arrays do not give it.

    Raises:
        FileFormatError: The meaning of the arrays is unclear.
        ShapeError: They contradict the robot or each other.
    """
    if layout is not None and layout not in LAYOUTS:
        raise one_of("layout", layout, LAYOUTS)
    named = _names(arrays) or (None if joints is None else list(joints))
    states = _states(robot, arrays, layout, named)
    if layout == "ros" or (
        layout is None and set(arrays) & {"base_orientation", "multi_dof_names"} and _is_ros(arrays)
    ):
        parts = MotionParts(
            "ros", {k: v for k, v in arrays.items() if k in ROS_KEYS}, _tuple(joints), remarks=("layout ros",)
        )
    elif states is not None:
        parts = states
    else:
        parts = _joints_and_base(robot, arrays, named)
    return _with_efforts(robot, arrays, parts, named)


def parts_of_matrix(
    robot: Robot, numbers: Array, layout: str | None = None, joints: Sequence[str] | None = None
) -> MotionParts:
    """The parts of a motion that is one matrix without names: (time,) positions (, velocities) in every row.

    Args:
        robot: The robot.
        numbers: (n, k).
        layout: One of the vector layouts; None to detect it by width and quaternions.
        joints: As in `parts_of_arrays`.

    Raises:
        FileFormatError: The width does not fit, or fits in several ways.
    """
    if layout is not None and layout not in VECTOR_KEYS:
        raise NotSupportedError(
            f"layout {layout} needs column names", next_step=f"use one of {', '.join(VECTOR_KEYS)}, or name the columns"
        )
    readings = []
    for name in VECTOR_KEYS if layout is None else (layout,):
        sizes = _sizes(robot, name, joints)
        if sizes is not None:
            readings += [(name, t, w) for t in (0, 1) for w in (0, sizes[1]) if t + sizes[0] + w == numbers.shape[1]]
    if layout is None:
        readings = _distinct(robot, numbers, readings, joints)
    if len(readings) != 1:
        raise _unclear_width(robot, numbers.shape[1], joints)
    name, t, w = readings[0]
    sizes = _sizes(robot, name, joints) or (0, 0)
    position, velocity = VECTOR_KEYS[name]
    data = {position: numbers[:, t : t + sizes[0]]} | ({velocity: numbers[:, t + sizes[0] :]} if w else {})
    remark = (
        f"no column names: read as {'time, ' if t else ''}{position}{f', {velocity}' if w else ''} of layout {name}"
    )
    return MotionParts(
        name, data, _tuple(joints), numbers[:, 0] if t else None, unsure=layout is None, remarks=(remark,)
    )


def _distinct(
    robot: Robot, numbers: Array, readings: list[tuple[str, int, int]], joints: Sequence[str] | None
) -> list[tuple[str, int, int]]:
    """Of readings that differ in the place of the quaternion, those with quaternions; of xyzw and wxyz, the first."""
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        return readings[:1]
    kept: list[tuple[str, int, int]] = []
    for name, t, w in readings:
        at = t + (0 if name == "drake" else 3)
        length = np.linalg.norm(numbers[:, at : at + 4], axis=1)
        same_place = any(other != "drake" and name != "drake" and other_t == t for other, other_t, _ in kept)
        if np.median(np.abs(length - 1.0)) < 0.05 and not same_place:
            kept.append((name, t, w))
    return kept or readings


def _unclear_width(robot: Robot, width: int, joints: Sequence[str] | None) -> FileFormatError:
    expected = {}
    for name in VECTOR_KEYS:
        if (sizes := _sizes(robot, name, joints)) is not None:
            expected[name] = f"{sizes[0]} positions, {sizes[1]} velocities, optionally with the time first"
    return FileFormatError(
        f"{width} columns without names do not match one layout",
        evidence={f"layout {name}": text for name, text in expected.items()},
        next_step="give --layout, or name the columns",
    )


def _sizes(robot: Robot, layout: str, joints: Sequence[str] | None) -> tuple[int, int] | None:
    try:
        return layout_sizes(robot, layout, joints)
    except NotSupportedError:
        return None


def _tuple(names: Sequence[str] | None) -> tuple[str, ...] | None:
    return None if names is None else tuple(names)


def _names(arrays: Arrays) -> list[str] | None:
    key = find_key("names", (k for k, x in arrays.items() if np.asarray(x).dtype.kind in "US"))
    if key is None:
        return None
    return [
        text.decode() if isinstance(text, bytes) else str(text) for text in np.asarray(arrays[key]).ravel().tolist()
    ]


def _is_ros(arrays: Arrays) -> bool:
    """Whether the keys are those of layout ros and nothing is named differently."""
    used = {key for key in arrays if plain_key(key) not in (*ALIASES["time"], *ALIASES["torques"], *ALIASES["rate"])}
    return used <= set(ROS_KEYS) and "position" in used


def _states(robot: Robot, arrays: Arrays, layout: str | None, named: Sequence[str] | None) -> MotionParts | None:
    """Whole states in one array; None where there are none."""
    key = find_key("states", arrays)
    if key is None or layout == "ros":
        return None
    values = finite_table(arrays[key], key)
    if values.ndim == 1:
        raise ShapeError(
            f"`{key}` has shape {values.shape}, expected (n, entries)", next_step="give one row per sample"
        )
    if plain_key(key) == "arr_0" and len(arrays) == 1:
        return parts_of_matrix(robot, values, layout, named)
    name = layout or ("mujoco" if plain_key(key) == "qpos" else "pinocchio")
    if name not in VECTOR_KEYS:
        return None
    order = _whole_order(robot, named)
    sizes = _sizes(robot, name, order)
    alone = find_key("base_position", arrays) or find_key("base_state", arrays)
    if (sizes is None or values.shape[1] != sizes[0]) and alone and layout is None:
        return None  # `q` of the joints, and the base beside it
    position, velocity = VECTOR_KEYS[name]
    data = {position: values}
    remarks = [f"`{key}` is read as layout {name}"]
    filled: tuple[str, ...] = ()
    if (rates := find_key("rates", arrays) or find_key("velocities", arrays)) is not None:
        data[velocity], filled = _whole_rates(robot, name, order, finite_table(arrays[rates], rates))
        remarks += [f"`{rates}` is read as velocities of the joints"] if filled else []
    return MotionParts(name, data, _tuple(order), filled=filled, remarks=tuple(remarks))


def _whole_rates(robot: Robot, layout: str, order: Sequence[str] | None, rates: Array) -> tuple[Array, tuple[str, ...]]:
    """Velocities of whole states; where those of the base are missing with zeros, and the base to be filled in."""
    base = robot.base_joint
    block = None if base is None else next(b for b in layout_blocks(robot, layout, order) if b.joint == base)
    sizes = _sizes(robot, layout, order)
    if block is None or sizes is None or rates.ndim != 2:
        return rates, ()
    place = block.in_layout[1]
    if rates.shape[1] != sizes[1] - (place.stop - place.start):
        return rates, ()
    return np.insert(rates, [place.start] * (place.stop - place.start), 0.0, axis=1), (block.name,)


def _whole_order(robot: Robot, named: Sequence[str] | None) -> list[str] | None:
    """The order of the joints of whole states."""
    if named is None:
        return None
    joints, _ = matched_joints(robot, named)
    return [joint for joint in joints if joint is not None]


def _joints_and_base(robot: Robot, arrays: Arrays, named: Sequence[str] | None) -> MotionParts:
    """Positions of the joints alone, and the base beside them."""
    key = find_key("positions", arrays) or find_key("states", arrays)
    if key is None:
        raise _unknown(arrays)
    single = [name for name, _ in column_names(robot, "csv")[0] if name in robot.joint_names]
    names = list(named) if named is not None else single
    values = finite_table(arrays[key], key, names)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ShapeError(
            f"`{key}` has shape {values.shape}, `{robot.name}` has {len(names)} joints"
            + ("" if named is None else " named in the file"),
            next_step="store the names in `joint_names`, or give their order with --joints",
        )
    joints, remarks = matched_joints(robot, names)
    keep = [k for k, joint in enumerate(joints) if joint is not None]
    remarks.append(f"`{key}` is read as joint positions" + ("" if named is not None else ", in the robot's order"))
    data: dict[str, Any] = {"joint_names": [joints[k] for k in keep], "position": values[:, keep]}
    rates = find_key("velocities", arrays) or find_key("rates", arrays)
    if rates is not None and np.shape(arrays[rates]) == values.shape:
        data["velocity"] = finite_table(arrays[rates], rates, names)[:, keep]
    elif rates is not None:
        remarks.append(f"`{rates}` is ignored: its shape is {np.shape(arrays[rates])}, expected {values.shape}")
    base = _base_fields(robot, arrays)
    data |= base.data
    data, filled = _completed(robot, data)
    return MotionParts("ros", data, filled=filled, unsure=base.unsure, remarks=(*remarks, *base.remarks))


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


def _base_fields(robot: Robot, arrays: Arrays) -> _BaseFields:
    """The base of a robot from arrays by name; nothing for a fixed one."""
    if robot.base_joint is None:
        return _BaseFields({}, False, [])
    if (key := find_key("base_state", arrays)) is not None:
        return _from_state(arrays, key)
    fields = ("base_position", "base_orientation", "base_linear", "base_angular")
    keys = {what: find_key(what, arrays) for what in fields}
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


def _from_state(arrays: Arrays, key: str) -> _BaseFields:
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


def _completed(robot: Robot, data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """With zeros for velocities that are missing while others are given, and the joints that these are of."""
    twist = () if robot.base_joint is None else ("base_linear", "base_angular")
    with_base, with_joints = all(key in data for key in twist), "velocity" in data
    if not with_joints and not (twist and with_base):
        return {key: values for key, values in data.items() if key not in twist}, ()
    n = len(data["position"])
    if not with_joints:
        return {**data, "velocity": np.zeros_like(data["position"])}, tuple(_own_joints(robot))
    if with_base:
        return data, ()
    return data | {key: np.zeros((n, 3)) for key in twist}, (robot.joint_names[robot.base_joint or 0],)


def _own_joints(robot: Robot) -> list[str]:
    """Joints but the base that move on their own."""
    tree = robot.tree
    return [tree.joint_names[i] for i in range(tree.n) if i != robot.base_joint and tree.mimic_source[i] < 0]


def _unknown(arrays: Arrays) -> FileFormatError:
    wanted = [*ALIASES["states"][:2], *ALIASES["positions"][:1], "dof_pos"]
    shapes = ", ".join(f"{key} {np.shape(value)}" for key, value in list(arrays.items())[:20])
    return FileFormatError(
        "contains no positions under a known name",
        evidence={"found": shapes or "nothing", "expected": ", ".join(wanted) + ", …"},
        next_step="rename the array of positions to `qpos` (MuJoCo), `q` (Pinocchio) or `joint_pos` with `joint_names`",
    )


def _with_efforts(robot: Robot, arrays: Arrays, parts: MotionParts, named: Sequence[str] | None) -> MotionParts:
    """With torques, accelerations and contact wrenches."""
    remarks = list(parts.remarks)
    tau = None
    key = find_key("torques", arrays) or find_key("commands", arrays)
    if key is not None:
        values = finite_table(arrays[key], key)
        if key == find_key("commands", arrays) and _are_targets(robot, parts, values):
            remarks.append(f"`{key}` follows the positions: read as position targets, not torques")
        else:
            tau = _driven(robot, values, key, named)
            remarks.append(f"`{key}` is read as torques")
    a, remark = _accelerations(robot, arrays, parts)
    remarks += [remark] if remark else []
    wrenches = {}
    for name in robot.contacts:
        for key in (f"wrenches/{name}", f"wrench_{name}", f"wrench.{name}", f"contact.{name}.wrench"):
            if key in arrays:
                wrenches[name] = finite_table(arrays[key], key)
    references = {PUSH: finite_table(arrays[PUSH], PUSH)} if np.shape(arrays.get(PUSH, 0.0))[1:] == (3,) else {}
    remarks += [f"`{PUSH}` is read as a push on the robot"] if references else []
    return replace(parts, tau=tau, a=a, wrenches=wrenches, references=references, remarks=tuple(remarks))


def _are_targets(robot: Robot, parts: MotionParts, commands: Array) -> bool:
    """Whether commands are positions that the joints follow."""
    key = VECTOR_KEYS[parts.layout][0] if parts.layout in VECTOR_KEYS else "position"
    positions = np.asarray(parts.data[key])[:, -commands.shape[1] :] if commands.ndim == 2 else np.zeros(0)
    return positions.shape == commands.shape and float(np.median(np.abs(commands - positions))) < _TARGETS


def _driven(robot: Robot, values: Array, key: str, named: Sequence[str] | None) -> Array:
    """(n, nu) from torques at the driven joints, at all listed joints, or at all degrees of freedom."""
    width = values.shape[1] if values.ndim == 2 else 0
    drives = [drive.joint for drive in robot.drives]
    if named is not None and width == len(named):
        joints, _ = matched_joints(robot, named)
        if all(joint in joints for joint in drives):
            return values[:, [joints.index(joint) for joint in drives]]
    if width == robot.nu:
        return values
    if width == robot.nv:
        return values[:, robot.driven]
    raise ShapeError(
        f"`{key}` has shape {values.shape}, `{robot.name}` has {robot.nu} drives and {robot.nv} degrees of freedom",
        next_step="store one column per driven joint, or name the columns",
    )


def _accelerations(robot: Robot, arrays: Arrays, parts: MotionParts) -> tuple[Array | None, str]:
    """Accelerations in Pinocchio's layout where they can be had; of MuJoCo's free joint from world to body axes."""
    key = find_key("accelerations", arrays)
    if key is None:
        return None, ""
    values = finite_table(arrays[key], key)
    plain = parts.joints is None and values.shape == (len(values), robot.nv)
    if plain and (parts.layout == "pinocchio" or robot.base_joint is None):
        return values, f"`{key}` is read as accelerations"
    if (
        plain
        and parts.layout == "mujoco"
        and robot.tree.kinds[robot.base_joint or 0] == "free"
        and "qvel" in parts.data
    ):
        return _from_mujoco(robot, parts, values), f"`{key}` is read as accelerations"
    return None, f"`{key}` is ignored: accelerations in this layout are not supported"


def _from_mujoco(robot: Robot, parts: MotionParts, values: Array) -> Array:
    """The acceleration of the base from d/dt of (v in world, ω in body axes) to d/dt of the body twist."""
    at = int(robot.tree.v_index[robot.base_joint or 0])
    turn = np.asarray(parts.data["qpos"])[:, [at + 4, at + 5, at + 6, at + 3]]
    turn = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    rate = np.asarray(parts.data["qvel"])
    out = values.copy()
    body = rotate_back(turn, rate[:, at : at + 3])
    out[:, at : at + 3] = rotate_back(turn, values[:, at : at + 3]) - np.cross(rate[:, at + 3 : at + 6], body)
    return out
