"""The outcome of a run: verdict, files, audit, page and metrics, also of a run that was interrupted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from surefoot.feasibility import audit
from surefoot.motion import AuditResult, World
from surefoot.report import Plot
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.metrics import metrics_of, metrics_of_nothing
from surefoot.scenario.motions import plan_of
from surefoot.scenario.outcome.files import (
    RunRecord,
    trajectory_of_log,
    write_audit,
    write_measured,
    write_metrics,
    write_page,
    write_scenario,
)
from surefoot.scenario.outcome.page import page_of_run
from surefoot.scenario.schema import Scenario
from surefoot.scenario.stages import AUDITING, REPORTING, Tell, told_nobody
from surefoot.scenario.studies import ALWAYS, study_of
from surefoot.sim import Simulation

PASSED = "passed"
INTERRUPTED = "interrupted"
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class RunResult:
    """The files of a run.

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
        """Whether the verdict is "passed"."""
        return self.verdict == PASSED


class _Stages:
    """Does one thing after the other; one that the user interrupts is given up, the next one is done all the same.

    Args:
        interrupted: What was interrupted before.
    """

    def __init__(self, interrupted: str | None = None) -> None:
        self.interrupted = interrupted

    def attempt(self, name: str, action: Callable[[], T], otherwise: T) -> T:
        """The result of an action, or a substitute if it is interrupted."""
        try:
            return action()
        except KeyboardInterrupt:
            self.interrupted = self.interrupted or f"{INTERRUPTED} during {name}"
            return otherwise

    def insist(self, name: str, action: Callable[[], None]) -> None:
        """Perform an action, and once more if it is interrupted."""
        try:
            action()
        except KeyboardInterrupt:
            self.interrupted = self.interrupted or f"{INTERRUPTED} during {name}"
            action()


def keep_plan(folder: Path, scenario: Scenario) -> RunResult:
    """Write the files of a run that was interrupted before its simulation began.

    Args:
        folder: Where.
        scenario: What was to be run.
    """
    verdict = f"{INTERRUPTED} before the simulation began"
    metrics = {
        **metrics_of_nothing(scenario.name, scenario.robot.name, scenario.simulation.seed),
        **dict.fromkeys(ALWAYS.get(scenario.study, ())),
        **{"study": scenario.study, "study_metrics": [], "verdict": verdict, "audit": None},
    }
    write_scenario(folder, scenario)
    write_metrics(folder, metrics)
    return RunResult(folder, metrics, verdict)


def keep_run(
    folder: Path, scenario: Scenario, simulation: Simulation, trouble: str | None, stage: Tell = told_nobody
) -> tuple[RunResult, bool]:
    """Write the log, judge and audit the run, and write its page; the metrics are written last.

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
    run = RunRecord(scenario, simulation.robot, simulation.log(), simulation.timing(), {}, world=simulation.world)
    stages.insist("writing", lambda: _write_first(folder, run))
    stages.insist("writing", lambda: _write_plan(folder, simulation))
    findings = stages.attempt("the study", lambda: _study(run, simulation, trouble), Findings())
    run = replace(
        run,
        metrics=_judge(run, simulation, findings, trouble),
        planned=_planned_curves(run, simulation),
        findings=findings,
    )
    if trouble != INTERRUPTED:
        run = stages.attempt("the audit", lambda: _audit(folder, run, stage), run)
    _mark(run.metrics, stages.interrupted)
    stages.attempt("the writing of the page", lambda: _report(folder, run, stage), None)
    _mark(run.metrics, stages.interrupted)
    stages.insist("writing", lambda: write_metrics(folder, run.metrics))
    return RunResult(folder, run.metrics, run.metrics["verdict"]), stages.interrupted is not None


def _write_first(folder: Path, run: RunRecord) -> None:
    write_scenario(folder, run.scenario)
    write_measured(folder, run)


def _write_plan(folder: Path, simulation: Simulation) -> None:
    """Files of the plan, such as the solution of an optimal-control problem."""
    plan = plan_of(simulation.controller)
    if plan is not None:
        for name, write in plan.files.items():
            write(folder / name)


def _study(run: RunRecord, simulation: Simulation, trouble: str | None) -> Findings:
    """The findings of the study, also if the robot fell; for an interrupted run only those of the plan."""
    if run.scenario.study == "none":
        return Findings()
    if trouble is None:
        return study_of(run.scenario.study)(StudiedRun(run.scenario, simulation, run.log))
    plan = plan_of(simulation.controller)
    known = {} if plan is None else plan.metrics
    return Findings({**dict.fromkeys(ALWAYS.get(run.scenario.study, ())), **known})


def _judge(run: RunRecord, simulation: Simulation, findings: Findings, trouble: str | None) -> dict[str, Any]:
    """The metrics with the verdict: an interruption, a fall, or the finding of the study."""
    metrics, study = metrics_of(run.log, run.scenario.name, run.robot.name), run.scenario.study
    notes = [*metrics["notes"], *getattr(simulation.controller, "notes", ()), *_doubts(run.robot)]
    metrics |= {"notes": notes, "study": study, "study_metrics": list(findings.metrics), **findings.metrics}
    metrics |= {"verdict": trouble or _fall(metrics) or findings.trouble or PASSED, "audit": None}
    return {name: _strict(value) for name, value in metrics.items()}


def _fall(metrics: dict[str, Any]) -> str | None:
    return f"fell at {metrics['fall_time_s']:.2f} s" if metrics["fallen"] else None


def _doubts(robot: Robot) -> list[str]:
    """Warnings from loading the robot, such as parts that were dropped."""
    return [f"{item.place}: {item.message}" for item in robot.notes if item.level == "warning"]


def _strict(value: Any) -> Any:
    """Replace non-finite numbers by None; they come from studies of runs that ended early."""
    if isinstance(value, Mapping):
        return {name: _strict(below) for name, below in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(below) for below in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _planned_curves(run: RunRecord, simulation: Simulation) -> list[Plot]:
    """Plots of the plan, at the times of the log."""
    plan = getattr(simulation.controller, "plan", None)
    if plan is None:
        return []
    time = plan.trajectory.time
    return [
        replace(curve, lines={name: np.interp(run.log.time, time, line) for name, line in curve.lines.items()})
        for curve in plan.curves
    ]


def _audit(folder: Path, run: RunRecord, stage: Tell) -> RunRecord:
    result = audit_of_run(run, lambda _, share: stage(AUDITING, share))
    if result is not None:
        write_audit(folder, result)
        run.metrics["audit"] = _audit_metrics(result)
    return replace(run, audit=result)


def audit_of_run(run: RunRecord, progress: Callable[[str, float], None] | None = None) -> AuditResult | None:
    """Audit the motion of a run, in the world as it was at the start; None if not asked for.

    Args:
        run: The run.
        progress: Called with the name of each part of the audit and the share that is done.
    """
    kind = run.scenario.audit.kind
    if kind == "none" or len(run.log) < 2:
        return None
    world = World(ground=(), gravity=np.array(run.robot.tree.gravity)) if run.world is None else run.world
    motion = trajectory_of_log(run.robot, run.log)
    result = audit(motion, run.robot, world, collisions=kind == "full", replay=False, progress=progress)
    return replace(result, seconds={})  # wall-clock times would differ when the run is repeated


def _audit_metrics(result: AuditResult) -> dict[str, Any]:
    """The audit in short, for the metrics."""
    defects = [finding for finding in result.findings if finding.severity == "defect"]
    return {
        "passed": result.passed,
        "defects": len(defects),
        "first": defects[0].message if defects else None,
        "at_s": defects[0].time if defects else None,
    }


def _report(folder: Path, run: RunRecord, stage: Tell) -> None:
    stage(REPORTING, 0.0)
    if len(run.log):
        write_page(folder, page_of_run(run))


def _mark(metrics: dict[str, Any], interrupted: str | None) -> None:
    """Record that something is missing."""
    if interrupted is not None:
        metrics |= {"completed": False, "verdict": interrupted}
