"""Runs and motions in the folder of the studio."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from surefoot.arrays import Array
from surefoot.errors import FileFormatError
from surefoot.files import read_json
from surefoot.motion import Trajectory, World
from surefoot.motion.reading import read_motion
from surefoot.robot import Robot, is_file_name
from surefoot.scenario import read_scenario, read_world
from surefoot.studio.files.robots import RobotKey, RobotStore
from surefoot.studio.safety import OutsideError, inside

_MOTIONS = (".npz", ".npy", ".csv", ".parquet")
_MOST = 200


@dataclass(frozen=True, eq=False)
class LoadedMotion:
    """A motion that can be replayed.

    Args:
        name: As it was chosen.
        path: Folder of the run, or file.
        key: What its robot is loaded from.
        robot: The robot.
        trajectory: The motion.
        world: Where it happened; None where that is not known.
        scenario: File of its scenario, or None.
        metrics: What `metrics.json` says.
        remarks: How the file was understood.
    """

    name: str
    path: Path
    key: RobotKey
    robot: Robot
    trajectory: Trajectory
    world: World | None = None
    scenario: Path | None = None
    metrics: Mapping[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def time(self) -> Array:
        """(n,) [s]."""
        return self.trajectory.time


def run_choices(folder: Path) -> list[str]:
    """Run folders below a folder, the newest first, as paths in it."""
    found = [path.parent for depth in range(1, 4) for path in folder.glob("*/" * depth + "metrics.json")]
    kept = [path for path in found if _is_inside(folder, path)]
    kept.sort(key=lambda path: (path.stat().st_mtime, path.name), reverse=True)
    return [str(path.relative_to(folder)) for path in kept[:_MOST]]


def motion_choices(folder: Path) -> list[str]:
    """Files with motions below a folder that are not those of runs, as paths in it."""
    files = [path for depth in range(3) for path in sorted(folder.glob("*/" * depth + "*"))]
    return [
        str(path.relative_to(folder))
        for path in files
        if path.suffix.lower() in _MOTIONS and not (path.parent / "metrics.json").exists() and _is_inside(folder, path)
    ][:_MOST]


def load_motion(folder: Path, name: str, store: RobotStore, current: tuple[RobotKey, Robot] | None) -> LoadedMotion:
    """A run, or the motion of a file.

    Args:
        folder: The folder of the studio.
        name: Path of a run folder or file in it.
        store: Where robots come from.
        current: The robot that moves in files that do not name one.

    Raises:
        OutsideError: The path, or the robot that the run names, lies outside of the folder.
        FileFormatError: There is no motion.
    """
    path = inside(folder, name)
    if not path.exists():
        raise FileFormatError("does not exist", file=path, next_step="choose another, or refresh the list")
    if path.is_dir() and (path / "scenario.toml").is_file():
        return _run(path, name, store)
    if current is None:
        raise FileFormatError("does not name its robot", file=path, next_step="choose the robot first")
    given = read_motion(path, current[1])
    return LoadedMotion(name, path, *current, trajectory=given.trajectory, remarks=given.remarks)


def _run(path: Path, name: str, store: RobotStore) -> LoadedMotion:
    file = path / "scenario.toml"
    table = read_scenario(file).robot
    key = RobotKey(str(path / table.name) if _is_beside(path, table.name) else table.name, table.base, table.mimic)
    robot = store.get(key)
    given = read_motion(path, robot)
    return LoadedMotion(
        name, path, key, robot, given.trajectory, read_world(file, robot), file, _metrics(path), given.remarks
    )


def _is_beside(folder: Path, robot: str) -> bool:
    """Whether a robot is a file that stands beside the scenario."""
    return is_file_name(robot) and not Path(robot).is_absolute() and (folder / robot).is_file()


def _metrics(path: Path) -> Mapping[str, Any]:
    file = path / "metrics.json"
    return read_json(file) if file.is_file() else {}


def report_of(folder: Path, name: str) -> Path | None:
    """The page of a run, if there is one.

    Args:
        folder: The folder of the studio.
        name: Path of the run folder in it.

    Raises:
        OutsideError: It lies outside of the folder.
    """
    page = inside(folder, Path(name) / "report.html")
    is_run = page.name == "report.html" and page.is_file() and (page.parent / "metrics.json").is_file()
    return page if is_run else None


def _is_inside(folder: Path, path: Path) -> bool:
    try:
        inside(folder, path)
    except OutsideError:  # a link that leads out: not listed
        return False
    return True


def report_link(prefix: str, name: str) -> str:
    """The address of the page of a run on the server of the studio.

    Args:
        prefix: Of the addresses of reports.
        name: Path of the run folder in the folder of the studio.
    """
    return f"{prefix}{quote(name)}"
