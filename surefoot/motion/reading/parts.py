"""The parts of a motion as read from a file: states, efforts, and velocities that are missing."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.motion.exchange import VECTOR_KEYS, column_names, layout_blocks, velocities
from surefoot.motion.reading.names import some_names
from surefoot.robot import Robot

PUSH = "push.force"
"""Reference of a trajectory: force (n, 3) in world that somebody exerted on the robot [N], such as a push in a test."""
_LEAST_LENGTH = 1e-6
_STEPS = (1e-9, 1e9)  # [s] between samples


@dataclass(frozen=True, eq=False)
class MotionParts:
    """States and efforts as stored in a file.

    Args:
        layout: One of `exchange.LAYOUTS`.
        data: Positions and velocities, as `exchange.from_layout` wants them.
        joints: Order of the joints, if the data does not give it; None for the robot's.
        time: (n,) as stored; None if missing.
        a: (n, nv) in Pinocchio's layout, or None.
        tau: (n, nu), or None.
        wrenches: Contact → (n, 6).
        references: Name → (n, k).
        filled: Joints whose velocities are not given, while others are: to be computed from q.
        unsure: Whether the order of the base quaternion is a guess.
        unnamed: Joints that nothing names, in the order in which they were read.
        remarks: How the file was understood.
    """

    layout: str
    data: Mapping[str, Any]
    joints: tuple[str, ...] | None = None
    time: Array | None = None
    a: Array | None = None
    tau: Array | None = None
    wrenches: Mapping[str, Array] = field(default_factory=dict)
    references: Mapping[str, Array] = field(default_factory=dict)
    filled: tuple[str, ...] = ()
    unsure: bool = False
    unnamed: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()


def finite_table(value: ArrayLike, what: str, columns: Sequence[str] = ()) -> Array:
    """Numbers (n, k) or (n,), or an error that names row and column of the first that is not finite.

    Args:
        value: The numbers.
        what: Their name.
        columns: Names of the k columns, where known.
    """
    raw = np.asarray(value)
    if raw.dtype.kind not in "fiub" or raw.ndim not in (1, 2):
        raise ShapeError(
            f"`{what}` is {raw.ndim}-dimensional and of type {raw.dtype}",
            evidence={"expected": "numbers (n, k), one row per sample", "shape": raw.shape},
            next_step="store one robot of one environment: [time, entry]" if raw.ndim > 2 else "store plain numbers",
        )
    if not len(raw):
        raise ShapeError(f"`{what}` has no samples", evidence={"shape": raw.shape})
    with np.errstate(invalid="ignore"):
        out = np.array(raw, dtype=float)
    wrong = np.argwhere(~np.isfinite(out))
    if len(wrong):
        row, *rest = (int(k) for k in wrong[0])
        column = rest[0] if rest else 0
        name = f"column {column}" + (f" (`{columns[column]}`)" if len(columns) > column else "")
        raise ShapeError(
            f"`{what}` contains {out[tuple(wrong[0])]} in row {row}, {name}",
            evidence={
                "row": row,
                "column": columns[column] if len(columns) > column else column,
                "entries": len(wrong),
            },
            next_step="remove these samples, or find out why they were recorded",
        )
    return out


def sample_times(time: Array, n: int) -> Array:
    """(n,) times of samples [s], without steps that no recording has: velocities from them would overflow.

    Args:
        time: Of all samples, or (1,) the step between them.
        n: Number of samples.

    Raises:
        ShapeError: A step is absurd.
    """
    step = float(time[0]) if len(time) == 1 and n > 1 else None
    steps = np.diff(time) if step is None else np.array([step])
    odd = np.flatnonzero((steps > 0.0) & ~((steps > _STEPS[0]) & (steps < _STEPS[1])))
    if len(odd):
        raise ShapeError(
            f"samples {odd[0]} and {odd[0] + 1} are {steps[odd[0]]:.3g} s apart",
            evidence={"expected": f"between {_STEPS[0]:g} and {_STEPS[1]:g} s", "row": int(odd[0])},
            next_step="check the times or the rate in the file, or give the samples per second with --rate",
        )
    return time if step is None else step * np.arange(n, dtype=float)


def normalised(robot: Robot, parts: MotionParts) -> tuple[dict[str, Any], dict[str, Array]]:
    """The data with quaternions and (cos, sin) pairs of unit length, and the lengths (n,) that they had, by joint.

    Raises:
        ShapeError: A quaternion has no length, with its row.
    """
    data, lengths = dict(parts.data), {}
    for joint, where in _unit_places(robot, parts):
        vectors = _gathered(data, where)
        if vectors is None:
            continue
        length = np.linalg.norm(vectors, axis=1)
        if len(none := np.flatnonzero(~(length > _LEAST_LENGTH))):
            raise ShapeError(
                f"the quaternion of joint `{joint}` has length {length[none[0]]:.3g} in row {int(none[0])}",
                evidence={"row": int(none[0]), "entries": vectors[none[0]].tolist(), "rows like this": len(none)},
                next_step="check which columns hold the quaternion (--layout), or remove these samples",
            )
        lengths[joint] = length
        _scatter(data, where, vectors / length[:, None])
    return data, lengths


Where = tuple[str, slice] | tuple[str, ...]
"""Entries of an array, or columns."""


def _unit_places(robot: Robot, parts: MotionParts) -> list[tuple[str, Where]]:
    """The unit vectors in the data: joint, and where they stand."""
    if parts.layout == "ros":
        base = robot.base_joint
        return [] if base is None else [(robot.joint_names[base], ("base_orientation", slice(0, 4)))]
    blocks = layout_blocks(robot, parts.layout, parts.joints)
    out: list[tuple[str, Where]] = []
    labels = [name for name, _ in column_names(robot, parts.layout, [b.name for b in blocks])[0]]
    for block in blocks:
        unit, start = block.format.unit, block.in_layout[0].start
        if unit is not None and not block.is_follower:
            at = slice(start + unit.start, start + unit.stop)
            key = VECTOR_KEYS.get(parts.layout)
            out.append((block.name, tuple(labels[at]) if key is None else (key[0], at)))
    return out


def _gathered(data: Mapping[str, Any], where: Where) -> Array | None:
    if len(where) == 2 and isinstance(where[1], slice):
        values = data.get(where[0])
        return (
            None if values is None or np.asarray(values).shape[1] < where[1].stop else np.asarray(values)[:, where[1]]
        )
    columns = [data[str(name)] for name in where if str(name) in data]
    return np.column_stack(columns) if len(columns) == len(where) else None


def _scatter(data: dict[str, Any], where: Where, vectors: Array) -> None:
    if len(where) == 2 and isinstance(where[1], slice):
        data[where[0]] = np.array(data[where[0]], dtype=float)
        data[where[0]][:, where[1]] = vectors
    else:
        data |= {str(name): column for name, column in zip(where, vectors.T, strict=True)}


def completed(
    robot: Robot, layout: str, labels: Sequence[str], given: Mapping[str, Array]
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Velocities with zeros where some are missing, and the joints that these are to be filled in for.

    A joint with several axes of which one is missing lacks all of them. Velocities of followers are not needed.

    Args:
        robot: The robot.
        layout: Layout of the labels.
        labels: Of all velocity entries, in the order of the layout.
        given: (n,) by label.

    Returns:
        All entries by label, none where no velocity is given; and names of joints.
    """
    blocks = layout_blocks(robot, layout)
    own = {block.name: labels[block.in_layout[1]] for block in blocks if not block.is_follower}
    lacking = tuple(name for name, entries in own.items() if not all(entry in given for entry in entries))
    if not lacking:
        return dict(given), ()
    kept = {entry: given[entry] for name, entries in own.items() if name not in lacking for entry in entries}
    if not kept:
        return {}, ()
    none = np.zeros(len(next(iter(kept.values()))))
    return {entry: kept.get(entry, none) for entries in own.values() for entry in entries}, lacking


def filled_in(robot: Robot, time: Array, q: Array, v: Array, joints: Collection[str]) -> Array:
    """(n, nv) velocities, those of some joints by differences of q on its manifold."""
    if not joints or len(time) < 2:
        return v
    rates = velocities(robot.model, time, q)
    out = np.array(v)
    for i in map(robot.joint_index, joints):
        rows = slice(int(robot.tree.v_index[i]), int(robot.tree.v_index[i]) + robot.tree.nv_of(i))
        out[:, rows] = rates[:, rows]
    return out


def filled_remark(robot: Robot, joints: Sequence[str]) -> str:
    """A remark on the joints whose velocities were computed; "" for none."""
    base = None if robot.base_joint is None else robot.joint_names[robot.base_joint]
    others = [name for name in joints if name != base]
    whose = [*(["the base"] if base in joints else []), *([some_names(others)] if others else [])]
    return f"velocities of {' and of '.join(whose)} are not given and are computed from q" if whose else ""
