"""The page of an audit: the motion, its findings, and its quantities against their limits."""

from __future__ import annotations

from surefoot.motion import Trajectory, World
from surefoot.motion.audit_result import AuditResult
from surefoot.report.evidence import Evidence, Verdict
from surefoot.report.motion_plots import motion_plots
from surefoot.report.report_page import report_page
from surefoot.robot import Robot

__all__ = ["audit_page"]


def audit_page(title: str, motion: Trajectory, robot: Robot, world: World, result: AuditResult) -> str:
    """The page as HTML.

    Args:
        title: Heading, such as the name of the file.
        motion: The motion.
        robot: The robot.
        world: Where it moves.
        result: What the audit found.
    """
    return report_page(
        Evidence(
            title=f"{title} · {robot.name}",
            robot=robot,
            time=motion.time,
            q=motion.q,
            subtitle="Is this motion physically possible, by what margin, and where does it break?",
            verdict=Verdict("no defect was found" if result.passed else _worst(result), result.passed),
            world=world,
            v=motion.v,
            wrenches={name: wrench for name, wrench in motion.wrenches.items() if name in robot.contacts},
            schedule=result.schedule,
            plots=tuple(motion_plots(robot, motion.q, motion.v, motion.tau, motion.wrenches)),
            audit=result,
            metrics=_metrics(result),
            notes=result.remarks,
        )
    )


def _worst(result: AuditResult) -> str:
    defects = sum(finding.severity == "defect" for finding in result.findings)
    return f"{defects} defect{'s' if defects > 1 else ''} found"


def _metrics(result: AuditResult) -> dict[str, object]:
    """Numbers of the audit for the summary."""
    replay = {} if result.replay is None else {f"replay_{k}": v for k, v in result.replay.to_dict().items()}
    return {
        "robot": result.robot,
        "duration_s": result.duration,
        "samples": result.samples,
        "contacts": result.contacts,
        **replay,
        "audited_in_s": round(sum(result.seconds.values()), 3),
    }
