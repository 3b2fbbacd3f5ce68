"""Files that may hold a motion: our own trajectories and logs, tables, and arrays by name."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, ShapeError
from surefoot.files import existing_file
from surefoot.motion.files import LOG_FORMAT, TRAJECTORY_FORMAT, Table, read_csv, read_npz, read_parquet
from surefoot.motion.log import Log
from surefoot.motion.reading.parts import PUSH, MotionParts, finite_table, normalised
from surefoot.motion.stance import ContactSchedule
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

__all__ = ["our_motion", "raw_arrays", "table_of"]

_OurMotion = tuple[Trajectory, dict[str, Array], str, tuple[str, ...]]
_SUFFIXES = (".npz", ".npy", ".csv", ".parquet")
_PICKLED = (".pkl", ".pickle", ".pt", ".pth", ".joblib")
_WITHOUT_BASE = (".yaml", ".yml", ".mcap", ".pos", ".hip", ".zmp")
"""Formats that are exported for other programs; most of them lack the base."""


def our_motion(path: Path, robot: Robot) -> _OurMotion | None:
    """Trajectory, lengths of quaternions, layout and remarks of a file of ours; None for foreign files.

    Raises:
        FileFormatError: The file is damaged, newer, or a log without states.
        ShapeError: The motion is of another robot.
    """
    _require_suffix(path)
    kind = _format(path).partition("/")[0]
    if kind == TRAJECTORY_FORMAT.partition("/")[0]:
        trajectory, lengths = _trajectory(path, robot)
        trajectory.require(robot)
        return trajectory, lengths, "pinocchio", ("a trajectory of surefoot",)
    if kind == LOG_FORMAT.partition("/")[0]:
        log = Log.load(path)
        trajectory, lengths = _from_log(robot, log, path)
        cut = ("the run stopped before its end",) if log.partial else ()
        return trajectory, lengths, "pinocchio", ("a log of surefoot", *cut)
    return None


def table_of(path: Path) -> Table | None:
    """The table in a file; None for files of arrays."""
    if path.suffix == ".csv":
        return read_csv(path, finite=False)
    return read_parquet(path) if path.suffix == ".parquet" else None


def raw_arrays(path: Path) -> dict[str, Any]:
    """The arrays of a `.npz` file by name; the one of a `.npy` file as `arr_0`."""
    if path.suffix == ".npz":
        return read_npz(path)
    content = existing_file(path).read_bytes()
    try:
        return {"arr_0": np.load(io.BytesIO(content), allow_pickle=False)}
    except (ValueError, EOFError, OSError) as error:
        raise FileFormatError(
            "cannot be read as an array (.npy)", file=path, evidence={"reader": error}, next_step="write it again"
        ) from error


def _require_suffix(path: Path) -> None:
    if path.suffix in _SUFFIXES:
        return
    why, step = "", "convert the file"
    if path.suffix in _PICKLED:
        why, step = "; such files may run code when loaded", "store the arrays with numpy.savez"
    elif path.suffix in _WITHOUT_BASE:
        why, step = "", "export the motion as .csv or .parquet, or give the original trajectory"
    raise FileFormatError(
        f"suffix `{path.suffix}` is not supported{why}",
        file=path,
        evidence={"expected": ", ".join(_SUFFIXES)},
        next_step=step,
    )


def _format(path: Path) -> str:
    """The declared format of a file; "" for foreign files."""
    if path.suffix == ".npz":
        return str(read_npz(path).get("format", ""))
    return read_parquet(path).metadata.get("surefoot.format", "") if path.suffix == ".parquet" else ""


def _trajectory(path: Path, robot: Robot) -> tuple[Trajectory, dict[str, Array]]:
    """A trajectory of ours; one whose quaternions were changed in length is read, too."""
    try:
        return Trajectory.load(path), {}
    except FileFormatError as error:
        if path.suffix != ".npz" or "length" not in str(error.evidence.get("reason", "")):
            raise
    arrays = read_npz(path)
    facts = json.loads(str(arrays["facts"]))
    data, lengths = normalised(robot, MotionParts("pinocchio", {"q": finite_table(arrays["q"], "q")}))
    schedule = facts["schedule"]
    named: dict[str, Any] = {
        group: {key.partition("/")[2]: x for key, x in arrays.items() if key.startswith(group + "/")}
        for group in ("wrenches", "references")
    }
    plain: dict[str, Any] = {key: arrays[key] for key in ("v", "a", "tau") if key in arrays}
    return Trajectory.of(
        robot, arrays["time"], data["q"], **plain, **named,
        schedule=None if schedule is None else ContactSchedule.from_dict(schedule),
    ), lengths  # fmt: skip


def _from_log(robot: Robot, log: Log, path: Path) -> tuple[Trajectory, dict[str, Array]]:
    if "q" not in log:
        raise FileFormatError(
            "is a log without states",
            file=path,
            evidence={"expected": "a column `q`", "found": ", ".join(log.columns)},
            next_step="give the trajectory.npz of the run",
        )
    q = finite_table(log["q"], "q")
    if q.shape[1] != robot.nq:
        raise ShapeError(f"`q` of the log has {q.shape[1]} entries, `{robot.name}` has {robot.nq}")
    data, lengths = normalised(robot, MotionParts("pinocchio", {"q": q}))
    others: dict[str, Any] = {name: finite_table(log[name], name) for name in ("v", "tau") if name in log}
    wrenches = {
        name: finite_table(log[f"contact.{name}.wrench"], f"contact.{name}.wrench")
        for name in robot.contacts
        if f"contact.{name}.wrench" in log
    }
    pushed = {PUSH: finite_table(log[PUSH], PUSH)} if PUSH in log else {}
    return Trajectory.of(robot, log.time, data["q"], **others, wrenches=wrenches, references=pushed), lengths
