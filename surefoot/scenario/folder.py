"""The folder of a run and the files in it."""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import FileFormatError, ScenarioError
from surefoot.motion import Log, Trajectory, World, atomic_write, save_log, save_trajectory
from surefoot.motion.audit_result import AuditResult
from surefoot.report import Plot, report_page
from surefoot.robot import Robot
from surefoot.scenario.page import evidence_of_run
from surefoot.scenario.schema import Scenario
from surefoot.scenario.toml_text import toml_text

__all__ = ["RunRecord", "make_folder", "scenario_toml", "trajectory_of_log", "write_run"]


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
        world: Where the robot was.
        audit: What the audit of its motion found.
    """

    scenario: Scenario
    robot: Robot
    log: Log
    timing: Log
    metrics: dict[str, Any]
    planned: Sequence[Plot] = ()
    world: World | None = None
    audit: AuditResult | None = None


def write_run(folder: Path, run: RunRecord) -> None:
    """Write the files of a run, each whole or not at all; the metrics last.

    Args:
        folder: Where.
        run: The run.
    """
    text = scenario_toml(run.scenario)
    _write_text(folder / "scenario.toml", text)
    save_log(folder / "log.parquet", run.log)
    save_log(folder / "timing.parquet", run.timing)
    if len(run.log):
        save_trajectory(folder / "trajectory.npz", trajectory_of_log(run.robot, run.log))
        evidence = evidence_of_run(
            run.robot, run.log, run.timing, run.metrics, run.planned, run.world, text, run.scenario.description
        )
        _write_text(folder / "report.html", report_page(replace(evidence, audit=run.audit)))
    if run.audit is not None:
        run.audit.save(folder / "audit.json")
    numbers = json.dumps(run.metrics, indent=2, allow_nan=False, ensure_ascii=False)
    _write_text(folder / "metrics.json", numbers + "\n")


def _write_text(path: Path, text: str) -> None:
    with atomic_write(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def trajectory_of_log(robot: Robot, log: Log) -> Trajectory:
    """The motion that a log has: states, torques, contact wrenches and pushes.

    Args:
        robot: The robot.
        log: What was measured.
    """
    wrenches = {name: np.array(log[f"contact.{name}.wrench"]) for name in robot.contacts}
    pushes = {"push.force": np.array(log["push.force"])} if np.any(log["push.force"]) else {}
    return Trajectory.of(robot, log.time, log["q"], log["v"], tau=log["tau"], wrenches=wrenches, references=pushes)
