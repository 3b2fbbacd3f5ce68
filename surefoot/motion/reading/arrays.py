"""Motions in arrays by name: logs of simulators and learned policies, MuJoCo's qpos and qvel, our own layouts.

Key and width distinguish whole states (`q`, `qpos`) from joints alone (`joint_pos`, `dof_pos`, …), which have the base
in arrays of its own (`root_pos`, `root_quat`, …).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, one_of
from surefoot.motion.exchange import (
    LAYOUTS,
    ROS_KEYS,
    VECTOR_KEYS,
    from_layout,
    layout_blocks,
    layout_sizes,
    rotate_back,
    to_layout,
)
from surefoot.motion.reading.base import BaseFields, base_fields
from surefoot.motion.reading.joint_order import for_width, joint_orders, order_by_bodies, own_joints
from surefoot.motion.reading.names import (
    ALIASES,
    MISSING_STEP,
    OTHERS_STEP,
    find_key,
    matched_joints,
    plain_key,
    some_names,
)
from surefoot.motion.reading.parts import PUSH, MotionParts, finite_table, normalised
from surefoot.robot import Robot
from surefoot.words import counted

Arrays = Mapping[str, Any]
_UNIT = 0.05  # numbers whose length is this near 1 may be a quaternion
_CHANCE = 10.0  # times as far from 1 as of the best reading: numbers that have about that length by chance
_EXACT = 1e-4  # from 1: lengths of quaternions in files
_LOOKS = 5  # postures in which bodies are compared with links
_TARGETS = 0.5  # [rad]: commands that stay this near the positions are position targets, not torques


def parts_of_arrays(
    robot: Robot,
    arrays: Arrays,
    layout: str | None = None,
    joints: Sequence[str] | None = None,
    partly: bool = False,
) -> MotionParts:
    """The parts of a motion that is stored as arrays by name.

    Args:
        robot: The robot.
        arrays: By key.
        layout: One of `exchange.LAYOUTS`; None to detect it by the keys.
        joints: Order of the joints, if the arrays do not give it.
        partly: Whether joints may be missing, which then stay at home.

    Raises:
        FileFormatError: The meaning of the arrays is unclear.
        ShapeError: They contradict the robot or each other.
    """
    if layout is not None and layout not in LAYOUTS:
        raise one_of("layout", layout, LAYOUTS)
    named = _names(arrays) or (None if joints is None else list(joints))
    states = _states(robot, arrays, layout, named, partly)
    if layout == "ros" or (
        layout is None and set(arrays) & {"base_orientation", "multi_dof_names"} and _is_ros(arrays)
    ):
        parts = MotionParts(
            "ros", {k: v for k, v in arrays.items() if k in ROS_KEYS}, _tuple(joints), remarks=("layout ros",)
        )
    elif states is not None:
        parts = states
    else:
        parts = _joints_and_base(robot, arrays, named, partly)
    return _with_efforts(robot, arrays, parts, named)


def parts_of_matrix(
    robot: Robot,
    numbers: Array,
    layout: str | None = None,
    joints: Sequence[str] | None = None,
    partly: bool = False,
) -> MotionParts:
    """The parts of a motion that is one matrix without names: (time,) positions (, velocities) in every row.

    Args:
        robot: The robot.
        numbers: (n, k).
        layout: One of the vector layouts; None to detect it by width and quaternions.
        joints: As in `parts_of_arrays`.
        partly: As in `parts_of_arrays`.

    Raises:
        FileFormatError: The width does not fit, or fits in several ways.
    """
    if layout is not None and layout not in VECTOR_KEYS:
        raise NotSupportedError(
            f"layout {layout} needs column names", next_step=f"use one of {', '.join(VECTOR_KEYS)}, or name the columns"
        )
    if (some := _some_joints(robot, numbers, layout, joints)) is not None:
        return replace(_joints_and_base(robot, some, joints, partly), unsure=layout is None)
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
    counts_rows = t == 1 and len(numbers) > 2 and bool(np.all(np.diff(numbers[:, 0]) == 1.0))
    sizes = _sizes(robot, name, joints) or (0, 0)
    position, velocity = VECTOR_KEYS[name]
    data = {position: numbers[:, t : t + sizes[0]]} | ({velocity: numbers[:, t + sizes[0] :]} if w else {})
    first = ("row numbers, " if counts_rows else "time, ") if t else ""
    remark = f"no column names: read as {first}{position}{f', {velocity}' if w else ''} of layout {name}"
    return MotionParts(
        name, data, _tuple(joints), numbers[:, 0] if t and not counts_rows else None, unsure=layout is None,
        unnamed=() if joints is not None else tuple(own_joints(robot)), remarks=(remark,),
    )  # fmt: skip


def _some_joints(
    robot: Robot, numbers: Array, layout: str | None, joints: Sequence[str] | None
) -> dict[str, Array] | None:
    """Rows of base and joints of which some are missing, as arrays by name; None for whole states and other widths."""
    base, width = robot.base_joint, numbers.shape[1] - 7
    if base is None or robot.tree.kinds[base] != "free" or layout == "drake":
        return None
    count = len(for_width(robot, own_joints(robot) if joints is None else joints, width))
    if width != count or count == len(own_joints(robot)):
        return None
    turn = numbers[:, 3:7] if layout != "mujoco" else np.roll(numbers[:, 3:7], -1, axis=1)
    if np.median(np.abs(np.linalg.norm(turn, axis=1) - 1.0)) > _UNIT:
        return None
    return {"root_pos": numbers[:, :3], "root_quat": turn, "joint_pos": numbers[:, 7:]}


def _distinct(
    robot: Robot, numbers: Array, readings: list[tuple[str, int, int]], joints: Sequence[str] | None
) -> list[tuple[str, int, int]]:
    """Of readings that differ in the place of the quaternion, those with quaternions; of xyzw and wxyz, the first."""
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        return readings[:1]
    starts = {reading: reading[1] + (0 if reading[0] == "drake" else 3) for reading in readings}
    lengths = {reading: np.linalg.norm(numbers[:, at : at + 4], axis=1) for reading, at in starts.items()}
    off = {reading: float(np.median(np.abs(length - 1.0))) for reading, length in lengths.items()}
    most = min(_UNIT, _CHANCE * min(off.values(), default=0.0) + _EXACT)
    kept: list[tuple[str, int, int]] = []
    for name, t, w in readings:
        same_place = any(other != "drake" and name != "drake" and other_t == t for other, other_t, _ in kept)
        if off[name, t, w] < most and not same_place:
            kept.append((name, t, w))
    rises = bool(np.all(np.diff(numbers[:, 0]) > 0.0))
    return kept or [reading for reading in readings if rises or not reading[1]]


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


def _states(
    robot: Robot, arrays: Arrays, layout: str | None, named: Sequence[str] | None, partly: bool
) -> MotionParts | None:
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
        return parts_of_matrix(robot, values, layout, named, partly)
    name = layout or ("mujoco" if plain_key(key) == "qpos" else "pinocchio")
    if name not in VECTOR_KEYS:
        return None
    if (some := _some_joints(robot, values, name, named)) is not None:
        return replace(_joints_and_base(robot, {**arrays, **some}, named, partly), unsure=False)
    order = _whole_order(robot, named)
    sizes = _sizes(robot, name, order)
    alone = find_key("base_position", arrays) or find_key("base_state", arrays)
    if (sizes is None or values.shape[1] != sizes[0]) and alone and layout is None:
        return None  # `q` of the joints, and the base beside it
    position, velocity = VECTOR_KEYS[name]
    data = {position: values}
    remarks = [f"`{key}` is read as layout {name}"]
    unnamed = () if order is not None else tuple(own_joints(robot))
    filled: tuple[str, ...] = ()
    if (rates := find_key("rates", arrays) or find_key("velocities", arrays)) is not None:
        data[velocity], filled = _whole_rates(robot, name, order, finite_table(arrays[rates], rates))
        remarks += [f"`{rates}` is read as velocities of the joints"] if filled else []
    return MotionParts(name, data, _tuple(order), filled=filled, unnamed=unnamed, remarks=tuple(remarks))


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


def _joints_and_base(robot: Robot, arrays: Arrays, named: Sequence[str] | None, partly: bool) -> MotionParts:
    """Positions of the joints alone, and the base beside them."""
    key = find_key("positions", arrays) or find_key("states", arrays)
    if key is None:
        raise _unknown(arrays)
    width = np.shape(arrays[key])[-1] if np.ndim(arrays[key]) else 0
    base = base_fields(robot, arrays)
    _check_rows(key, arrays[key], base.data)
    names, remark = _likely_order(robot, arrays, base, key, width)
    if named is not None:
        names, remark = for_width(robot, named, width), ""
    values = finite_table(arrays[key], key, names)
    if values.ndim != 2 or values.shape[1] != len(names):
        raise ShapeError(
            f"`{key}` has shape {values.shape}, `{robot.name}` has {len(names)} joints"
            + ("" if named is None else " named in the file"),
            next_step="store the names in `joint_names`, or give their order with --joint-order",
        )
    some = named is None and len(names) < len(own_joints(robot))
    joints, remarks = matched_joints(robot, names, partly, OTHERS_STEP if some else MISSING_STEP)
    keep = [k for k, joint in enumerate(joints) if joint is not None]
    remarks.append(f"`{key}` is read as joint positions{remark}")
    data: dict[str, Any] = {"joint_names": [joints[k] for k in keep], "position": values[:, keep]}
    rates = find_key("velocities", arrays) or find_key("rates", arrays)
    if rates is not None and np.shape(arrays[rates]) == values.shape:
        data["velocity"] = finite_table(arrays[rates], rates, names)[:, keep]
    elif rates is not None:
        remarks.append(f"`{rates}` is ignored: its shape is {np.shape(arrays[rates])}, expected {values.shape}")
    remarks += _held_at_home(robot, data)
    data |= base.data
    data, filled = _completed(robot, data)
    return MotionParts(
        "ros", data, filled=filled, unsure=base.unsure,
        unnamed=() if named is not None or "bodies" in remark else tuple(names), remarks=(*remarks, *base.remarks),
    )  # fmt: skip


def _check_rows(key: str, values: Any, base: Mapping[str, Array]) -> None:
    """Refuse arrays of the base that have other samples than the joints."""
    rows = {what: len(x) for what, x in base.items()} | {key: len(values) if np.ndim(values) else 0}
    if len(set(rows.values())) > 1:
        raise ShapeError(
            f"`{key}` has {counted(rows[key], 'sample')}, the base has another number of them",
            evidence=rows,
            next_step="store one row for each sample in all arrays",
        )


def _likely_order(robot: Robot, arrays: Arrays, base: BaseFields, key: str, width: int) -> tuple[list[str], str]:
    """The joints of columns that nothing names, and why they are these."""
    own = for_width(robot, own_joints(robot), width)
    absent = [name for name in own_joints(robot) if name not in own]
    without = f", without {some_names(absent)}" if absent else ""
    bodies, values = find_key("body_positions", arrays), np.asarray(arrays[key])
    if bodies is None or np.ndim(arrays[bodies]) != 3 or robot.base_joint is None or values.ndim != 2:
        return own, f", in the robot's order{without}"
    if width != len(own):
        return own, ""
    rows = np.unique(np.linspace(0, len(values) - 1, _LOOKS).astype(int))
    placed = {key: x for key, x in base.data.items() if key in ("base_position", "base_orientation")}
    pose = {key: x[rows] for key, x in normalised(robot, MotionParts("ros", placed))[0].items()}
    orders = {name: for_width(robot, order, width) for name, order in joint_orders(robot).items()}
    readings = {}
    for name, order in orders.items():
        data = {**pose, "joint_names": order, "position": values[rows]}
        _held_at_home(robot, data)
        readings[name] = from_layout(robot, "ros", data)[0]
    meant, reason = order_by_bodies(robot, readings, np.asarray(arrays[bodies], dtype=float)[rows])
    if not meant:
        return own, f", in the robot's order{without}, although {reason}"
    return orders[meant], f", in {meant} order{without}: {reason}"


def _held_at_home(robot: Robot, data: dict[str, Any]) -> list[str]:
    """Put joints that are missing at home, at rest, and say so."""
    missing = [name for name in own_joints(robot) if name not in data["joint_names"]]
    if not missing:
        return []
    home = to_layout(robot, "ros", robot.home)
    at = dict(zip(home["joint_names"], np.asarray(home["position"]), strict=True))
    n = len(data["position"])
    data["joint_names"] = [*data["joint_names"], *missing]
    data["position"] = np.hstack([data["position"], np.tile([at[name] for name in missing], (n, 1))])
    if "velocity" in data:
        data["velocity"] = np.hstack([data["velocity"], np.zeros((n, len(missing)))])
    return [f"not in the file and held at home: {some_names(missing)}"]


def _completed(robot: Robot, data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """With zeros for velocities that are missing while others are given, and the joints that these are of."""
    twist = () if robot.base_joint is None else ("base_linear", "base_angular")
    with_base, with_joints = all(key in data for key in twist), "velocity" in data
    if not with_joints and not (twist and with_base):
        return {key: values for key, values in data.items() if key not in twist}, ()
    n = len(data["position"])
    if not with_joints:
        return {**data, "velocity": np.zeros_like(data["position"])}, tuple(_moving_joints(robot))
    if with_base:
        return data, ()
    return data | {key: np.zeros((n, 3)) for key in twist}, (robot.joint_names[robot.base_joint or 0],)


def _moving_joints(robot: Robot) -> list[str]:
    """Joints but the base that move on their own."""
    tree = robot.tree
    return [tree.joint_names[i] for i in range(tree.n) if i != robot.base_joint and tree.mimic_source[i] < 0]


def _unknown(arrays: Arrays) -> FileFormatError:
    if (key := find_key("human", arrays)) is not None:
        return FileFormatError(
            f"holds the motion of a human body (`{key}` of SMPL), not of a robot",
            evidence={"found": ", ".join(arrays)},
            next_step="retarget it to the robot first, and give the result: root_pos, root_quat, joint_pos, fps",
        )
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
