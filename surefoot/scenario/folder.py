"""The folder of a run and the files in it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import FileFormatError, ScenarioError
from surefoot.motion import Log, Trajectory, World, atomic_write, save_log, save_trajectory
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.page import page_of_run
from surefoot.scenario.schema import Scenario
from surefoot.scenario.toml_text import toml_text

__all__ = ["make_folder", "scenario_toml", "write_run"]


def make_folder(name: str, out: str | Path | None) -> Path:
    """Make the folder of a run.

    Args:
        name: Name of the scenario.
        out: Where; None for `runs/<name>-<time>/`, with a number added where that exists.

    Raises:
        ScenarioError: `out` exists and is not an empty folder.
        FileFormatError: The folder cannot be made.
    """
    try:
        return (
            _numbered(Path("runs") / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}") if out is None else _given(Path(out))
        )
    except OSError as error:
        raise FileFormatError(
            f"the folder cannot be made: {error.strerror}",
            file=error.filename or out,
            next_step="choose another folder with --out",
        ) from error


def _numbered(wanted: Path) -> Path:
    wanted.parent.mkdir(parents=True, exist_ok=True)
    folder, number = wanted, 1
    while True:
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1
            folder = wanted.with_name(f"{wanted.name}-{number}")


def _given(folder: Path) -> Path:
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ScenarioError(
            f"`{folder}` exists and is not empty; a run is never overwritten",
            next_step="choose another folder with --out, or remove this one",
        )
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def scenario_toml(scenario: Scenario) -> str:
    """The scenario with all its values as TOML text; running it repeats the run."""
    tables = scenario.model_dump(mode="python", exclude_none=True)
    return toml_text({key: value for key, value in tables.items() if value != []})


def write_run(
    folder: Path,
    scenario: Scenario,
    robot: Robot,
    log: Log,
    timing: Log,
    metrics: dict[str, Any],
    planned: Sequence[Plot] = (),
    world: World | None = None,
) -> None:
    """Write the files of a run, each whole or not at all; the metrics last.

    Args:
        folder: Where.
        scenario: What was run.
        robot: The robot.
        log: What was measured.
        timing: Wall-clock times.
        metrics: What it sums up to.
        planned: Plots of what was planned.
        world: Where the robot was.
    """
    text = scenario_toml(scenario)
    _write_text(folder / "scenario.toml", text)
    save_log(folder / "log.parquet", log)
    save_log(folder / "timing.parquet", timing)
    if len(log):
        save_trajectory(folder / "trajectory.npz", _trajectory(robot, log))
        page = page_of_run(robot, log, timing, metrics, planned, world, text, scenario.description)
        _write_text(folder / "report.html", page)
    _write_text(folder / "metrics.json", json.dumps(metrics, indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def _trajectory(robot: Robot, log: Log) -> Trajectory:
    wrenches = {name: np.array(log[f"contact.{name}.wrench"]) for name in robot.contacts}
    return Trajectory.of(robot, log.time, log["q"], log["v"], tau=log["tau"], wrenches=wrenches)
