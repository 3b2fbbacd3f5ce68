"""Tables as surefoot exports them: `q.left_knee`, `v.left_knee`, `wrench.left_foot.fz`, `reference.push.force[0]`."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, UnknownNameError
from surefoot.feasibility.read_motion_names import some_names
from surefoot.feasibility.read_motion_parts import MotionParts, finite_table
from surefoot.feasibility.read_motion_rates import completed
from surefoot.motion.exchange import column_names
from surefoot.robot import Robot
from surefoot.words import are_missing

__all__ = ["contact_entry", "contact_wrenches", "numbered", "parts_of_export"]

Columns = Mapping[str, Array]
_CELL = re.compile(r"([^\[\]]+)\[(\d+)\](?:\s+(.*\S))?")
_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
_REFERENCE = "reference."


def parts_of_export(robot: Robot, columns: Columns, remarks: Sequence[str] = ()) -> MotionParts | None:
    """The parts of a motion in columns as `storage.trajectory_columns` names them; None for other columns.

    Args:
        robot: The robot.
        columns: (n,) by name, without units.
        remarks: About the columns.

    Raises:
        UnknownNameError: Some positions, or entries of a wrench, are missing.
    """
    positions, velocities = ([name for name, _ in labels] for labels in column_names(robot, "pinocchio"))
    rates = [name.removesuffix(".v") for name in velocities]
    if 2 * len(_under(columns, "q", positions)) < len(positions):
        return None
    _require_positions(columns, positions)
    driven = [rates[k] for k in robot.driven]
    v, filled = completed(robot, "pinocchio", rates, _under(columns, "v", rates))
    states = {"q": _stacked(_under(columns, "q", positions), positions), "v": _stacked(v, rates)}
    return MotionParts(
        "pinocchio",
        {key: values for key, values in states.items() if values is not None},
        time=finite_table(columns["time"], "time") if "time" in columns else None,
        a=_stacked(_under(columns, "a", rates), rates),
        tau=_stacked(_under(columns, "tau", driven), driven),
        wrenches=contact_wrenches(robot, columns),
        references=_references(columns),
        filled=filled,
        remarks=("columns as surefoot exports them", *remarks, *_left_out(robot, columns, (positions, rates, driven))),
    )


def _left_out(robot: Robot, columns: Columns, labels: tuple[list[str], list[str], list[str]]) -> list[str]:
    """Remarks on what is not read."""
    positions, rates, driven = labels
    groups = {"q": positions, "v": rates, "a": rates, "tau": driven}
    out = []
    for key, what in (("a", "accelerations"), ("tau", "torques")):
        if 0 < len(_under(columns, key, groups[key])) < len(groups[key]):
            out.append(f"{what} are incomplete and left out")
    used = {f"{key}.{name}" for key, names in groups.items() for name in names} | {"time"}
    unknown = [name for name in columns if name not in used and not _understood(robot, name)]
    return [*out, f"columns passed over: {some_names(unknown)}"] if unknown else out


def contact_entry(robot: Robot, name: str) -> tuple[str, int] | None:
    """Contact and entry of its wrench: `wrench.left_foot.fz` or `left_foot.fz`; None for other columns.

    Args:
        robot: The robot.
        name: Of a column.
    """
    rest, _, entry = name.removeprefix("wrench.").rpartition(".")
    return (rest, _WRENCH.index(entry)) if rest in robot.contacts and entry in _WRENCH else None


def contact_wrenches(robot: Robot, columns: Columns) -> dict[str, Array]:
    """Contact wrenches (n, 6); entries that are missing are an error.

    Args:
        robot: The robot.
        columns: (n,) by name.

    Raises:
        UnknownNameError: Entries are missing.
    """
    out: dict[str, dict[int, Array]] = {}
    for name, values in columns.items():
        place = contact_entry(robot, name)
        if place is not None:
            out.setdefault(place[0], {})[place[1]] = finite_table(values, name)
    for contact, entries in out.items():
        if len(entries) < len(_WRENCH):
            missing = ", ".join(f"{contact}.{part}" for k, part in enumerate(_WRENCH) if k not in entries)
            raise UnknownNameError(
                f"the wrench of contact `{contact}` lacks {missing}", next_step="give all six entries"
            )
    return {contact: np.column_stack([entries[k] for k in range(6)]) for contact, entries in out.items()}


def numbered(columns: Columns) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """`qpos[0]`, `qpos[1]`, … as one array with the names of its entries; other columns as they are.

    Args:
        columns: (n,) by name.

    Returns:
        (n,) and (n, k) by key, and of those with k entries what stands after each number.

    Raises:
        FileFormatError: Numbers are missing.
    """
    parts: dict[str, dict[int, tuple[str, Array]]] = {}
    out: dict[str, Array] = {}
    for name, values in columns.items():
        cell = _CELL.fullmatch(name)
        if cell is None:
            out[name] = values
        else:
            parts.setdefault(cell[1], {})[int(cell[2])] = (cell[3] or "", values)
    for key, entries in parts.items():
        if sorted(entries) != list(range(len(entries))):
            raise FileFormatError(f"columns {key}[…] are not numbered 0, 1, 2, …", evidence={"given": sorted(entries)})
        out[key] = np.column_stack([entries[k][1] for k in range(len(entries))])
    return out, {key: [entries[k][0] for k in range(len(entries))] for key, entries in parts.items()}


def _under(columns: Columns, key: str, names: Collection[str]) -> dict[str, Array]:
    """Columns `key.name`, by name."""
    found = [name for name in names if f"{key}.{name}" in columns]
    return {name: finite_table(columns[f"{key}.{name}"], f"{key}.{name}") for name in found}


def _require_positions(columns: Columns, positions: Sequence[str]) -> None:
    missing = [f"q.{name}" for name in positions if f"q.{name}" not in columns]
    if missing:
        raise UnknownNameError(
            are_missing(len(missing), "column") + " in this export",
            evidence={"missing": some_names(missing)},
            next_step="export the motion again, with all positions",
        )


def _stacked(columns: Columns, names: Sequence[str]) -> Array | None:
    return np.column_stack([columns[name] for name in names]) if names and all(n in columns for n in names) else None


def _references(columns: Columns) -> dict[str, Array]:
    """References (n, k) by name."""
    cells = {name: values for name, values in columns.items() if name.startswith(_REFERENCE)}
    return {
        name.removeprefix(_REFERENCE): finite_table(values.reshape(len(values), -1), name)
        for name, values in numbered(cells)[0].items()
    }


def _understood(robot: Robot, name: str) -> bool:
    return contact_entry(robot, name) is not None or name.startswith(_REFERENCE)
