"""`run_scenario`: from a scenario to a folder with everything that was measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.motion import Log
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.robot.toml_file import validated
from surefoot.scenario.audit_of_run import audit_metrics, audit_of_run
from surefoot.scenario.build import build_simulation
from surefoot.scenario.catalogue import read_scenario
from surefoot.scenario.folder import RunRecord, make_folder, write_run
from surefoot.scenario.metrics import metrics_of
from surefoot.scenario.overrides import overridden
from surefoot.scenario.schema import Scenario
from surefoot.scenario.studies import STUDIES, Findings, StudiedRun
from surefoot.sim import Simulation, StoppedError

__all__ = ["PASSED", "RunInterrupted", "RunResult", "resolved_scenario", "run_scenario"]

PASSED = "passed"


@dataclass(frozen=True, eq=False)
class RunResult:
    """What a run left.

    Args:
        path: The folder.
        metrics: What `metrics.json` says.
        verdict: "passed", or what went wrong.
    """

    path: Path
    metrics: dict[str, Any] = field(repr=False)
    verdict: str

    @property
    def passed(self) -> bool:
        """Whether nothing went wrong."""
        return self.verdict == PASSED


class RunInterrupted(KeyboardInterrupt):
    """The user stopped the run; what was computed is written.

    Args:
        result: What the run left.
    """

    def __init__(self, result: RunResult) -> None:
        super().__init__("interrupted")
        self.result = result


def run_scenario(
    name_or_file: str | Path,
    robot: str | Path | None = None,
    out: str | Path | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
    progress: Callable[[float], None] | None = None,
    watch: Callable[[Simulation], None] | None = None,
) -> RunResult:
    """Run a scenario and write its folder: metrics, log, timing, trajectory, resolved scenario and a page.

    Args:
        name_or_file: Name of a scenario that comes with the package, or a TOML file.
        robot: Another robot than the scenario's: a name or a file.
        out: Folder for the results; None for `runs/<name>-<time>/`.
        seed: Another seed than the scenario's.
        overrides: Changes, `dotted.key=value`.
        progress: Called now and then with the share that is done, 0…1.
        watch: Called after every command with the simulation.

    Raises:
        SurefootError: The scenario, the robot or the folder is not as it should be.
        RunInterrupted: The user stopped it; what was computed is written, with `completed` false.
    """
    scenario = resolved_scenario(name_or_file, robot, seed, overrides)
    simulation = build_simulation(scenario)
    folder = make_folder(scenario.name, out)
    try:
        return _written(folder, scenario, simulation, lambda: simulation.run(progress, watch))
    finally:
        if not any(folder.iterdir()):  # nothing could be written: leave nothing
            folder.rmdir()


def _written(folder: Path, scenario: Scenario, simulation: Simulation, run: Callable[[], Log]) -> RunResult:
    """Run, and write what there is, whatever happens."""
    trouble = None
    try:
        run()
    except StoppedError as error:
        trouble = error.message
    except KeyboardInterrupt:
        raise RunInterrupted(_write(folder, scenario, simulation, "interrupted")) from None
    return _write(folder, scenario, simulation, trouble)


def resolved_scenario(
    name_or_file: str | Path,
    robot: str | Path | None = None,
    seed: int | None = None,
    overrides: Sequence[str] = (),
) -> Scenario:
    """The scenario with robot, seed and overrides put in; files of robots by their full path.

    Args:
        name_or_file: Name or file of the scenario.
        robot: Another robot.
        seed: Another seed.
        overrides: Changes, `dotted.key=value`.
    """
    scenario = overridden(read_scenario(name_or_file), overrides)
    tables = scenario.model_dump(mode="python", exclude_none=True)
    if robot is not None:
        tables["robot"]["name"] = str(robot)
    if seed is not None:
        tables["simulation"]["seed"] = seed
    tables["robot"]["name"] = _full_path(tables["robot"]["name"], name_or_file if robot is None else ".")
    return validated(tables, Scenario, str(name_or_file), {})


def _full_path(robot: str, beside: str | Path) -> str:
    """The full path of a robot file, which may stand beside the scenario file; names of the zoo as they are."""
    here = [Path(beside).parent / robot, Path(robot)]
    return next((str(path.resolve()) for path in here if path.is_file()), robot)


def _write(folder: Path, scenario: Scenario, simulation: Simulation, trouble: str | None) -> RunResult:
    log = simulation.log()
    metrics = metrics_of(log, scenario.name, simulation.robot.name)
    metrics["notes"] = [*metrics["notes"], *getattr(simulation.controller, "notes", ())]
    metrics["notes"] = [*metrics["notes"], *_doubts(simulation.robot)]
    findings = _findings(scenario, simulation, log) if trouble is None else Findings()
    metrics |= {"study": scenario.study, "study_metrics": list(findings.metrics), **findings.metrics}
    metrics["verdict"] = trouble or _fall(metrics) or findings.trouble or PASSED
    found = audit_of_run(scenario, simulation, log)
    metrics["audit"] = None if found is None else audit_metrics(found)
    planned = _planned_curves(simulation, log)
    timing = simulation.timing()
    run = RunRecord(scenario, simulation.robot, log, timing, metrics, planned, simulation.world, found)
    write_run(folder, run)
    return RunResult(folder, metrics, metrics["verdict"])


def _planned_curves(simulation: Simulation, log: Log) -> list[Plot]:
    """Plots of the plan, at the times of the log."""
    plan = getattr(simulation.controller, "plan", None)
    if plan is None:
        return []
    time = plan.trajectory.time
    return [
        replace(curve, lines={name: np.interp(log.time, time, line) for name, line in curve.lines.items()})
        for curve in plan.curves
    ]


def _findings(scenario: Scenario, simulation: Simulation, log: Log) -> Findings:
    if scenario.study == "none" or simulation.fall_time is not None:
        return Findings()
    return STUDIES[scenario.study](StudiedRun(scenario, simulation, log))


def _fall(metrics: dict[str, Any]) -> str | None:
    return f"fell at {metrics['fall_time_s']:.2f} s" if metrics["fallen"] else None


def _doubts(robot: Robot) -> list[str]:
    """What loading the robot dropped or doubts: the run proves the robot without it."""
    return [f"{item.place}: {item.message}" for item in robot.notes if item.level == "warning"]
