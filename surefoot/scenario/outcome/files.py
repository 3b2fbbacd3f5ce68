"""The folder of a run and the files in it."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import FileFormatError, ScenarioError
from surefoot.files import write_text
from surefoot.motion import AuditResult, Log, Trajectory, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.schema import Scenario
from surefoot.tables import toml_text


@contextmanager
def run_folder(name: str, out: str | Path | None, runs: str | Path = "runs") -> Iterator[Path]:
    """The folder of a run; it and the folders around it that were made are removed again if nothing is written.

    Args:
        name: Name of the scenario.
        out: As in `make_folder`.
        runs: As in `make_folder`.

    Yields:
        The folder, empty; raises as `make_folder` does.
    """
    wanted = Path(runs if out is None else out)
    missing = [path for path in (wanted, *wanted.parents) if not path.exists()]
    folder = make_folder(name, out, runs)
    try:
        yield folder
    finally:
        for path in missing if folder == wanted else [folder, *missing]:
            if not any(path.iterdir()):
                path.rmdir()


def make_folder(name: str, out: str | Path | None, runs: str | Path = "runs") -> Path:
    """Make the folder of a run.

    Args:
        name: Name of the scenario.
        out: Where; None for `<runs>/<name>-<time>/`, with a number added where that exists.
        runs: Where the folders of runs are.

    Raises:
        ScenarioError: `out` exists and is not an empty folder.
        FileFormatError: The folder cannot be made.
    """
    try:
        return _numbered(Path(runs) / f"{name}-{time.strftime('%Y%m%d-%H%M%S')}") if out is None else _given(Path(out))
    except OSError as error:
        raise FileFormatError(
            f"cannot create the folder: {error.strerror}",
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
            f"`{folder}` exists and is not an empty folder; a run is never overwritten",
            next_step="choose another folder with --out, or remove this one",
        )
    folder.mkdir(parents=True, exist_ok=True)
    if not os.access(folder, os.W_OK | os.X_OK):
        raise FileFormatError(
            "no permission to write to this folder", file=folder, next_step="choose another folder with --out"
        )
    return folder


def scenario_toml(scenario: Scenario) -> str:
    """The scenario with all its values as TOML text; running it repeats the run."""
    tables = scenario.model_dump(mode="python", exclude_none=True)
    return toml_text({key: value for key, value in tables.items() if value != []})


@dataclass(frozen=True, eq=False)
class RunRecord:
    """Everything about a run.

    Args:
        scenario: What was run.
        robot: The robot.
        log: What was measured.
        timing: Wall-clock times.
        metrics: What it sums up to.
        planned: Plots of what was planned.
        findings: What its study found.
        world: Where the robot was.
        audit: What the audit of its motion found.
    """

    scenario: Scenario
    robot: Robot
    log: Log
    timing: Log
    metrics: dict[str, Any]
    planned: Sequence[Plot] = ()
    findings: Findings = field(default_factory=Findings)
    world: World | None = None
    audit: AuditResult | None = None


def write_scenario(folder: Path, scenario: Scenario) -> None:
    """Write the scenario with all its values.

    Args:
        folder: Where.
        scenario: What is run.
    """
    write_text(folder / "scenario.toml", scenario_toml(scenario))


def write_measured(folder: Path, run: RunRecord) -> None:
    """Write what was measured: log, times and motion, each whole or not at all.

    Args:
        folder: Where.
        run: The run.
    """
    run.log.save(folder / "log.parquet")
    run.timing.save(folder / "timing.parquet")
    if len(run.log):
        trajectory_of_log(run.robot, run.log).save(folder / "trajectory.npz")


def write_audit(folder: Path, result: AuditResult) -> None:
    """Write what the audit found.

    Args:
        folder: Where.
        result: What it found.
    """
    result.save(folder / "audit.json")


def write_page(folder: Path, page: str) -> None:
    """Write the page of a run.

    Args:
        folder: Where.
        page: The page.
    """
    write_text(folder / "report.html", page)


def write_metrics(folder: Path, metrics: dict[str, Any]) -> None:
    """Write the metrics; they are the last file of a run.

    Args:
        folder: Where.
        metrics: Ready for strict JSON.
    """
    numbers = json.dumps(metrics, indent=2, allow_nan=False, ensure_ascii=False)
    write_text(folder / "metrics.json", numbers + "\n")


def trajectory_of_log(robot: Robot, log: Log) -> Trajectory:
    """The motion that a log has: states, torques, contact wrenches and pushes.

    Args:
        robot: The robot.
        log: What was measured.
    """
    wrenches = {name: np.array(log[f"contact.{name}.wrench"]) for name in robot.contacts}
    pushes = {"push.force": np.array(log["push.force"])} if np.any(log["push.force"]) else {}
    return Trajectory.of(robot, log.time, log["q"], log["v"], tau=log["tau"], wrenches=wrenches, references=pushes)
