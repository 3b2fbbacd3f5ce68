"""Export formats by file name, and tables of motions and logs whose columns carry names and units."""

from __future__ import annotations

import json
from pathlib import Path

from surefoot.errors import FileFormatError, NotSupportedError, one_of
from surefoot.motion import Log, Trajectory
from surefoot.motion.files import write_csv, write_parquet
from surefoot.motion.storage import log_columns, trajectory_columns
from surefoot.robot import Robot


def write_table(path: str | Path, item: Trajectory | Log, robot: Robot | None, kind: str) -> int:
    """Write a table, whole or not at all.

    Args:
        path: The file.
        item: A motion or a log.
        robot: The robot of a motion; not needed for a log.
        kind: "csv" or "parquet".

    Returns:
        The number of columns.
    """
    if isinstance(item, Log):
        columns = log_columns(item)
    elif robot is None:
        raise NotSupportedError("a trajectory needs its robot to name its columns", next_step="pass `robot`")
    else:
        columns = trajectory_columns(item, robot)
    if kind == "csv":
        write_csv(path, columns)
    else:
        write_parquet(path, columns, {"surefoot.units": json.dumps(_units(list(columns)))})
    return len(columns)


def _units(names: list[str]) -> dict[str, str]:
    """Unit by column, where the name has one."""
    return {name: name.rpartition(" [")[2].removesuffix("]") for name in names if name.endswith("]") and " [" in name}


COLUMNS = "columns5ms"
FILMS = ("mp4", "gif")
FORMATS = {
    "mp4": "video of the replay",
    "gif": "video of the replay as a looping GIF",
    "csv": "columns with names and units",
    "parquet": "columns with names and units",
    "yaml": "trajectory_msgs/JointTrajectory",
    "mcap": "ROS 2 messages: joint states, transforms, contact wrenches",
    COLUMNS: "a folder with joints, pelvis attitude and ZMP every 5 ms",
}
"""What is written, by the name of the format."""


def format_of(path: str | Path, given: str | None = None) -> str:
    """The format of a file.

    Args:
        path: Where to write; a path without suffix is a folder of column files.
        given: A name of `FORMATS`; None to tell it by the suffix.

    Raises:
        UnknownNameError: There is no such format.
        FileFormatError: The suffix is not known, or contradicts the format.
    """
    suffix = Path(path).suffix.lower().removeprefix(".")
    by_suffix = {"": COLUMNS, "yml": "yaml"}.get(suffix, suffix)
    if given is not None and given not in FORMATS:
        raise one_of("format", given, FORMATS)
    if given in (None, by_suffix):
        if by_suffix not in FORMATS:
            raise FileFormatError(
                f"suffix `.{suffix}` is not known",
                file=path,
                next_step=f"use {', '.join(f'.{name}' for name in FORMATS if name != COLUMNS)}, or a folder",
            )
        return by_suffix
    if given != COLUMNS and by_suffix in FORMATS and by_suffix != COLUMNS:
        raise FileFormatError(f"suffix `.{suffix}` is not that of format {given}", file=path)
    return str(given)
