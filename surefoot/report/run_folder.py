"""`read_run`: read the folder of a run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

from surefoot.arrays import finite_array
from surefoot.errors import FileFormatError
from surefoot.files import read_json
from surefoot.motion import Log, Trajectory
from surefoot.robot import Robot, load
from surefoot.robot.build import locked
from surefoot.robot.model import under_gravity
from surefoot.tables import parse_toml, read_toml_text

_NEEDED = ("metrics.json", "scenario.toml", "trajectory.npz")


@dataclass(frozen=True, eq=False)
class RunFolder:
    """The files of a run.

    Args:
        path: The folder.
        robot: The robot, under the gravity of its world.
        trajectory: The motion.
        log: What was measured.
        metrics: What it sums up to.
        scenario: What was run, as tables.
        scenario_text: The same as TOML.
    """

    path: Path
    robot: Robot
    trajectory: Trajectory
    log: Log
    metrics: Mapping[str, Any] = field(repr=False)
    scenario: Mapping[str, Any] = field(repr=False)
    scenario_text: str = field(repr=False)


def is_run_folder(path: str | Path) -> bool:
    """Whether a path is the folder of a run."""
    return Path(path).is_dir() and (Path(path) / "scenario.toml").is_file()


def read_run(path: str | Path, robot: Robot | None = None) -> RunFolder:
    """Read the folder of a run.

    Args:
        path: The folder.
        robot: The robot; None for the one that the scenario names.

    Raises:
        FileFormatError: It is no folder of a run, or a file in it is damaged.
        ShapeError: The motion does not fit the robot.
    """
    folder = Path(path)
    for name in _NEEDED:
        if not (folder / name).is_file():
            raise FileFormatError(
                "is not the folder of a finished run" if folder.is_dir() else "there is no such folder",
                file=path,
                evidence={"missing": name},
                next_step="use a folder written by `surefoot run`",
            )
    text, scenario = _scenario(folder / "scenario.toml")
    own = robot_of_run(folder) if robot is None else robot
    trajectory = Trajectory.load(folder / "trajectory.npz")
    trajectory.require(own)
    log = Log.load(folder / "log.parquet")
    return RunFolder(folder, own, trajectory, log, read_json(folder / "metrics.json"), scenario, text)


def robot_of_run(path: str | Path) -> Robot:
    """The robot that the scenario of a run names; the same object for the same robot."""
    file = Path(path) / "scenario.toml"
    _, scenario = _scenario(file)
    table, world = scenario.get("robot"), scenario.get("world", {})
    if not isinstance(table, dict) or not isinstance(table.get("name"), str) or not isinstance(world, dict):
        raise FileFormatError("does not name a robot", file=file, next_step="give --robot")
    gravity = finite_array(world.get("gravity", (0.0, 0.0, -9.81)), (3,), "gravity of the scenario")
    words = {key: str(table[key]) for key in ("base", "mimic") if key in table}
    lock, only = table.get("lock", {}), table.get("only", [])
    if (
        not isinstance(lock, dict)
        or not isinstance(only, list)
        or any(type(x) not in (int, float) for x in lock.values())
    ):
        raise FileFormatError("`lock` or `only` of the robot is not a table of positions or a list", file=file)
    robot = _loaded(table["name"], tuple(words.items()), tuple(gravity.tolist()))
    return robot if not lock and not only else _reduced(robot, tuple(lock.items()), tuple(map(str, only)))


@lru_cache(maxsize=32)
def _loaded(name: str, words: tuple[tuple[str, str], ...], gravity: tuple[float, ...]) -> Robot:
    return under_gravity(load(name, **dict(words)), gravity)  # type: ignore[arg-type]


@lru_cache(maxsize=32)
def _reduced(robot: Robot, lock: tuple[tuple[str, float], ...], only: tuple[str, ...]) -> Robot:
    return locked(robot, dict(lock), only or None)


def _scenario(path: Path) -> tuple[str, dict[str, Any]]:
    text = read_toml_text(path)
    return text, parse_toml(text, path)
