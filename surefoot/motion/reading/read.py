"""Read a motion from anywhere: our own files, tables with named columns, logs of simulators and policies, arrays."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array, number
from surefoot.errors import FileFormatError, ShapeError, SurefootError, one_of
from surefoot.motion.exchange import LAYOUTS, from_layout
from surefoot.motion.files import (
    LOG_FORMAT,
    TRAJECTORY_FORMAT,
    Table,
    read_csv,
    read_npy,
    read_npz,
    read_parquet,
)
from surefoot.motion.log import Log
from surefoot.motion.reading.arrays import parts_of_arrays
from surefoot.motion.reading.columns import parts_of_table
from surefoot.motion.reading.joint_order import (
    JointOrder,
    joint_orders,
    judge_joint_order,
    named_order,
    own_joints,
    reordered,
)
from surefoot.motion.reading.names import find_key
from surefoot.motion.reading.order import (
    OrderVerdict,
    heading,
    in_body_axes,
    judge_order,
    lowest_on_ground,
    stiller_feet,
    tilt,
    turning,
)
from surefoot.motion.reading.parts import (
    PUSH,
    MotionParts,
    filled_in,
    filled_remark,
    finite_table,
    normalised,
    sample_times,
)
from surefoot.motion.reading.pickled import pickled_arrays
from surefoot.motion.stance import ContactSchedule
from surefoot.motion.trajectory import Trajectory
from surefoot.motion.world import World
from surefoot.robot import Robot
from surefoot.words import counted

_ORDERS = ("xyzw", "wxyz")
_WXYZ = ("mujoco", "drake")  # layouts with the other order
_USUAL_RATE = 30.0  # [Hz] of tables without names and times, as motion sets for imitation have it
_RATES = (10, 20, 24, 25, 30, 40, 50, 60, 100, 120, 125, 200, 240, 250, 400, 500, 1000, 2000)  # [Hz] of recordings
_RATE_FITS = 0.02  # of the step: error of one that velocities tell
_STEP_FITS = 0.3  # of the motion: misfit of velocities up to which they tell the time between samples
_UPRIGHT = 45.0  # [deg]: largest median tilt of a base whose quaternion is read right, and
_CLEARLY = 45.0  # [deg] by which it is at least more tilted in the other order
_AHEAD = 0.5  # cosine of the angle to the heading at home, up to which a base faces forwards


@dataclass(frozen=True, eq=False)
class GivenMotion:
    """A motion as it was read.

    Args:
        trajectory: The motion; quaternions made of unit length.
        quaternion_norm: Length (n,) that they had, by joint.
        layout: One of `exchange.LAYOUTS`.
        remarks: How the file was understood.
        filled: Joints whose velocities the file omits while it gives others; they are computed from q.
        quaternion_order: Order in which the base quaternion was read, "xyzw" or "wxyz"; "" if none was declared.
    """

    trajectory: Trajectory
    quaternion_norm: Mapping[str, Array] = field(default_factory=dict)
    layout: str = "pinocchio"
    remarks: tuple[str, ...] = ()
    filled: tuple[str, ...] = ()
    quaternion_order: str = ""


def read_motion(
    path: str | Path,
    robot: Robot,
    layout: str | None = None,
    joints: Sequence[str] | None = None,
    rate: float | None = None,
    quaternion: str | None = None,
    *,
    joint_order: str | Path | None = None,
    missing: str | None = None,
    motion: str | None = None,
) -> GivenMotion:
    """Read a motion from a file.

    Angles and lengths are read as they are; only columns whose header names another unit are converted.

    Args:
        path: A trajectory or log of ours (`.npz`, `.parquet`), the folder of a run, a table (`.csv`, `.parquet`), or
            arrays (`.npz`, `.npy`, `.pkl`; of pickles nothing is executed).
        robot: The robot that moves.
        layout: One of `exchange.LAYOUTS`; None to detect it by keys, column names and numbers.
        joints: Order of the joints, if the file does not give it; None for the robot's.
        rate: Samples per second [Hz], if the file has no times.
        quaternion: "xyzw" or "wxyz", if the layout does not determine it; None to judge it by the motion.
        joint_order: Order of unnamed joints, by name (`joint_orders`: robot, breadth-first, alphabetical,
            sides-swapped) or as a text file lists them; None to judge it by the motion.
        missing: "home" to hold joints that the file lacks at their home positions; None to refuse them.
        motion: Which motion of a file with several.

    Raises:
        FileFormatError: The file is missing, damaged, unsupported or unclear.
        ShapeError: Numbers are not finite, do not fit the robot, or times do not increase.
        UnknownNameError: Joints or columns are missing, or a name is unknown.
    """
    _check_options(layout, quaternion, missing)
    if joint_order is not None:
        joints = named_order(robot, joint_order)
    file = _file(Path(path))
    table = None
    try:
        ours = _our_motion(file, robot)
        if ours is not None:
            given = {"layout": layout, "joints": joints, "rate": rate, "quaternion": quaternion}
            return GivenMotion(*ours[:3], (*ours[3], *_passed_over(given, "a file of surefoot")))
        table = _table_of(file)
        arrays = _raw_arrays(file, motion) if table is None else {}
        read = parts_of_arrays if table is None else parts_of_table
        content = arrays if table is None else table
        bare = table is not None and table.header is None
        with np.errstate(over="ignore", invalid="ignore"):  # absurd numbers are refused later, by name
            parts = read(robot, content, layout, joints, missing is not None)  # type: ignore[arg-type]
            return _assembled(robot, parts, _times(robot, parts, arrays, rate, bare), quaternion)
    except SurefootError as error:
        raise error.with_place(file, _line(table, error.evidence.get("row"))) from None


def _as_given(robot: Robot, time: Array, q: Array, v: Array | None = None, **others: Any) -> Trajectory:
    """A trajectory that has velocities only if the file has them."""
    return Trajectory.of(robot, time, q, v, **others).as_given


def _line(table: Table | None, row: object) -> int | None:
    """The line of a text file with a row of a table."""
    return table.lines[row] if table is not None and isinstance(row, int) and row < len(table.lines) else None


def _check_options(layout: str | None, quaternion: str | None, missing: str | None) -> None:
    if layout is not None and layout not in LAYOUTS:
        raise one_of("layout", layout, LAYOUTS)
    if quaternion is not None and quaternion not in _ORDERS:
        raise one_of("order of quaternions", quaternion, _ORDERS)
    if missing not in (None, "home"):
        raise one_of("place of missing joints", missing, ("home",))


def _file(path: Path) -> Path:
    """The file itself; of the folder of a run its trajectory, else its log."""
    if not os.path.isdir(path):
        return path
    for name in ("trajectory.npz", "trajectory.parquet", "log.parquet"):
        if (path / name).is_file():
            return path / name
    raise FileFormatError(
        "is a folder without a motion",
        file=path,
        evidence={"expected": "trajectory.npz or log.parquet"},
        next_step="give a motion file, or the folder of a run",
    )


def _times(
    robot: Robot, parts: MotionParts, arrays: Mapping[str, Any], rate: float | None, bare: bool
) -> tuple[Array, str]:
    """Times of the file, from the rate, or by velocities; of bare tables at the usual rate; with a remark."""
    if rate is not None:
        step = 1.0 / number(rate, "rate", positive=True)
        return np.array([step]), f"time from --rate {rate:g} Hz" + (
            "; the times in the file are ignored" if parts.time is not None else ""
        )
    if parts.time is not None:
        return parts.time, ""
    if (key := find_key("time", arrays)) is not None:
        return finite_table(arrays[key], key).ravel(), f"`{key}` is read as time [s]"
    for what in ("rate", "step"):
        if (key := find_key(what, arrays)) is not None:
            value = number(_only(arrays[key], key), key, positive=True)
            return np.array([1.0 / value if what == "rate" else value]), f"time from `{key}` = {value:g}"
    if (found := _step_of_rates(robot, parts)) is not None:
        return np.array([found]), f"no times: steps of {found:.4g} s are those in which q moves as its velocities say"
    if bare:
        return np.array([1.0 / _USUAL_RATE]), (
            f"no times: read as {_USUAL_RATE:g} samples per second, the usual rate of retargeted motions;"
            " give --rate if it is another"
        )
    raise FileFormatError(
        "has no times",
        evidence={"expected": "`time` [s], or `fps`, or `dt`", "found": ", ".join(map(str, arrays)) or "other columns"},
        next_step="give the samples per second with --rate",
    )


def _step_of_rates(robot: Robot, parts: MotionParts) -> float | None:
    """The time between samples in which joints move as far as their velocities say [s]; None if that does not fit."""
    q, v = from_layout(robot, parts.layout, normalised(robot, parts)[0], parts.joints)
    rows = [int(robot.tree.v_index[robot.joint_index(name)]) for name in own_joints(robot)]
    if v is None or len(q) < 3 or not rows or set(own_joints(robot)) & set(parts.filled):
        return None
    moved = np.array([pin.difference(robot.model, a, b) for a, b in pairwise(q)])[:, rows].ravel()
    rate = 0.5 * (v[1:, rows] + v[:-1, rows]).ravel()
    size = float(rate @ rate)
    step = float(moved @ rate) / size if size > 0.0 else 0.0
    fits = step > 0.0 and np.linalg.norm(moved - step * rate) <= _STEP_FITS * np.linalg.norm(moved)
    if not fits:
        return None
    usual = min((1.0 / rate for rate in _RATES), key=lambda one: abs(one / step - 1.0))
    return usual if abs(usual / step - 1.0) < _RATE_FITS else float(f"{step:.4g}")


def _only(value: Any, key: str) -> float:
    """The first of the numbers that are stored under a key."""
    found = np.asarray(value).ravel()
    if not len(found) or found.dtype.kind not in "iuf":
        raise FileFormatError(
            f"`{key}` is not a number",
            evidence={key: f"{counted(len(found), 'value')} of type {found.dtype}"},
            next_step="give the samples per second with --rate",
        )
    return float(found[0])


def _assembled(robot: Robot, parts: MotionParts, timing: tuple[Array, str], quaternion: str | None) -> GivenMotion:
    """The trajectory of the parts; of two orders of the quaternion the one that fits."""
    time, remark = timing
    candidates = [parts] if not parts.unsure else [parts, _in_other_order(parts)]
    if quaternion is not None and parts.unsure:
        candidates = [candidates[_ORDERS.index(quaternion)]]
    found = [_trajectory(robot, candidate, time) for candidate in candidates]
    verdicts = [_verdict(robot, trajectory, parts.filled) for trajectory, _, _ in found]
    k, reason = _choice(robot, [trajectory for trajectory, _, _ in found], verdicts) if len(found) > 1 else (0, "")
    trajectory, lengths, more = found[k]
    remarks = (*candidates[k].remarks, *more, *filter(None, [remark, filled_remark(robot, parts.filled)]))
    order = [f"the base quaternion is read as {_ORDERS[k]}: {reason}"] if reason else []
    order += _doubts(candidates[k], verdicts[k]) if quaternion is None else []
    order += [] if parts.unsure else _passed_over({"quaternion": quaternion}, f"layout `{parts.layout}`")
    said = (quaternion or _ORDERS[k]) if parts.unsure else _ORDERS[parts.layout in _WXYZ]
    return GivenMotion(trajectory, lengths, candidates[k].layout, (*remarks, *order), parts.filled, said)


def _doubts(parts: MotionParts, verdict: OrderVerdict) -> list[str]:
    """Doubts about the order that was read, and how to give the other one."""
    if not verdict.doubt:
        return []
    if parts.unsure:
        return [f"{verdict.doubt}: give --quaternion"]
    vector = {"mujoco": "pinocchio", "pinocchio": "mujoco"}.get(parts.layout)
    return [f"{verdict.doubt}: " + ("name the columns in that order" if vector is None else f"give --layout {vector}")]


def _verdict(robot: Robot, reading: Trajectory, filled: Sequence[str]) -> OrderVerdict:
    """Whether a reading of the base quaternion is right; by velocities only where those of the base were given."""
    return judge_order(robot, World(), reading.time, reading.q, None if _has_base(robot, filled) else reading.v)


def _passed_over(options: Mapping[str, object], who: str) -> list[str]:
    """Remarks on options that are ignored because the file determines them."""
    return [f"`{name}` is ignored: {who} determines it" for name, value in options.items() if value is not None]


def _in_other_order(parts: MotionParts) -> MotionParts:
    """The same numbers with quaternions wxyz."""
    if parts.layout == "ros":
        turned = np.roll(np.asarray(parts.data["base_orientation"]), -1, axis=1)
        return replace(parts, data={**parts.data, "base_orientation": turned})
    data = {{"q": "qpos", "v": "qvel"}[key]: values for key, values in parts.data.items()}
    return replace(
        parts, layout="mujoco", data=data, remarks=tuple(r.replace("pinocchio", "mujoco") for r in parts.remarks)
    )


def _trajectory(robot: Robot, parts: MotionParts, time: Array) -> tuple[Trajectory, dict[str, Array], list[str]]:
    """The trajectory, lengths of its quaternions, and remarks."""
    data, lengths = normalised(robot, parts)
    n = len(next(np.asarray(x) for key, x in data.items() if not key.endswith("names")))
    at = sample_times(time, n)
    remarks: list[str] = []
    unsure = parts.layout == "ros" and parts.unsure and "base_linear" in data and not _has_base(robot, parts.filled)
    if unsure and len(at) == n:
        pose = data["base_position"], data["base_orientation"], turning(data["base_orientation"])
        linear, angular, remarks = in_body_axes(at, pose, data["base_linear"], data["base_angular"])
        data |= {"base_linear": linear, "base_angular": angular}
    q, v = from_layout(robot, parts.layout, data, parts.joints)
    tau = parts.tau
    some = parts.unnamed
    order = judge_joint_order(robot, World(), at, q, some) if some and len(at) == len(q) else JointOrder("")
    if order.meant:
        meant = [name for name in joint_orders(robot)[order.meant] if name in some]
        q, v, tau = _in_joint_order(robot, meant, q, v, tau)
        remarks = [*remarks, f"the joints are read in {order.meant} order: as they are, {order.reason}"]
    elif order.reason:
        remarks = [*remarks, f"the joints may be in another order: {order.reason}: give --joint-order FILE"]
    trajectory = _as_given(robot, at, q, v, a=parts.a, tau=tau, wrenches=parts.wrenches, references=parts.references)
    if trajectory.v is not None and parts.filled:
        trajectory = replace(trajectory, v=filled_in(robot, trajectory.time, trajectory.q, trajectory.v, parts.filled))
    return trajectory, lengths, remarks


def _in_joint_order(
    robot: Robot, order: Sequence[str], q: Array, v: Array | None, tau: Array | None
) -> tuple[Array, Array | None, Array | None]:
    """The same numbers, with the joints in another order than the robot's."""
    own, drives = [name for name in own_joints(robot) if name in order], [drive.joint for drive in robot.drives]
    if tau is not None and set(drives) == set(own):
        tau = tau[:, [drives.index(own[list(order).index(joint)]) for joint in drives]]
    rates = None if v is None else reordered(robot, v, order, of_velocities=True)
    return reordered(robot, q, order), rates, tau


def _has_base(robot: Robot, joints: Sequence[str]) -> bool:
    return robot.base_joint is not None and robot.joint_names[robot.base_joint] in joints


def _choice(robot: Robot, readings: Sequence[Trajectory], verdicts: Sequence[OrderVerdict]) -> tuple[int, str]:
    """Which reading of a quaternion is right, and why.

    Raises:
        FileFormatError: Nothing tells.
    """
    fitting = [k for k, verdict in enumerate(verdicts) if verdict.certain and not verdict.meant]
    if fitting:
        k = min(fitting, key=lambda k: bool(verdicts[k].doubt))
        return k, verdicts[k].reason
    tilts = [tilt(robot, reading.q) for reading in readings]
    k = int(np.argmin(tilts))
    if tilts[k] < _UPRIGHT and tilts[1 - k] > tilts[k] + _CLEARLY:
        return k, f"the base is then upright (tilt {tilts[k]:.0f}°, otherwise {tilts[1 - k]:.0f}°)"
    told = lowest_on_ground(robot, World(), readings)
    if told is None and max(tilts) < _UPRIGHT:
        told = stiller_feet(robot, World(), readings)
    if told is not None:
        return told
    ahead = [heading(robot, reading.q) for reading in readings]
    k = int(np.argmax(ahead))
    if tilts[k] < _UPRIGHT and ahead[k] > _AHEAD and ahead[1 - k] < -_AHEAD:
        return k, f"nothing but the heading tells, and it faces forwards then; else give --quaternion {_ORDERS[1 - k]}"
    raise FileFormatError(
        "does not determine the order of its base quaternion",
        evidence={f"median tilt read as {order}": f"{angle:.0f}°" for order, angle in zip(_ORDERS, tilts, strict=True)},
        next_step="give --quaternion xyzw or --quaternion wxyz",
    )


_OurMotion = tuple[Trajectory, dict[str, Array], str, tuple[str, ...]]
_SUFFIXES = (".npz", ".npy", ".csv", ".parquet", ".pkl", ".pickle", ".joblib")
_TENSORS = (".pt", ".pth")
_WITHOUT_BASE = (".yaml", ".yml", ".mcap", ".pos", ".hip", ".zmp")
"""Formats that are exported for other programs; most of them lack the base."""


def _our_motion(path: Path, robot: Robot) -> _OurMotion | None:
    """Trajectory, lengths of quaternions, layout and remarks of a file of ours; None for foreign files.

    Raises:
        FileFormatError: The file is damaged, newer, or a log without states.
        ShapeError: The motion is of another robot.
    """
    _require_suffix(path)
    kind = _format(path).partition("/")[0]
    if kind == TRAJECTORY_FORMAT.partition("/")[0]:
        trajectory, lengths = _saved_trajectory(path, robot)
        trajectory.require(robot)
        return trajectory, lengths, "pinocchio", ("a trajectory of surefoot",)
    if kind == LOG_FORMAT.partition("/")[0]:
        log = Log.load(path)
        trajectory, lengths = _from_log(robot, log, path)
        cut = ("the run stopped before its end",) if log.partial else ()
        return trajectory, lengths, "pinocchio", ("a log of surefoot", *cut)
    return None


def _table_of(path: Path) -> Table | None:
    """The table in a file; None for files of arrays."""
    if path.suffix == ".csv":
        return read_csv(path, finite=False)
    return read_parquet(path) if path.suffix == ".parquet" else None


def _raw_arrays(path: Path, motion: str | None) -> dict[str, Any]:
    """The arrays of a `.npz` file or pickle by name; the one of a `.npy` file as `arr_0`."""
    if path.suffix == ".npz":
        return read_npz(path)
    if path.suffix == ".npy":
        return {"arr_0": read_npy(path)}
    return pickled_arrays(path, motion)


def _require_suffix(path: Path) -> None:
    if path.suffix in _SUFFIXES:
        return
    why, step = "", "convert the file"
    if path.suffix in _TENSORS:
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
        return str(read_npz(path, "format").get("format", ""))
    return read_parquet(path).metadata.get("surefoot.format", "") if path.suffix == ".parquet" else ""


def _saved_trajectory(path: Path, robot: Robot) -> tuple[Trajectory, dict[str, Array]]:
    """A trajectory of ours; one whose quaternions were changed in length is read, too."""
    try:
        return Trajectory.load(path), {}
    except FileFormatError as error:
        if path.suffix != ".npz" or error.kind != "quaternion":
            raise
    arrays = read_npz(path)
    facts = json.loads(str(arrays["facts"]))
    data, lengths = normalised(robot, MotionParts("pinocchio", {"q": finite_table(arrays["q"], "q")}))
    schedule = facts["schedule"]
    named: dict[str, Any] = {
        group: {key.partition("/")[2]: x for key, x in arrays.items() if key.startswith(group + "/")}
        for group in ("wrenches", "references")
    }
    plain: dict[str, Any] = {key: arrays[key] for key in ("v", "a", "tau", "tau_rate") if key in arrays}
    plain |= {"control": facts["control"]} if "control" in facts else {}
    return _as_given(
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
    return _as_given(robot, log.time, data["q"], **others, wrenches=wrenches, references=pushed), lengths
