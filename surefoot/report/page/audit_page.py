"""The page of an audit: the motion, its findings, and its quantities against their limits."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility import CompletedMotion, complete_motion
from surefoot.motion import AuditResult, Trajectory, World
from surefoot.report.evidence import Evidence, Verdict
from surefoot.report.page.motion_plots import motion_plots
from surefoot.report.page.report_page import report_page
from surefoot.robot import Robot
from surefoot.words import counted


def audit_page(title: str, motion: Trajectory, robot: Robot, world: World, result: AuditResult) -> str:
    """The page as HTML; velocities, torques and contact wrenches that the motion does not include are computed.

    Args:
        title: Heading, such as the name of the file.
        motion: The motion.
        robot: The robot.
        world: Where it moves.
        result: What the audit found.
    """
    known = complete_motion(motion, robot, world)
    tau, wrenches = _torques(known), _wrenches(known)
    return report_page(
        Evidence(
            title=f"{title} · {robot.name}",
            robot=robot,
            time=motion.time,
            q=motion.q,
            subtitle="Is this motion physically possible, by what margin, and where does it fail?",
            verdict=Verdict("no defects found" if result.passed else _worst(result), result.passed),
            world=world,
            v=known.v,
            wrenches=wrenches,
            schedule=result.schedule,
            plots=tuple(motion_plots(robot, motion.q, known.v, tau, wrenches, world)),
            audit=result,
            metrics=_metrics(result),
            notes=(*result.remarks, *_computed(motion)),
        )
    )


def _torques(known: CompletedMotion) -> Array | None:
    """(n, nu) given or computed torques; None where none is known."""
    tau = known.tau
    return tau if tau.shape[1] and np.isfinite(tau).any() else None


def _wrenches(known: CompletedMotion) -> dict[str, Array]:
    """Given or computed wrenches by contact; zero where they are not known."""
    wrenches = {name: np.nan_to_num(wrench) for name, wrench in known.wrenches.items()}
    return wrenches if any(wrench.any() for wrench in wrenches.values()) else {}


def _computed(motion: Trajectory) -> list[str]:
    """Which quantities the motion does not include."""
    given = motion.as_given
    missing = {"velocities": given.v is None, "torques": given.tau is None, "contact wrenches": not given.wrenches}
    names = [name for name, lacks in missing.items() if lacks]
    return [f"computed, since the motion does not include them: {', '.join(names)}"] if names else []


def _worst(result: AuditResult) -> str:
    defects = sum(finding.severity == "defect" for finding in result.findings)
    return f"{counted(defects, 'defect')} found"


def _metrics(result: AuditResult) -> dict[str, object]:
    """Numbers of the audit for the summary."""
    replay = {} if result.replay is None else {f"replay_{k}": v for k, v in result.replay.to_dict().items()}
    return {
        "robot": result.robot,
        "duration_s": result.duration,
        "samples": result.samples,
        "contacts": result.contacts,
        **replay,
    }
