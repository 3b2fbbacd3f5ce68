"""Motions in tables with named columns, such as `left_knee`, `left_knee.v`, `left_knee_vel`, `base.qw`."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, UnknownNameError, one_of
from surefoot.motion.exchange import VECTOR_KEYS, column_names, split_unit, to_layout
from surefoot.motion.files import SEPARATOR, Table
from surefoot.motion.reading.arrays import parts_of_arrays, parts_of_matrix
from surefoot.motion.reading.joint_order import own_joints
from surefoot.motion.reading.names import (
    MISSING_STEP,
    find_key,
    likely_names,
    matched_joint,
    of_another_robot,
    rename_step,
    some_names,
)
from surefoot.motion.reading.parts import MotionParts, completed, finite_table
from surefoot.robot import Robot
from surefoot.words import are_missing

_WORDS = {
    "q": ("pos", "position", "q", "angle", "joint_pos", "dof_pos", "qpos"),
    "v": ("v", "vel", "velocity", "dq", "qd", "speed", "joint_vel", "dof_vel", "qvel"),
    "a": ("a", "acc", "acceleration", "ddq", "qdd"),
    "tau": ("tau", "effort", "torque", "eff", "force"),
}
_BASE_WORDS = {
    "": ("", "p", "t", "pos_", "position_", "translation_"),
    "q": ("q", "q_", "quat_", "quaternion_", "orientation_", "rot_"),
    "v": ("v", "v_", "vel_", "lin_vel_", "linear_", "linear_velocity_"),
    "w": ("w", "w_", "ang_vel_", "angular_", "angular_velocity_", "omega_"),
}
_BASE_ENTRIES = {
    f"{word}{axis}": f"{kind}{axis}"
    for kind, words in _BASE_WORDS.items()
    for axis in ("xyzw" if kind == "q" else "xyz")
    for word in words
}
_FACTORS = {
    "deg": np.pi / 180.0, "deg/s": np.pi / 180.0, "deg/s^2": np.pi / 180.0, "mm": 1e-3, "cm": 1e-2, "mm/s": 1e-3,
    "ms": 1e-3, "us": 1e-6, "ns": 1e-9,
}  # fmt: skip
"""Units that a header may name, and what they are in radians, metres and seconds."""


def parts_of_table(
    robot: Robot,
    table: Table,
    layout: str | None = None,
    joints: Sequence[str] | None = None,
    partly: bool = False,
) -> MotionParts:
    """The parts of a motion that is stored in columns.

    Args:
        robot: The robot.
        table: The columns; without a header they are taken by their number.
        layout: One of `exchange.LAYOUTS`; None to detect it by the names.
        joints: Order of the joints, if the names do not give it.
        partly: Whether joints may be missing, which then stay at home.

    Raises:
        FileFormatError: The meaning of the columns is unclear.
        UnknownNameError: Columns are missing.
    """
    if table.header is None:
        return parts_of_matrix(robot, finite_table(table.numbers, "the table"), layout, joints, partly)
    if repeated := sorted(name for name, count in Counter(table.header).items() if count > 1):
        raise FileFormatError("column names are repeated", evidence={"names": ", ".join(repeated[:10])})
    columns, remarks = _in_si_units(table)
    if SEPARATOR in table.metadata:
        remarks.append(f"entries are separated by {table.metadata[SEPARATOR]}")
    if (ours := _parts_of_export(robot, columns, remarks)) is not None:
        return ours
    arrays, labels = _numbered(columns)
    if find_key("states", labels) or find_key("positions", labels):
        return _vectors(robot, (arrays, labels), layout, joints, partly)
    return _named(robot, columns, remarks, partly)


def _in_si_units(table: Table) -> tuple[dict[str, Array], list[str]]:
    """Columns without units in their names; those in units that are not SI are converted, which is said."""
    out: dict[str, Array] = {}
    remarks = []
    for heading, values in table.columns.items():
        name, unit = split_unit(heading)
        factor = _FACTORS.get(unit or "", 1.0)
        if factor != 1.0:
            remarks.append(f"`{name}` is converted from {unit}")
        out[name] = values * factor
    return out, remarks[:3] + ([f"… and {len(remarks) - 3} more columns"] if len(remarks) > 3 else [])


def _vectors(
    robot: Robot,
    columns: tuple[Mapping[str, Array], Mapping[str, list[str]]],
    layout: str | None,
    joints: Sequence[str] | None,
    partly: bool,
) -> MotionParts:
    """Columns `qpos[0] root_joint.x`, …: arrays, and names that tell layout and order of the joints."""
    arrays, labels = columns
    key = find_key("states", labels)
    told = labels.get(key or "", [])
    if joints is None and told and all(told):
        joints = list(dict.fromkeys(_joint_of(robot, label) for label in told))
        layout = layout or _layout_of(robot, str(key), told, joints)
    time = find_key("time", arrays)
    parts = parts_of_arrays(robot, arrays, layout, joints, partly)
    return parts if time is None else replace(parts, time=finite_table(arrays[time], time))


def _joint_of(robot: Robot, label: str) -> str:
    fitting = [name for name in robot.joint_names if label == name or label.startswith(name + ".")]
    if not fitting:
        raise one_of("joint", label, robot.joint_names)
    return max(fitting, key=len)


def _layout_of(robot: Robot, key: str, labels: Sequence[str], joints: Sequence[str]) -> str | None:
    """The layout with these names, of those that use the key; None if there is none."""
    for name in (name for name, keys in VECTOR_KEYS.items() if keys[0] == key):
        if [label for label, _ in column_names(robot, name, joints)[0]] == list(labels):
            return name
    return None


def _named(robot: Robot, columns: Mapping[str, Array], remarks: list[str], partly: bool) -> MotionParts:
    """Columns named after joints, base and contacts."""
    labels = [[name for name, _ in part] for part in column_names(robot, "csv")]
    time = find_key("time", columns)
    found: dict[str, dict[str, Array]] = {kind: {} for kind in _WORDS}
    unknown = []
    for name, values in columns.items():
        kind, target = _meaning(robot, name, labels)
        if kind:
            found[kind].setdefault(target, finite_table(values, name))
        elif name != time and _contact_entry(robot, name) is None:
            unknown.append(name)
    held = _hold_at_home(robot, found) if partly else []
    _require(robot, labels[0], found["q"], unknown)
    remarks = [*remarks, "columns by name", *held]
    more = [*labels[1], *(f"{drive.joint}.tau" for drive in robot.drives)]
    remarks += _passed_over(unknown, [name for name in more if name not in columns])
    v, filled = completed(robot, "csv", labels[1], found["v"])
    remarks += ["velocities are incomplete for every joint and are ignored"] if found["v"] and not v else []
    tau = _stacked(found["tau"], [drive.joint for drive in robot.drives])
    a = _stacked(found["a"], [name.removesuffix(".v") for name in labels[1]])
    for what, kind, got in (("torques", "tau", tau), ("accelerations", "a", a)):
        remarks += [f"{what} are incomplete and are ignored"] if found[kind] and got is None else []
    return MotionParts(
        "csv", found["q"] | v, time=None if time is None else finite_table(columns[time], time), a=a, tau=tau,
        wrenches=_contact_wrenches(robot, columns), filled=filled, remarks=tuple(remarks),
    )  # fmt: skip


def _hold_at_home(robot: Robot, found: dict[str, dict[str, Array]]) -> list[str]:
    """Put joints that are missing at home, at rest, and say so; not all of them."""
    missing = [name for name in own_joints(robot) if name not in found["q"]]
    if not missing or len(missing) == len(own_joints(robot)):
        return []
    home = to_layout(robot, "csv", robot.home)
    at = {split_unit(name)[0]: float(value) for name, value in home.items()}
    still = np.zeros_like(next(iter(found["q"].values())))
    for name in missing:
        found["q"][name] = still + at[name]
        found["v"].setdefault(f"{name}.v", still)
    return [f"not in the file and held at home: {some_names(missing)}"]


def _passed_over(unknown: Sequence[str], known: Sequence[str]) -> list[str]:
    """Columns that nobody understands, those that look like slips of the pen first."""
    if not unknown:
        return []
    likely = likely_names(unknown, known)
    texts = [f"{name} (did you mean `{right}`?)" for name, right in likely.items()]
    texts += [name for name in unknown if name not in likely]
    return [f"ignored columns: {', '.join(texts[:8])}{', …' if len(texts) > 8 else ''}"]


def _stacked(columns: Mapping[str, Array], names: Sequence[str]) -> Array | None:
    return np.column_stack([columns[name] for name in names]) if names and all(n in columns for n in names) else None


def _meaning(robot: Robot, name: str, labels: Sequence[Sequence[str]]) -> tuple[str, str]:
    """What a column is of (q, v, a, tau) and its name in layout csv; ("", "") if that is not known."""
    for kind, known in zip("qv", labels, strict=True):
        if name in known:
            return kind, name
    if (entry := _base_entry(robot, name)) is not None:
        for kind, known in zip("qv", labels, strict=True):
            if f"base.{entry}" in known:
                return kind, f"base.{entry}"
    for kind, rest in _split(name):
        joint = matched_joint(robot, rest)
        if joint is not None:
            target = f"{joint}.v" if kind == "v" else joint
            if kind in ("a", "tau") or target in labels["qv".index(kind)]:
                return kind, target
    return _meaning(robot, name.strip(), labels) if name != name.strip() else ("", "")


def _split(name: str) -> list[tuple[str, str]]:
    """Kinds that a name may be of, with the rest of the name: the whole name first, then without a word in it."""
    out = [("q", name)]
    low = name.lower()
    for kind, words in _WORDS.items():
        for word in words:
            for mark in "._/:":
                if low.endswith(mark + word):
                    out.append((kind, name[: -len(word) - 1]))
                if low.startswith(word + mark):
                    out.append((kind, name[len(word) + 1 :]))
    return out


def _base_entry(robot: Robot, name: str) -> str | None:
    """`x`, `qw`, `vx`, … of a column of the base; None for other columns."""
    if robot.base_joint is None:
        return None
    text = re.sub(r"[./: ]", "_", name.lower())
    own = robot.joint_names[robot.base_joint].lower()
    for prefix in (own, "floating_base", "base", "root", "pelvis"):
        if text.startswith(prefix + "_"):
            found = _BASE_ENTRIES.get(text[len(prefix) + 1 :])
            if found is not None:
                return found
    return None


def _require(robot: Robot, wanted: Sequence[str], found: Mapping[str, Array], unknown: Sequence[str]) -> None:
    tree = robot.tree
    followers = {tree.joint_names[i] for i in range(tree.n) if tree.mimic_source[i] >= 0}
    needed = [name for name in wanted if name not in followers]
    missing = [name for name in needed if name not in found]
    if not missing:
        return
    joints = [name for name in needed if not name.startswith("base.")]
    if (other := of_another_robot(robot, joints, [name for name in joints if name in found], unknown)) is not None:
        raise other
    otherwise = f"name the columns after the joints of `{robot.name}`: {wanted[-1]}, {wanted[-1]}.v, {wanted[-1]}.tau"
    if 2 * len(missing) <= len(needed):
        otherwise = MISSING_STEP
    if all(name.startswith("base.") for name in missing):
        otherwise = "record the base as well, or audit the robot with a fixed base"
    raise UnknownNameError(
        are_missing(len(missing), "column"),
        evidence={"missing": some_names(missing), "found but not recognised": some_names(unknown) or "none"},
        next_step=rename_step(likely_names(unknown, missing)) or otherwise,
    )


Columns = Mapping[str, Array]
_CELL = re.compile(r"([^\[\]]+)\[(\d+)\](?:\s+(.*\S))?", re.DOTALL)
_WRENCH = ("fx", "fy", "fz", "mx", "my", "mz")
_REFERENCE = "reference."


def _parts_of_export(robot: Robot, columns: Columns, remarks: Sequence[str] = ()) -> MotionParts | None:
    """The parts of a motion in columns as `storage.trajectory_columns` names them; None for other columns."""
    positions, velocities = ([name for name, _ in labels] for labels in column_names(robot, "pinocchio"))
    rates = [name.removesuffix(".v") for name in velocities]
    if 2 * len(_under(columns, "q", positions)) < len(positions):
        return None
    _require_positions(columns, positions)
    driven = [rates[k] for k in robot.driven]
    v, filled = completed(robot, "pinocchio", rates, _under(columns, "v", rates))
    states = {"q": _stacked(_under(columns, "q", positions), positions), "v": _stacked(v, rates)}
    return MotionParts(
        "pinocchio", {key: values for key, values in states.items() if values is not None},
        time=finite_table(columns["time"], "time") if "time" in columns else None,
        a=_stacked(_under(columns, "a", rates), rates), tau=_stacked(_under(columns, "tau", driven), driven),
        wrenches=_contact_wrenches(robot, columns), references=_references(columns), filled=filled,
        remarks=("columns as exported by surefoot", *remarks, *_left_out(robot, columns, (positions, rates, driven))),
    )  # fmt: skip


def _left_out(robot: Robot, columns: Columns, labels: tuple[list[str], list[str], list[str]]) -> list[str]:
    """Remarks on what is not read."""
    positions, rates, driven = labels
    groups = {"q": positions, "v": rates, "a": rates, "tau": driven}
    out = []
    for key, what in (("a", "accelerations"), ("tau", "torques")):
        if 0 < len(_under(columns, key, groups[key])) < len(groups[key]):
            out.append(f"{what} are incomplete and are ignored")
    used = {f"{key}.{name}" for key, names in groups.items() for name in names} | {"time"}
    unknown = [name for name in columns if name not in used and not _understood(robot, name)]
    return [*out, f"ignored columns: {some_names(unknown)}"] if unknown else out


def _contact_entry(robot: Robot, name: str) -> tuple[str, int] | None:
    """Contact and entry of its wrench: `wrench.left_foot.fz` or `left_foot.fz`; None for other columns."""
    rest, _, entry = name.removeprefix("wrench.").rpartition(".")
    return (rest, _WRENCH.index(entry)) if rest in robot.contacts and entry in _WRENCH else None


def _contact_wrenches(robot: Robot, columns: Columns) -> dict[str, Array]:
    """Contact wrenches (n, 6); entries that are missing are an error."""
    out: dict[str, dict[int, Array]] = {}
    for name, values in columns.items():
        place = _contact_entry(robot, name)
        if place is not None:
            out.setdefault(place[0], {})[place[1]] = finite_table(values, name)
    for contact, entries in out.items():
        if len(entries) < len(_WRENCH):
            missing = ", ".join(f"{contact}.{part}" for k, part in enumerate(_WRENCH) if k not in entries)
            raise UnknownNameError(
                f"the wrench of contact `{contact}` lacks {missing}", next_step="give all six entries"
            )
    return {contact: np.column_stack([entries[k] for k in range(6)]) for contact, entries in out.items()}


def _numbered(columns: Columns) -> tuple[dict[str, Array], dict[str, list[str]]]:
    """`qpos[0]`, `qpos[1]`, … as one array with the names of its entries; other columns as they are.

    Returns:
        (n,) and (n, k) by key, and of those with k entries what stands after each number.
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


def _references(columns: Columns) -> dict[str, Array]:
    """References (n, k) by name."""
    cells = {name: values for name, values in columns.items() if name.startswith(_REFERENCE)}
    return {
        name.removeprefix(_REFERENCE): finite_table(values.reshape(len(values), -1), name)
        for name, values in _numbered(cells)[0].items()
    }


def _understood(robot: Robot, name: str) -> bool:
    return _contact_entry(robot, name) is not None or name.startswith(_REFERENCE)
