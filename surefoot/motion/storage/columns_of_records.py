"""Trajectories and logs as plain columns with names and units."""

from __future__ import annotations

from pathlib import Path

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.motion.exchange import column_names
from surefoot.motion.files import write_csv
from surefoot.motion.log import Log
from surefoot.motion.trajectory import Trajectory
from surefoot.robot import Robot

_WRENCH = (("fx", "N"), ("fy", "N"), ("fz", "N"), ("mx", "N m"), ("my", "N m"), ("mz", "N m"))


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
    """Every number of a log as a column with its unit."""
    return {f"{name} [{column.unit}]": series for column in log for name, series in column.entries.items()}


def trajectory_columns(trajectory: Trajectory, robot: Robot) -> dict[str, Array]:
    """Every number of a trajectory as a column with its unit."""
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
