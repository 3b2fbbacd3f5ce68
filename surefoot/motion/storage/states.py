"""States of other programs in files.

`.npz` has the keys of `exchange.to_layout` and `time`. `.csv` and `.parquet` have one column for each number: layouts
ros and csv by name (`base.x [m]`, `left_knee [rad]`, `left_knee.v [rad/s]`), the others in their order
(`qpos[0] root_joint.x [m]`); a CSV file of these may lack the header.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array, finite_array, increasing_times
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, SurefootError, one_of
from surefoot.motion.exchange import (
    LAYOUTS,
    VECTOR_KEYS,
    column_names,
    from_layout,
    layout_sizes,
    split_unit,
    to_layout,
)
from surefoot.motion.files import (
    Table,
    is_trajectory_file,
    read_csv,
    read_npz,
    read_parquet,
    write_csv,
    write_npz,
    write_parquet,
)
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

_SUFFIXES = (".npz", ".csv", ".parquet")
_CELL = re.compile(r"(\w+)\[(\d+)\](?:\s+(.*\S))?", re.DOTALL)


@dataclass(frozen=True, eq=False)
class StateTable:
    """States in Pinocchio's layout.

    Args:
        time: (n,) increasing [s], or None.
        q: (n, nq).
        v: (n, nv), or None.
        joints: Order of the joints in the file that they came from; empty for the robot's own.
    """

    time: Array | None
    q: Array
    v: Array | None = None
    joints: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "q", finite_array(self.q, (None, None), "q"))
        if self.v is not None:
            object.__setattr__(self, "v", finite_array(self.v, (len(self.q), None), "v"))
        if self.time is not None and len(self.q):
            object.__setattr__(self, "time", increasing_times(self.time))
        if self.time is not None and len(self.time) != len(self.q):
            raise ShapeError(f"got {len(self.time)} times and {len(self.q)} states")


def read_states(path: str | Path, robot: Robot, layout: str, joints: Sequence[str] | None = None) -> StateTable:
    """States from a file.

    Args:
        path: `.npz`, `.csv` or `.parquet`; trajectories of ours are read as layout pinocchio.
        robot: The robot.
        layout: One of `exchange.LAYOUTS`.
        joints: Order of the joints in the file, where the file does not name them and it is not the robot's.

    Raises:
        FileFormatError: The file is missing, cut off, or its columns do not fit; with line and column where known.
        ShapeError: Numbers contradict themselves (quaternions, followers).
        UnknownNameError: Joints or columns are missing or unknown.
    """
    _check(path, layout)
    suffix = Path(path).suffix
    if suffix != ".csv" and is_trajectory_file(path):
        return _from_trajectory(path, robot, layout)
    table = None if suffix == ".npz" else read_csv(path) if suffix == ".csv" else read_parquet(path)
    try:
        if table is None:
            data: Mapping[str, Any] = read_npz(path)
        else:
            data, joints = _from_columns(table, robot, layout, joints)
        q, v = from_layout(robot, "csv" if table and layout == "ros" else layout, data, joints)
        time = next((values for name, values in data.items() if split_unit(name)[0].strip() == "time"), None)
        order = joints if joints is not None else data.get("joint_names", ())
        return StateTable(time, np.atleast_2d(q), v if v is None else np.atleast_2d(v), tuple(map(str, order)))
    except SurefootError as error:
        row = error.evidence.get("row")
        raise error.with_place(path, table.lines[row] if table and table.lines and row is not None else None) from None


def write_states(
    path: str | Path, robot: Robot, layout: str, table: StateTable, joints: Sequence[str] | None = None
) -> None:
    """States to a file, whole or not at all.

    Args:
        path: `.npz`, `.csv` or `.parquet`.
        robot: The robot.
        layout: One of `exchange.LAYOUTS`.
        table: The states.
        joints: Order of the joints in the file; None for the robot's.
    """
    _check(path, layout)
    suffix = Path(path).suffix
    time = {} if table.time is None else {"time" if suffix == ".npz" else "time [s]": table.time}
    data = to_layout(robot, "csv" if layout == "ros" and suffix != ".npz" else layout, table.q, table.v, joints)
    if suffix == ".npz":
        write_npz(path, time | data)
        return
    columns = time | (data if layout in ("ros", "csv") else _vector_columns(robot, layout, data, joints))
    if suffix == ".csv":
        write_csv(path, columns)
    else:
        write_parquet(path, columns, {"surefoot.layout": layout})


def _check(path: str | Path, layout: str) -> None:
    if layout not in LAYOUTS:
        raise one_of("layout", layout, LAYOUTS)
    if Path(path).suffix not in _SUFFIXES:
        raise FileFormatError(
            f"suffix `{Path(path).suffix}` is not known", file=path, next_step=f"use {', '.join(_SUFFIXES)}"
        )


def _from_trajectory(path: str | Path, robot: Robot, layout: str) -> StateTable:
    if layout != "pinocchio":
        raise FileFormatError(
            f"is a trajectory of surefoot, not of layout {layout}", file=path, next_step="read it with --from pinocchio"
        )
    found = Trajectory.load(path)
    try:
        found.require(robot)
    except ShapeError as error:
        raise error.with_place(path) from None
    return StateTable(found.time, found.q, found.v, found.joints)


def _headings(robot: Robot, layout: str, joints: Sequence[str] | None) -> tuple[list[str], list[str]]:
    """`root_joint.x [m]` of each position and velocity entry of a vector layout."""
    position, velocity = ([f"{name} [{unit}]" for name, unit in kind] for kind in column_names(robot, layout, joints))
    return position, velocity


def _vector_columns(
    robot: Robot, layout: str, data: Mapping[str, Array], joints: Sequence[str] | None
) -> dict[str, Array]:
    headings = _headings(robot, layout, joints)
    out: dict[str, Array] = {}
    for key, names in zip(VECTOR_KEYS[layout], headings, strict=True):
        if key in data:
            out |= {f"{key}[{k}] {name}": x for k, (name, x) in enumerate(zip(names, data[key].T, strict=True))}
    return out


def _from_columns(
    table: Table, robot: Robot, layout: str, joints: Sequence[str] | None
) -> tuple[dict[str, Array], Sequence[str] | None]:
    """The data for `from_layout`, and the joint order given by the columns."""
    if table.header is None:
        return _without_header(table, robot, layout, joints), joints
    if repeated := sorted({name for name in table.header if table.header.count(name) > 1}):
        raise FileFormatError("column names repeat", evidence={"names": ", ".join(repeated[:10])})
    if layout in ("ros", "csv"):
        return table.columns, joints
    return _with_header(table, robot, layout, joints)


def _without_header(table: Table, robot: Robot, layout: str, joints: Sequence[str] | None) -> dict[str, Array]:
    """Columns by their number: positions, or positions and velocities, and before them perhaps the time."""
    if layout not in VECTOR_KEYS:
        raise FileFormatError(
            f"layout {layout} needs a header with column names", next_step="add a first line with them"
        )
    nq, nv = layout_sizes(robot, layout, joints)
    width = table.numbers.shape[1]
    readings = [(t, w) for t in (0, 1) for w in (0, nv) if t + nq + w == width]
    position, velocity = VECTOR_KEYS[layout]
    if len(readings) != 1:
        raise FileFormatError(
            f"{width} columns " + ("can be read in two ways" if readings else f"do not fit layout {layout}"),
            evidence={"layout": f"{nq} positions, {nv} velocities, perhaps the time first",
                      "this number fits layout": ", ".join(_layouts_of_width(robot, width)) or "none"},
            next_step="add a header line such as `time [s]," + f"{position}[0],…,{velocity}[0],…`",
        )  # fmt: skip
    t, w = readings[0]
    out = {"time": table.numbers[:, 0]} if t else {}
    out[position] = table.numbers[:, t : t + nq]
    return out | ({velocity: table.numbers[:, t + nq :]} if w else {})


def _layouts_of_width(robot: Robot, width: int) -> list[str]:
    """Vector layouts in which a row may have that many entries."""
    out = []
    for layout in VECTOR_KEYS:
        try:
            nq, nv = layout_sizes(robot, layout)
        except NotSupportedError:
            continue
        if width in (nq, nq + nv, nq + 1, nq + nv + 1):
            out.append(layout)
    return out


def _with_header(
    table: Table, robot: Robot, layout: str, joints: Sequence[str] | None
) -> tuple[dict[str, Array], Sequence[str] | None]:
    """Columns called `qpos[0]` or `qpos[0] root_joint.x [m]`, which also give the order of the joints."""
    keys = VECTOR_KEYS[layout]
    out: dict[str, Array] = {}
    found: dict[str, dict[int, tuple[str, Array]]] = {key: {} for key in keys}
    for name, values in table.columns.items():
        cell = _CELL.fullmatch(name)
        if split_unit(name.strip()) in (("time", None), ("time", "s")):
            out["time"] = values
        elif cell is None or cell[1] not in keys:
            raise FileFormatError(
                f"column `{name}` is not of layout {layout}",
                next_step=f"name the columns {keys[0]}[0], …, {keys[1]}[0], … or remove the header",
            )
        else:
            found[cell[1]][int(cell[2])] = (cell[3] or "", values)
    headings = {key: [found[key][k][0] for k in sorted(found[key])] for key in keys}
    for key in keys:
        if sorted(found[key]) != list(range(len(found[key]))):
            raise FileFormatError(
                f"columns {key}[…] are not numbered 0, 1, 2, …", evidence={"given": sorted(found[key])}
            )
        if found[key]:
            out[key] = np.column_stack([found[key][k][1] for k in sorted(found[key])])
    return out, _order_in_header(robot, layout, joints, headings[keys[0]], headings[keys[1]])


def _order_in_header(
    robot: Robot, layout: str, joints: Sequence[str] | None, positions: list[str], velocities: list[str]
) -> Sequence[str] | None:
    """The joints as the header lists them; the header must then be what the layout would write."""
    if not any((*positions, *velocities)):
        return joints
    named = list(dict.fromkeys(_joint_of(robot, heading) for heading in positions))
    expected = _headings(robot, layout, joints if joints is not None else named)
    for given, wanted in ((positions, expected[0]), (velocities, expected[1] if velocities else [])):
        wrong = [pair for pair in zip(given, wanted, strict=False) if not _same_heading(*pair)]
        if wrong or len(given) != len(wanted):
            raise FileFormatError(
                f"the header is not that of layout {layout}",
                evidence={"first that differ": wrong[0] if wrong else (len(given), len(wanted))},
                next_step="check the layout (--from) and the joint order",
            )
    return joints if joints is not None else named


def _joint_of(robot: Robot, heading: str) -> str:
    label = split_unit(heading)[0]
    fitting = [name for name in robot.joint_names if label == name or label.startswith(name + ".")]
    if not fitting:
        raise one_of("joint", label, robot.joint_names)
    return max(fitting, key=len)


def _same_heading(given: str, wanted: str) -> bool:
    (name, unit), (right_name, right_unit) = split_unit(given), split_unit(wanted)
    return name == right_name and unit in (None, right_unit)
