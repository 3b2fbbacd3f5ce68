"""Trajectories and logs in files: `.npz` and `.parquet` both ways, bit by bit; `.csv` to look at.

Files are written whole or not at all, and the same data gives the same bytes. Inside stands a format name with version,
`surefoot.trajectory/1` or `surefoot.log/1`, arrays by name, and one JSON text with the rest.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError, SurefootError
from surefoot.motion.exchange import column_names
from surefoot.motion.files.columns import read_npz, read_parquet, write_csv, write_npz, write_parquet
from surefoot.motion.log import Column, Log, entry_names
from surefoot.motion.stance import ContactSchedule
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

__all__ = [
    "LOG_FORMAT",
    "TRAJECTORY_FORMAT",
    "export_csv",
    "is_trajectory_file",
    "load_log",
    "load_trajectory",
    "log_columns",
    "save_log",
    "save_trajectory",
    "trajectory_columns",
]

TRAJECTORY_FORMAT = "surefoot.trajectory/1"
LOG_FORMAT = "surefoot.log/1"
_SUFFIXES = (".npz", ".parquet")
_WRENCH = (("fx", "N"), ("fy", "N"), ("fz", "N"), ("mx", "N m"), ("my", "N m"), ("mz", "N m"))


@dataclass(frozen=True, eq=False)
class _Bundle:
    """What a file holds: format, arrays (n,) or (n, k) by name, and facts for JSON."""

    format: str
    arrays: Mapping[str, Array]
    facts: Mapping[str, Any]


def save_trajectory(path: str | Path, trajectory: Trajectory) -> None:
    """Write a trajectory; the suffix `.npz` or `.parquet` says how."""
    arrays = {name: getattr(trajectory, name) for name in ("time", "q", "v", "a", "tau")}
    arrays |= {f"wrenches/{name}": series for name, series in trajectory.wrenches.items()}
    arrays |= {f"references/{name}": series for name, series in trajectory.references.items()}
    schedule = None if trajectory.schedule is None else trajectory.schedule.to_dict()
    joints = {"joints": list(trajectory.joints), "kinds": list(trajectory.kinds)}
    facts = {"robot": trajectory.robot, **joints, "schedule": schedule}
    _write(path, _Bundle(TRAJECTORY_FORMAT, {k: x for k, x in arrays.items() if x is not None}, facts))


def load_trajectory(path: str | Path) -> Trajectory:
    """Read what `save_trajectory` wrote.

    Raises:
        FileFormatError: The file is missing, cut off, of another kind or newer version, or holds wrong numbers.
    """
    bundle = _read(path, TRAJECTORY_FORMAT)
    try:
        named: dict[str, Any] = {"wrenches": {}, "references": {}}
        plain: dict[str, Any] = {}
        for name, values in bundle.arrays.items():
            group, _, key = name.partition("/")
            named.get(group, plain)[key or name] = values
        schedule = bundle.facts["schedule"]
        return Trajectory(
            robot=bundle.facts["robot"],
            joints=tuple(bundle.facts["joints"]),
            kinds=tuple(bundle.facts["kinds"]),
            schedule=None if schedule is None else ContactSchedule.from_dict(schedule),
            **named,
            **plain,
        )
    except (ShapeError, KeyError, TypeError, AttributeError) as error:
        raise _contradiction(path, TRAJECTORY_FORMAT, error) from error


def save_log(path: str | Path, log: Log) -> None:
    """Write a log; the suffix `.npz` or `.parquet` says how."""
    arrays = {f"columns/{column.name}": column.data for column in log}
    units = {column.name: column.unit for column in log}
    facts = {"units": units, "order": list(log.columns), "partial": log.partial, "metadata": dict(log.metadata)}
    _write(path, _Bundle(LOG_FORMAT, arrays, facts))


def load_log(path: str | Path) -> Log:
    """Read what `save_log` wrote.

    Raises:
        FileFormatError: The file is missing, cut off, of another kind or newer version, or contradicts itself.
    """
    bundle = _read(path, LOG_FORMAT)
    facts = bundle.facts
    try:
        columns = [Column(name, facts["units"][name], bundle.arrays[f"columns/{name}"]) for name in facts["order"]]
        return Log.of(*columns, partial=bool(facts["partial"]), metadata=facts["metadata"])
    except (ShapeError, KeyError, TypeError, AttributeError, ValueError) as error:
        raise _contradiction(path, LOG_FORMAT, error) from error


def is_trajectory_file(path: str | Path) -> bool:
    """Whether a file calls itself a trajectory of ours, of any version."""
    if Path(path).suffix == ".npz":
        text = str(read_npz(path).get("format", ""))
    else:
        text = read_parquet(path).metadata.get("surefoot.format", "")
    return text.startswith(TRAJECTORY_FORMAT.partition("/")[0] + "/")


def export_csv(path: str | Path, item: Trajectory | Log, robot: Robot | None = None) -> None:
    """Write columns with names and units in the header: `time [s],q.left_knee [rad],…`.

    Args:
        path: Where.
        item: What to write.
        robot: The robot of a trajectory, for the names of its columns; not needed for a log.
    """
    if isinstance(item, Log):
        write_csv(path, log_columns(item))
    elif robot is None:
        raise NotSupportedError("a trajectory needs its robot to name its columns", next_step="pass `robot`")
    else:
        write_csv(path, trajectory_columns(item, robot))


def log_columns(log: Log) -> dict[str, Array]:
    """Every number of a log as a column with its unit.

    Args:
        log: The log.
    """
    return {f"{name} [{column.unit}]": series for column in log for name, series in column.entries.items()}


def trajectory_columns(trajectory: Trajectory, robot: Robot) -> dict[str, Array]:
    """Every number of a trajectory as a column with its unit.

    Args:
        trajectory: The motion.
        robot: The robot that makes it.
    """
    trajectory.require(robot)
    positions, velocities = column_names(robot, "pinocchio")
    rates = [(name.removesuffix(".v"), unit) for name, unit in velocities]
    effort = {"rad/s": "N m", "m/s": "N"}
    labels = {
        "q": positions,
        "v": rates,
        "a": [(name, unit + "^2") for name, unit in rates],
        "tau": [(rates[k][0], effort[rates[k][1]]) for k in robot.driven],
    }
    out = {"time [s]": trajectory.time}
    for name, entries in labels.items():
        series = getattr(trajectory, name)
        if series is not None:
            out |= {f"{name}.{part} [{unit}]": x for (part, unit), x in zip(entries, series.T, strict=True)}
    for contact, series in trajectory.wrenches.items():
        out |= {f"wrench.{contact}.{part} [{u}]": x for (part, u), x in zip(_WRENCH, series.T, strict=True)}
    for reference, series in trajectory.references.items():
        out |= {f"reference.{reference}[{k}]": x for k, x in enumerate(series.T)}
    return out


def _write(path: str | Path, bundle: _Bundle) -> None:
    try:
        facts = json.dumps(dict(bundle.facts), sort_keys=True, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise ShapeError("metadata holds something that JSON does not know", evidence={"reason": error}) from error
    if Path(path).suffix == ".npz":
        write_npz(path, {"format": bundle.format, "facts": facts, **bundle.arrays})
        return
    _require_suffix(path)
    sizes = {name: None if x.ndim == 1 else x.shape[1] for name, x in bundle.arrays.items()}
    columns: dict[str, Array] = {}
    for name, values in bundle.arrays.items():
        series = [values] if values.ndim == 1 else values.T
        columns |= dict(zip(entry_names(name, sizes[name]), series, strict=True))
    texts = {"surefoot.format": bundle.format, "surefoot.facts": facts, "surefoot.sizes": json.dumps(sizes)}
    write_parquet(path, columns, texts)


def _read(path: str | Path, wanted: str) -> _Bundle:
    _require_suffix(path)
    if Path(path).suffix == ".npz":
        arrays: dict[str, Any] = read_npz(path)
        name, facts = str(arrays.pop("format", "")), str(arrays.pop("facts", ""))
        _check_format(path, name, wanted)
    else:
        table = read_parquet(path)
        name, facts = table.metadata.get("surefoot.format", ""), table.metadata.get("surefoot.facts", "")
        _check_format(path, name, wanted)
        arrays = _joined(path, table.columns, table.metadata.get("surefoot.sizes", ""), wanted)
    found = _json(path, facts, wanted)
    return _Bundle(name, arrays, found)


def _joined(path: str | Path, columns: Mapping[str, Array], text: str, wanted: str) -> dict[str, Array]:
    """Arrays (n,) and (n, k) from the columns of a Parquet file."""
    n = len(next(iter(columns.values()))) if columns else 0
    out = {}
    try:
        for name, k in _json(path, text, wanted).items():
            parts = [columns[entry] for entry in entry_names(name, k)]
            out[name] = parts[0] if k is None else np.column_stack(parts) if parts else np.zeros((n, 0))
    except (KeyError, TypeError) as error:
        raise _contradiction(path, wanted, error) from error
    return out


def _json(path: str | Path, text: str, wanted: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise _contradiction(path, wanted, error) from error
    if not isinstance(found, dict):
        raise _contradiction(path, wanted, TypeError("the facts are no table"))
    return found


def _check_format(path: str | Path, name: str, wanted: str) -> None:
    kind, _, version = wanted.partition("/")
    found = re.fullmatch(r"(surefoot\.\w+)/(\d+)", name)
    if found is None or found[1] != kind:
        raise FileFormatError(
            f"is no {kind} file",
            file=path,
            evidence={"expected": wanted, "found": name or "no format name"},
            next_step="check the path; states of other programs are read by `surefoot convert`",
        )
    if int(found[2]) > int(version):
        raise FileFormatError(
            f"was written by a newer surefoot ({name})",
            file=path,
            next_step=f"update surefoot; this one reads {wanted}",
        )


def _require_suffix(path: str | Path) -> None:
    if Path(path).suffix not in _SUFFIXES:
        raise FileFormatError(
            f"suffix `{Path(path).suffix}` is not known", file=path, next_step=f"use {' or '.join(_SUFFIXES)}"
        )


def _contradiction(path: str | Path, wanted: str, error: Exception) -> FileFormatError:
    reason = error.message if isinstance(error, SurefootError) else f"{type(error).__name__}: {error}"
    return FileFormatError(
        "does not hold what its format promises",
        file=path,
        evidence={"expected": wanted, "reason": reason},
        next_step="write the file again",
    )
