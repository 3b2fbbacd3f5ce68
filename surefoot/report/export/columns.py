"""Motions as column files for OpenHRP's sequence player: one row per 5 ms, separated by blanks.

    NAME.pos    time [s], joint positions [rad] or [m]
    NAME.hip    time [s], roll, pitch and yaw of the pelvis in world [rad], R = Rz(yaw) Ry(pitch) Rx(roll)
    NAME.zmp    time [s], x, y and z of the zero moment point in the pelvis frame [m]
    NAME.names  the joints of NAME.pos, one in a line

Koch's dissertation on HRP-2, ch. 6: joints, pelvis orientation, ZMP in the pelvis frame, one row per 5 ms.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from surefoot.arrays import Array
from surefoot.compiler import compile_robot
from surefoot.contact import contact_placements, sum_wrenches, zero_moment_point
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError
from surefoot.motion import Trajectory
from surefoot.report.evidence import Evidence, with_layers
from surefoot.report.export.joints import joint_table
from surefoot.report.scene import poses
from surefoot.robot import Robot

STEP = 0.005
"""Time between rows [s]."""
_AT_REST = 0.01  # [rad/s] or [m/s]
_WIDTHS = {".hip": 3, ".zmp": 3}


@dataclass(frozen=True, eq=False)
class ColumnFiles:
    """Contents of the files.

    Args:
        names: Of the joints.
        time: (n,) from 0 on, every 5 ms [s].
        joints: (n, k) [rad] or [m].
        attitude: (n, 3) roll, pitch and yaw of the pelvis in world [rad].
        zmp: (n, 3) in the pelvis frame [m].
        notes: Remarks for people.
    """

    names: tuple[str, ...]
    time: Array
    joints: Array
    attitude: Array
    zmp: Array
    notes: tuple[str, ...] = ()


def column_files(trajectory: Trajectory, robot: Robot) -> ColumnFiles:
    """The motion every 5 ms, from its start to the last whole step.

    Args:
        trajectory: The motion; with contact wrenches, or with velocities, from which the ZMP is computed.
        robot: Its robot, with a floating base: the pelvis.

    Raises:
        NotSupportedError: The base does not float, or there is no ZMP: neither wrenches nor velocities, or flight.
    """
    trajectory.require(robot)
    if robot.base != "floating" or robot.base_joint is None:
        raise NotSupportedError(
            f"`{robot.name}` has no floating base to serve as the pelvis", next_step="use .csv, .yaml or .mcap"
        )
    count = int(np.floor(trajectory.duration / STEP + 1e-9)) + 1
    sampled = trajectory.resample(np.minimum(trajectory.start + STEP * np.arange(count), trajectory.end))
    table = joint_table(sampled, robot)
    T = poses(robot, sampled.q)[:, robot.base_joint]
    zmp, notes = zmp_of_motion(sampled, robot)
    return ColumnFiles(
        table.names,
        np.round(STEP * np.arange(count), 6),
        table.position,
        np.unwrap(Rotation.from_matrix(T[:, :3, :3]).as_euler("xyz"), axis=0),
        np.einsum("nji,nj->ni", T[:, :3, :3], zmp - T[:, :3, 3]),
        (*notes, *_unrest(sampled)),
    )


def write_column_files(folder: str | Path, files: ColumnFiles) -> list[Path]:
    """Write the files into a new folder, all or none, named after it.

    Args:
        folder: A folder that does not exist or is empty.
        files: What to write.

    Returns:
        The files.
    """
    target = Path(folder)
    if target.exists() and (not target.is_dir() or any(target.iterdir())):
        raise FileFormatError("exists and is not an empty folder", file=target, next_step="choose another folder")
    parent = Path(os.path.abspath(target)).parent
    if not parent.is_dir():
        raise FileFormatError(f"there is no folder `{parent}`", file=target, next_step="create the folder first")
    texts = {
        ".pos": _text(files.time, files.joints),
        ".hip": _text(files.time, files.attitude),
        ".zmp": _text(files.time, files.zmp),
        ".names": "".join(f"{name}\n" for name in files.names),
    }
    base = Path(os.path.abspath(target)).name
    temporary = Path(tempfile.mkdtemp(prefix=f".{base[:100]}.", dir=parent))
    try:
        for suffix, text in texts.items():
            (temporary / f"{base}{suffix}").write_text(text, encoding="utf-8")
        temporary.chmod(0o755)
        os.replace(temporary, target)
    except OSError as error:
        raise FileFormatError(f"cannot be written: {error.strerror or error}", file=target) from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [target / f"{base}{suffix}" for suffix in texts]


def read_column_files(folder: str | Path) -> ColumnFiles:
    """Read column files, as written by `write_column_files` or another program.

    Args:
        folder: With one file of each suffix.

    Raises:
        FileFormatError: A file is missing, or holds other numbers than it should.
    """
    found = {suffix: _only(Path(folder), suffix) for suffix in (".pos", ".hip", ".zmp", ".names")}
    names = tuple(found[".names"].read_text(encoding="utf-8").split("\n")[:-1])
    widths = {".pos": len(names), **_WIDTHS}
    tables = {suffix: _numbers(found[suffix], width + 1) for suffix, width in widths.items()}
    time = tables[".pos"][:, 0]
    for suffix, table in tables.items():
        if not np.array_equal(table[:, 0], time):
            raise FileFormatError("times differ from those of the joint file", file=found[suffix])
    return ColumnFiles(names, time, tables[".pos"][:, 1:], tables[".hip"][:, 1:], tables[".zmp"][:, 1:])


def _unrest(sampled: Trajectory) -> list[str]:
    """Notes if the motion does not start and end at rest, as such robots expect."""
    if sampled.v is None:
        return []
    ends = {"start": sampled.v[0], "end": sampled.v[-1]}
    fast = {name: float(np.abs(v).max(initial=0.0)) for name, v in ends.items()}
    return [f"the motion is not at rest at its {name} (up to {v:.2g} /s)" for name, v in fast.items() if v > _AT_REST]


def _text(time: Array, values: Array) -> str:
    rows = np.column_stack([time, values]).tolist()
    return "".join(" ".join(map(repr, row)) + "\n" for row in rows)


def _only(folder: Path, suffix: str) -> Path:
    found = sorted(folder.glob(f"*{suffix}")) if folder.is_dir() else []
    if len(found) != 1:
        raise FileFormatError(f"has {len(found)} files `*{suffix}`, expected one", file=folder)
    return found[0]


def _numbers(path: Path, width: int) -> Array:
    try:
        table = np.loadtxt(path, ndmin=2)
    except ValueError as error:
        raise FileFormatError("contains non-numeric values", file=path, evidence={"reader": error}) from error
    if table.shape[1] != width:
        raise FileFormatError(f"has {table.shape[1]} columns, expected {width}", file=path)
    if not np.isfinite(table).all():
        raise ShapeError("contains non-finite values", file=path)
    return np.asarray(table, dtype=float)


# The zero moment point of a motion, from its contact wrenches or, without these, from its accelerations.


_LONGEST_GAP = 0.03  # [s] without load that is bridged: the first tick of a simulation has no forces yet


def zmp_of_motion(trajectory: Trajectory, robot: Robot) -> tuple[Array, tuple[str, ...]]:
    """The zero moment point (n, 3) in world [m], and remarks on how it was found.

    Args:
        trajectory: The motion of a robot with a floating base.
        robot: The robot.

    Raises:
        NotSupportedError: There are neither wrenches nor velocities, or nothing carries the robot for a while.
    """
    if any(np.any(wrench) for wrench in trajectory.wrenches.values()):
        evidence = Evidence("", robot, trajectory.time, trajectory.q, wrenches=trajectory.wrenches)
        found = with_layers(evidence).zmp
        return _bridged(trajectory.time, found if found is not None else np.full((len(trajectory), 3), np.nan))
    zmp, notes = _by_dynamics(trajectory, robot)
    bridged, more = _bridged(trajectory.time, zmp)
    return bridged, (*notes, *more)


def _by_dynamics(trajectory: Trajectory, robot: Robot) -> tuple[Array, tuple[str, ...]]:
    """From the wrench that must act on the base for the motion to happen, on the level of the lowest contact.

    The first six rows of the inverse dynamics are the sum of all outer forces in the base frame.
    """
    if trajectory.v is None or robot.base_joint is None:
        raise NotSupportedError(
            "the zero moment point needs contact wrenches, or velocities",
            next_step="use a motion with one of these, or export as .csv, .yaml or .mcap",
        )
    notes = ["ZMP computed from the motion at the height of the lowest contact"]
    a = trajectory.a
    if a is None:
        a = np.gradient(trajectory.v, trajectory.time, axis=0)
        notes.append("accelerations are finite differences of the velocities")
    T = poses(robot, trajectory.q)[:, robot.base_joint]
    rows = int(robot.tree.v_index[robot.base_joint]) + np.arange(6)
    needed = np.asarray(compile_robot(robot).rnea(trajectory.q, trajectory.v, a))[:, rows]
    net = sum_wrenches(needed[:, None], T[:, None])
    heights = contact_placements(robot, trajectory.q)[:, :, 2, 3]
    level = heights.min(axis=1) if heights.size else np.zeros(len(T))
    least = 0.01 * robot.mass * float(np.linalg.norm(robot.tree.gravity))
    point = np.column_stack([np.zeros((len(T), 2)), level])
    return zero_moment_point(net, point=point, least_load=least), tuple(notes)


def _bridged(time: Array, zmp: Array) -> tuple[Array, tuple[str, ...]]:
    """Without short gaps; a long one is refused."""
    known = np.asarray(np.isfinite(zmp).all(axis=1))
    if known.all():
        return zmp, ()
    # First row of each gap, and the row after it
    edges = np.flatnonzero(np.diff(np.concatenate([[True], known, [True]]).astype(int)))
    for start, end in [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]:
        length = float(time[min(end, len(time) - 1)] - time[start])
        if length > _LONGEST_GAP or not known.any():
            raise NotSupportedError(
                "the zero moment point is undefined while nothing supports the robot",
                evidence={"from [s]": float(time[start]), "until [s]": float(time[end - 1])},
                next_step="export only the part of the motion with ground contact, or export as .csv, .yaml or .mcap",
            )
    filled = np.column_stack([np.interp(time, time[known], column[known]) for column in zmp.T])
    return filled, (f"{int((~known).sum())} samples without load use the ZMP of their neighbours",)
