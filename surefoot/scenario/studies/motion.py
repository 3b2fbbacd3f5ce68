"""A planned motion: what the planner measured, and what the run showed of it."""

from __future__ import annotations

from surefoot.scenario.findings import Findings, StudiedRun
from surefoot.scenario.motions import plan_of


def motion(run: StudiedRun) -> Findings:
    """Metrics of the plan and of the run; trouble of either.

    Args:
        run: The run; its controller is `follow`.
    """
    plan = plan_of(run.simulation.controller)
    if plan is None:
        return Findings({}, "the controller does not follow a plan")
    if plan.judge is None:
        return Findings(dict(plan.metrics), plan.trouble)
    found = plan.judge(run.simulation.robot, run.log)
    metrics = {**plan.metrics, **found.metrics}
    trouble = plan.trouble or found.trouble
    return Findings(metrics, trouble, found.plots, found.tables, found.outlines, found.details)
