"""Motions and logs as tables whose columns carry names and units."""

from __future__ import annotations

import json
from pathlib import Path

from surefoot.errors import NotSupportedError
from surefoot.motion import Log, Trajectory
from surefoot.motion.storage import log_columns, trajectory_columns
from surefoot.motion.tables import write_csv, write_parquet
from surefoot.robot import Robot

__all__ = ["write_table"]


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
