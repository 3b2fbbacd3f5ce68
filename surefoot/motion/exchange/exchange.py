"""States in the layouts of other programs. The only place where other orders and frames than Pinocchio's exist.

    data = to_layout(robot, "mujoco", q, v)          # {"qpos": …, "qvel": …}
    q, v = from_layout(robot, "mujoco", data)

`exchange.joints` lists the layouts of each joint kind. Single states (nq,) and time series (n, nq) both work; nothing
loops over time. Angles of continuous joints come back modulo 2π, quaternions up to sign.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError, one_of
from surefoot.motion.exchange.blocks import Block, Part, decode, encode, layout_blocks
from surefoot.motion.exchange.joints import Label, unit_length
from surefoot.motion.exchange.manifold import joint_kinds, require_unit_length
from surefoot.motion.exchange.ros import BaseVelocity, from_ros, to_ros
from surefoot.robot import Robot
from surefoot.words import are_missing

LAYOUTS: tuple[str, ...] = ("pinocchio", "mujoco", "ros", "drake", "csv")
VECTOR_KEYS = {"pinocchio": ("q", "v"), "mujoco": ("qpos", "qvel"), "drake": ("q", "v")}
"""Layouts that are two vectors, and what those are called."""


def to_layout(
    robot: Robot,
    layout: str,
    q: ArrayLike,
    v: ArrayLike | None = None,
    joints: Sequence[str] | None = None,
    base_velocity: BaseVelocity = "body",
) -> dict[str, Any]:
    """States in another layout.

    Args:
        robot: The robot.
        layout: One of `LAYOUTS`.
        q: (nq,) or (n, nq) in Pinocchio's layout.
        v: (nv,) or (n, nv), or None.
        joints: Order of the joints there: every joint once; the base is first by default. None for the robot's order.
        base_velocity: Only "ros": frame of the base twist: "body" as in nav_msgs/Odometry, "world" (about the world's
            origin, world axes) or "mixed" (at the base origin, world axes).

    Returns:
        pinocchio, drake: q, v. mujoco: qpos, qvel. ros: joint_names, position, velocity, base_position,
        base_orientation (xyzw), base_linear, base_angular, and multi_dof_… for other joints with several axes.
        csv: one array (n,) for each named column, such as `base.x [m]`. Without v the velocities are omitted.
        Followers (`mimic="reduce"`) have entries everywhere but in pinocchio.

    Raises:
        ShapeError: Wrong shape, not finite, or a quaternion that is not of unit length.
        UnknownNameError: A layout or joint of that name does not exist, or a joint is missing.
    """
    _check_layout(layout, base_velocity)
    single = np.ndim(q) == 1
    rows, rates = _checked_series(robot, np.atleast_2d(q), None if v is None else np.atleast_2d(v))
    if layout == "ros":
        out = to_ros(robot, rows, rates, joints, base_velocity)
    else:
        blocks = layout_blocks(robot, layout, joints)
        parts = encode(blocks, rows, rates)
        out = _pack_columns(robot, blocks, parts) if layout == "csv" else _pack_vectors(layout, parts, len(rows))
    return {name: value[0] if single and not name.endswith("names") else value for name, value in out.items()}


def from_layout(
    robot: Robot,
    layout: str,
    data: Mapping[str, Any],
    joints: Sequence[str] | None = None,
    base_velocity: BaseVelocity = "body",
) -> tuple[Array, Array | None]:
    """States from another layout; arguments as in `to_layout`.

    Args:
        robot: The robot.
        layout: One of `LAYOUTS`.
        data: As `to_layout` returns it; a key `time` is passed over. csv columns may leave their unit out.
        joints: Order of the joints in the data; None for the robot's order (ros: `joint_names` of the data).
        base_velocity: Only "ros".

    Returns:
        q (nq,) or (n, nq) and v (nv,) or (n, nv), or None where the data has no velocities.

    Raises:
        ShapeError: Wrong shape, not finite, a quaternion off unit length by more than 1e-3, or a follower that does not
            follow its source to 1e-6.
        UnknownNameError: A layout, key or joint of that name does not exist, or one is missing.
    """
    _check_layout(layout, base_velocity)
    series, single = _as_series(layout, data)
    if layout == "ros":
        q, v = from_ros(robot, series, joints, base_velocity)
    else:
        blocks = layout_blocks(robot, layout, joints)
        parts = _columns(robot, blocks, series) if layout == "csv" else _vectors(robot, layout, blocks, series)
        q, v = _decoded(robot, layout, blocks, parts, joints)
    return (q[0], None if v is None else v[0]) if single else (q, v)


def layout_sizes(robot: Robot, layout: str, joints: Sequence[str] | None = None) -> tuple[int, int]:
    """Numbers of position and of velocity entries of a state in a layout.

    Args:
        robot: The robot.
        layout: One of `LAYOUTS`.
        joints: As in `to_layout`.
    """
    return _sizes(layout_blocks(robot, layout, joints))


def _sizes(blocks: Sequence[Block]) -> tuple[int, int]:
    return sum(len(b.format.position) for b in blocks), sum(len(b.format.velocity) for b in blocks)


def column_names(
    robot: Robot, layout: str, joints: Sequence[str] | None = None
) -> tuple[tuple[Label, ...], tuple[Label, ...]]:
    """(name, unit) of each position and of each velocity entry, in the order of the layout.

    Args:
        robot: The robot.
        layout: One of `LAYOUTS`; ros has the names of csv.
        joints: As in `to_layout`.
    """
    named = "csv" if layout == "ros" else layout
    blocks = layout_blocks(robot, named, joints)
    base = robot.base_joint if named == "csv" else None

    def listed(what: str) -> tuple[Label, ...]:
        return tuple(
            (f"{'base' if b.joint == base else b.name}{'.' if part else ''}{part}", unit)
            for b in blocks
            for part, unit in getattr(b.format, what)
        )

    return listed("position"), listed("velocity")


def _checked_series(robot: Robot, q: ArrayLike, v: ArrayLike | None = None) -> tuple[Array, Array | None]:
    """Time series of a robot: read-only (n, nq) and (n, nv), finite, quaternions of unit length to 1e-6."""
    rows = finite_array(q, (None, robot.nq), "q")
    require_unit_length(rows, robot.joint_names, joint_kinds(robot))
    return rows, None if v is None else finite_array(v, (len(rows), robot.nv), "v")


def split_unit(column: str) -> tuple[str, str | None]:
    """`left_knee [rad]` → ("left_knee", "rad"), without one space; None where the column names no unit."""
    found = re.fullmatch(r"(.*?)\s\[([^\[\]]*)\]\s*", column, re.DOTALL)
    return (column, None) if found is None else (found[1], found[2])


def _layouts_that_fit(robot: Robot, positions: Array, joints: Sequence[str] | None = None) -> tuple[str, ...]:
    """The vector layouts in which these position vectors have the right length and unit quaternions."""
    return tuple(layout for layout in VECTOR_KEYS if _fits(robot, layout, positions, joints))


def _fits(robot: Robot, layout: str, positions: Array, joints: Sequence[str] | None) -> bool:
    try:
        blocks = layout_blocks(robot, layout, joints)
        if _sizes(blocks)[0] != positions.shape[1]:
            return False
        for block in blocks:
            unit_length(positions[:, block.in_layout[0]], block.format.unit, block.name)
    except (ShapeError, NotSupportedError, UnknownNameError):
        return False
    return True


def _check_layout(layout: str, base_velocity: str) -> None:
    if layout not in LAYOUTS:
        raise one_of("layout", layout, LAYOUTS)
    if layout != "ros" and base_velocity != "body":
        raise NotSupportedError(f"`base_velocity` belongs to layout ros; {layout} has one frame only")


def _pack_vectors(layout: str, parts: Sequence[Part], n: int) -> dict[str, Array]:
    position, velocity = VECTOR_KEYS[layout]
    out = {position: np.hstack([np.zeros((n, 0)), *(p for p, _ in parts)])}
    if all(v is not None for _, v in parts):
        out[velocity] = np.hstack([np.zeros((n, 0)), *(v for _, v in parts if v is not None)])
    return out


def _pack_columns(robot: Robot, blocks: Sequence[Block], parts: Sequence[Part]) -> dict[str, Array]:
    names = column_names(robot, "csv", [b.name for b in blocks])
    columns: list[tuple[Label, Array]] = []
    for k, labels in enumerate(names):
        rows = [part[k] for part in parts]
        numbers = [column for block in rows if block is not None for column in block.T]
        columns += list(zip(labels, numbers, strict=False)) if numbers else []
    out = {f"{name} [{unit}]": column for (name, unit), column in columns}
    if len(out) < len(columns):
        raise NotSupportedError(f"joint names of `{robot.name}` give equal column names", next_step="rename the joints")
    return out


def _as_series(layout: str, data: Mapping[str, Any]) -> tuple[dict[str, Any], bool]:
    """The data with a time axis, and whether it had none."""
    ranks = {"csv": 0, "ros": 1}.get(layout, 1)
    single = False
    out: dict[str, Any] = {}
    for name, value in data.items():
        if name == "time" or name.startswith("time ["):
            continue
        if name.endswith("names"):
            out[name] = [str(item) for item in value]
            continue
        rank = ranks + name.startswith("multi_dof")
        single = single or np.ndim(value) == rank
        out[name] = np.expand_dims(np.asarray(value), 0) if np.ndim(value) == rank else value
    return out, single


def _vectors(robot: Robot, layout: str, blocks: Sequence[Block], data: Mapping[str, Any]) -> list[Part]:
    keys = VECTOR_KEYS[layout]
    for name in data:
        if name not in keys:
            raise one_of(f"key of layout {layout}", name, (*keys, "time"))
    if keys[0] not in data:
        raise UnknownNameError(f"layout {layout} lacks `{keys[0]}`", evidence={"given": sorted(data)})
    nq, nv = _sizes(blocks)
    position = finite_array(data[keys[0]], (None, None), keys[0])
    if position.shape[1] != nq:
        fitting = _layouts_that_fit(robot, position)
        hint = f"this number fits layout {' or '.join(fitting)}" if fitting else "check the robot and the joint order"
        message = f"{keys[0]} has {position.shape[1]} entries, layout {layout} of `{robot.name}` has {nq}"
        raise ShapeError(message, next_step=hint)
    velocity = finite_array(data[keys[1]], (len(position), nv), keys[1]) if keys[1] in data else None
    return [(position[:, b.in_layout[0]], None if velocity is None else velocity[:, b.in_layout[1]]) for b in blocks]


def _columns(robot: Robot, blocks: list[Block] | tuple[Block, ...], data: Mapping[str, Any]) -> list[Part]:
    """Each joint's part of named columns; followers may be missing."""
    names = column_names(robot, "csv", [b.name for b in blocks])
    units = dict((*names[0], *names[1]))
    found = {}
    for column, values in data.items():
        name, unit = split_unit(column)
        if name not in units:
            raise one_of("column", name, (*units, "time"))
        if unit not in (None, units[name]):
            raise ShapeError(f"column `{name}` is in [{unit}], expected [{units[name]}]", next_step="convert the unit")
        found[name] = finite_array(values, (None,), f"column `{name}`")
    if len({len(values) for values in found.values()}) > 1:
        raise ShapeError("the columns have different lengths")
    with_v = any(name in found for name, _ in names[1])
    kept = [names[0], names[1] if with_v else ()]
    _require_columns(blocks, kept, found)
    return [_column_part(b, names, found, with_v) for b in blocks]


def _require_columns(blocks: Sequence[Block], names: Sequence[Sequence[Label]], found: Mapping[str, Array]) -> None:
    free = {label for b in blocks if b.is_follower for label in (b.name, f"{b.name}.v")}
    missing = [name for labels in names for name, _ in labels if name not in found and name not in free]
    if missing:
        raise UnknownNameError(
            are_missing(len(missing), "column"),
            evidence={"missing": ", ".join(missing[:12]) + (", …" if len(missing) > 12 else "")},
            next_step="give all positions, and all velocities or none",
        )


def _column_part(block: Block, names: Sequence[Sequence[Label]], found: Mapping[str, Array], with_v: bool) -> Part:
    """The columns of one joint; those of a follower that is missing are empty of information and not compared."""
    at = [[name for name, _ in labels[part]] for labels, part in zip(names, block.in_layout, strict=True)]
    n = len(next(iter(found.values())))
    if block.is_follower and not all(name in found for name in at[0]):
        return np.full((n, 1), np.nan), np.full((n, 1), np.nan) if with_v else None
    position = np.column_stack([found[name] for name in at[0]])
    if not with_v:
        return position, None
    return position, np.column_stack([found.get(name, np.full(n, np.nan)) for name in at[1]])


def _decoded(
    robot: Robot, layout: str, blocks: Sequence[Block], parts: Sequence[Part], joints: Sequence[str] | None
) -> tuple[Array, Array | None]:
    """Decode; if a quaternion is wrong, the error names layouts that would fit."""
    try:
        return decode(robot, blocks, parts)
    except ShapeError as error:
        if layout in VECTOR_KEYS and error.kind == "quaternion":
            positions = np.hstack([p for p, _ in parts])
            fitting = [name for name in _layouts_that_fit(robot, positions, joints) if name != layout]
            if fitting:
                error.next_step = f"the order may be wrong: the numbers fit layout {' or '.join(fitting)} (--from)"
        raise
