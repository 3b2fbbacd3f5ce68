"""The audit of the motion of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.feasibility import audit
from surefoot.motion import Log, World
from surefoot.motion.audit_result import AuditResult
from surefoot.scenario.folder import trajectory_of_log
from surefoot.scenario.schema import Scenario
from surefoot.sim import Simulation

__all__ = ["audit_metrics", "audit_of_run"]


def audit_of_run(
    scenario: Scenario, simulation: Simulation, log: Log, progress: Callable[[str, float], None] | None = None
) -> AuditResult | None:
    """What an audit finds about the motion of a run, in the world as it was at the start; None if not asked for.

    Args:
        scenario: What was run.
        simulation: The simulation.
        log: What was measured.
        progress: Called with the name of each part of the audit and the share that is done.
    """
    if scenario.audit.kind == "none" or len(log) < 2:
        return None
    robot, world = simulation.robot, simulation.world
    place = World(ground=(), gravity=np.array(robot.tree.gravity)) if world is None else world
    motion = trajectory_of_log(robot, log)
    found = audit(motion, robot, place, collisions=scenario.audit.kind == "full", replay=False, progress=progress)
    return replace(found, seconds={})  # wall-clock times would differ when the run is repeated


def audit_metrics(found: AuditResult) -> dict[str, Any]:
    """The audit in short, for the metrics.

    Args:
        found: What it found.
    """
    defects = [finding for finding in found.findings if finding.severity == "defect"]
    return {
        "passed": found.passed,
        "defects": len(defects),
        "first": defects[0].message if defects else None,
        "at_s": defects[0].time if defects else None,
    }
