"""What a run leaves: judged, audited and written, also where it was stopped on the way."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from surefoot.motion import Log
from surefoot.motion.audit_result import AuditResult
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.audit_of_run import audit_metrics, audit_of_run
from surefoot.scenario.folder import (
    RunRecord,
    write_audit,
    write_measured,
    write_metrics,
    write_page,
    write_scenario,
)
from surefoot.scenario.metrics import metrics_of, metrics_of_nothing
from surefoot.scenario.motions import PlannedFollower
from surefoot.scenario.schema import Scenario
from surefoot.scenario.stages import AUDITING, REPORTING, Tell, told_nobody
from surefoot.scenario.studies import STUDIES, Findings, StudiedRun
from surefoot.sim import Simulation

__all__ = ["INTERRUPTED", "PASSED", "RunResult", "kept_plan", "kept_run"]

PASSED = "passed"
INTERRUPTED = "interrupted"
T = TypeVar("T")


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


class _Stages:
    """Does one thing after the other; one that the user interrupts is given up, the next one is done all the same.

    Args:
        interrupted: What was interrupted before.
    """

    def __init__(self, interrupted: str | None = None) -> None:
        self.interrupted = interrupted

    def attempt(self, name: str, action: Callable[[], T], otherwise: T) -> T:
        """What an action gives, or what stands for it where it is interrupted."""
        try:
            return action()
        except KeyboardInterrupt:
            self.interrupted = self.interrupted or f"{INTERRUPTED} during {name}"
            return otherwise

    def insist(self, name: str, action: Callable[[], None]) -> None:
        """An action that is begun again where it is interrupted, once."""
        try:
            action()
        except KeyboardInterrupt:
            self.interrupted = self.interrupted or f"{INTERRUPTED} during {name}"
            action()


def kept_plan(folder: Path, scenario: Scenario) -> RunResult:
    """Write what there is of a run that was interrupted before its simulation began.

    Args:
        folder: Where.
        scenario: What was to be run.
    """
    verdict = f"{INTERRUPTED} before the simulation began"
    metrics = {
        **metrics_of_nothing(scenario.name, scenario.robot.name, scenario.simulation.seed),
        **{"study": scenario.study, "study_metrics": [], "verdict": verdict, "audit": None},
    }
    write_scenario(folder, scenario)
    write_metrics(folder, metrics)
    return RunResult(folder, metrics, verdict)


def kept_run(
    folder: Path, scenario: Scenario, simulation: Simulation, trouble: str | None, stage: Tell = told_nobody
) -> tuple[RunResult, bool]:
    """Write what was measured, then what is to be said about it; the metrics last.

    Args:
        folder: Where.
        scenario: What was run.
        simulation: The simulation.
        trouble: What kept it from its end, or `INTERRUPTED`.
        stage: Told what is done now.

    Returns:
        What it left, and whether the user interrupted it, now or before.
    """
    stages = _Stages(trouble if trouble == INTERRUPTED else None)
    log = simulation.log()
    run = RunRecord(scenario, simulation.robot, log, simulation.timing(), {}, world=simulation.world)
    stages.insist("writing", lambda: _write_first(folder, run))
    findings = stages.attempt("the study", lambda: _findings(scenario, simulation, log, trouble), Findings())
    metrics = _metrics(scenario, simulation, log, findings, trouble)
    run = replace(run, metrics=metrics, planned=_planned_curves(simulation, log))
    if trouble != INTERRUPTED:
        run = stages.attempt("the audit", lambda: _audited(folder, run, simulation, stage), run)
    _mark(metrics, stages.interrupted)
    stages.attempt("the writing of the page", lambda: _reported(folder, run, stage), None)
    _mark(metrics, stages.interrupted)
    stages.insist("writing", lambda: write_metrics(folder, metrics))
    return RunResult(folder, metrics, metrics["verdict"]), stages.interrupted is not None


def _write_first(folder: Path, run: RunRecord) -> None:
    write_scenario(folder, run.scenario)
    write_measured(folder, run)


def _audited(folder: Path, run: RunRecord, simulation: Simulation, stage: Tell) -> RunRecord:
    found: AuditResult | None = audit_of_run(run.scenario, simulation, run.log, lambda _, share: stage(AUDITING, share))
    audited = replace(run, audit=found)
    write_audit(folder, audited)
    run.metrics["audit"] = None if found is None else audit_metrics(found)
    return audited


def _reported(folder: Path, run: RunRecord, stage: Tell) -> None:
    stage(REPORTING, 0.0)
    write_page(folder, run)


def _mark(metrics: dict[str, Any], interrupted: str | None) -> None:
    """Say that something is missing."""
    if interrupted is not None:
        metrics |= {"completed": False, "verdict": interrupted}


def _metrics(
    scenario: Scenario, simulation: Simulation, log: Log, findings: Findings, trouble: str | None
) -> dict[str, Any]:
    metrics = metrics_of(log, scenario.name, simulation.robot.name)
    notes = [*metrics["notes"], *getattr(simulation.controller, "notes", ()), *_doubts(simulation.robot)]
    metrics |= {"notes": notes, "study": scenario.study, "study_metrics": list(findings.metrics), **findings.metrics}
    metrics |= {"verdict": trouble or _fall(metrics) or findings.trouble or PASSED, "audit": None}
    return {name: _strict(value) for name, value in metrics.items()}


def _strict(value: Any) -> Any:
    """The same with None for numbers that are not finite: those of a study of a run that ended early."""
    if isinstance(value, Mapping):
        return {name: _strict(below) for name, below in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(below) for below in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _findings(scenario: Scenario, simulation: Simulation, log: Log, trouble: str | None) -> Findings:
    """What the study finds, also where the robot fell; of a run that was stopped only what was planned."""
    if scenario.study == "none":
        return Findings()
    if trouble is None:
        return STUDIES[scenario.study](StudiedRun(scenario, simulation, log))
    controller = simulation.controller
    return Findings(dict(controller.plan.metrics) if isinstance(controller, PlannedFollower) else {})


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


def _fall(metrics: dict[str, Any]) -> str | None:
    return f"fell at {metrics['fall_time_s']:.2f} s" if metrics["fallen"] else None


def _doubts(robot: Robot) -> list[str]:
    """What loading the robot dropped or doubts: the run proves the robot without it."""
    return [f"{item.place}: {item.message}" for item in robot.notes if item.level == "warning"]
