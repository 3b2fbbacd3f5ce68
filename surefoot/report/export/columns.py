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
from surefoot.errors import FileFormatError, NotSupportedError, ShapeError
from surefoot.motion import Trajectory
from surefoot.report.export.joints import joint_table
from surefoot.report.export.zmp import zmp_of_motion
from surefoot.report.scene import poses
from surefoot.robot import Robot

STEP = 0.005
"""Time between rows [s]."""
_AT_REST = 0.01  # [rad/s] or [m/s]
_WIDTHS = {".hip": 3, ".zmp": 3}


@dataclass(frozen=True, eq=False)
class ColumnFiles:
    """What the files hold.

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
