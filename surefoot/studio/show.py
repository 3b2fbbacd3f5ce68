"""`show`: display robots, motions, logs, runs and audits in a notebook or the browser."""

from __future__ import annotations

import os
import sys
import tempfile
import webbrowser
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from surefoot.errors import FileFormatError, NotSupportedError, one_of
from surefoot.markup import html
from surefoot.motion import AuditResult, Log, Trajectory, World
from surefoot.motion.files import is_trajectory_file
from surefoot.motion.reading import GivenMotion, read_motion
from surefoot.report import Evidence, Verdict, is_run_folder, motion_plots, report_page, robot_of_run
from surefoot.robot import Robot, is_file_name, load, zoo
from surefoot.words import counted

_ROBOT_FILES = (".urdf", ".xml", ".mjcf", ".sdf")


@dataclass(frozen=True, eq=False)
class Shown:
    """A page in a notebook; it needs neither a server nor a network.

    Args:
        html: The page.
        height: Of the frame that it stands in [pixels].
    """

    html: str = field(repr=False)
    height: int = 640

    def _repr_html_(self) -> str:
        return html(
            '<iframe srcdoc="{}" width="100%" height="{}" sandbox="allow-scripts" '
            'style="border:1px solid #d0d7de;border-radius:6px"></iframe>',
            str(self.html),
            self.height,
        )

    def save(self, path: str | Path) -> Path:
        """Write the page to a file, and return its path."""
        from surefoot.files import write_text

        write_text(Path(path), self.html)
        return Path(path)


def show(
    x: Any,
    robot: Robot | str | Path | None = None,
    world: World | None = None,
    motion: Trajectory | str | Path | None = None,
    height: int = 640,
) -> Shown | Path:
    """Show a robot, a motion, a log, a run or an audit.

        sf.show(robot)
        sf.show(trajectory, robot)
        sf.show("runs/stand-20260101-120000")
        sf.show(sf.audit(trajectory, robot), robot, motion=trajectory)

    Args:
        x: A `Robot`, `Trajectory`, `Log` or `AuditResult`; the name of a robot of the zoo; a robot's file, the folder
            of a run, or the file of a motion or log.
        robot: The robot that moves, where x does not name one that can be loaded.
        world: Where it happens.
        motion: The motion that an `AuditResult` judged; without it the robot stands at home.
        height: Of the frame in a notebook [pixels].

    Returns:
        In a notebook something that it shows; elsewhere the path of a page, which the browser opens.

    Raises:
        NotSupportedError: x is none of these.
        SurefootError: It cannot be read, or does not fit the robot.
    """
    shown = Shown(_page(x, robot, world, motion), height)
    if in_notebook():
        return shown
    handle, name = tempfile.mkstemp(prefix="surefoot-", suffix=".html")
    os.close(handle)
    path = shown.save(name)
    if not webbrowser.open(path.as_uri()):
        print(f"no browser found; the page is {path}")
    return path


def _page(x: Any, robot: Robot | str | Path | None, world: World | None, motion: Any) -> str:
    given = None if robot is None else robot if isinstance(robot, Robot) else load(robot)
    match x:
        case Robot():
            return report_page(_robot_evidence(x, world))
        case Trajectory():
            return report_page(_motion_evidence(x, given or load(x.robot), world))
        case GivenMotion():
            return report_page(_motion_evidence(x.trajectory, given or load(x.trajectory.robot), world))
        case Log():
            return report_page(_log_evidence(x, given, world))
        case AuditResult():
            return report_page(_audit_evidence(x, given, world, motion))
        case str() | Path():
            return _page_of_path(x, given, world)
    raise NotSupportedError(
        f"`{type(x).__name__}` cannot be shown",
        next_step="pass a robot, a trajectory, a log, an audit, a run folder, or a file",
    )


def _page_of_path(x: str | Path, robot: Robot | None, world: World | None) -> str:
    """The page of a run as it was written, or one that is made now."""
    path = Path(x)
    if is_run_folder(path) and (path / "report.html").is_file():
        return (path / "report.html").read_text(encoding="utf-8")
    if is_run_folder(path):
        given = read_motion(path, own := robot or robot_of_run(path))
        return report_page(_motion_evidence(given.trajectory, own, world))
    if isinstance(x, str) and not is_file_name(x) and x.partition(":")[0] in zoo.names():
        return report_page(_robot_evidence(load(x), world))
    if not path.exists():
        raise one_of("robot, file or folder", str(x), zoo.names())
    if path.suffix == ".html":
        return path.read_text(encoding="utf-8")
    if path.suffix.lower() in _ROBOT_FILES:
        return report_page(_robot_evidence(load(path), world))
    return report_page(_file_evidence(path, robot, world))


def _file_evidence(path: Path, robot: Robot | None, world: World | None) -> Evidence:
    """A motion or log of ours, which names its robot, or a foreign file."""
    if robot is None and path.is_file() and is_trajectory_file(path):
        robot = load(Trajectory.load(path).robot)
    if robot is None and path.suffix == ".parquet":
        return _log_evidence(Log.load(path), None, world)
    if robot is None:
        raise FileFormatError("does not name its robot", file=path, next_step="show(file, robot)")
    return _motion_evidence(read_motion(path, robot).trajectory, robot, world)


def _robot_evidence(robot: Robot, world: World | None) -> Evidence:
    facts = {"degrees of freedom": robot.nv, "mass_kg": robot.mass, "base": robot.base, "contacts": len(robot.contacts)}
    return Evidence(
        robot.name, robot, np.array([0.0, 1.0]), np.tile(robot.home, (2, 1)), subtitle="at home", world=world,
        metrics=facts,
    )  # fmt: skip


def _motion_evidence(motion: Trajectory, robot: Robot, world: World | None, **more: Any) -> Evidence:
    motion.require(robot)
    return Evidence(
        more.pop("title", f"A motion of {robot.name}"), robot, motion.time, motion.q, world=world, v=motion.v,
        wrenches=dict(motion.wrenches), schedule=motion.schedule,
        plots=motion_plots(robot, motion.q, motion.v, motion.tau, dict(motion.wrenches), world),
        subtitle=f"{motion.duration:.2f} s, {len(motion)} samples", **more,
    )  # fmt: skip


def _log_evidence(log: Log, robot: Robot | None, world: World | None) -> Evidence:
    if "q" not in log:
        raise NotSupportedError(
            "the log has no column `q`", next_step="show the log of one robot, or the folder of the run"
        )
    name = log.metadata.get("robot", "")
    if robot is None and not name:
        raise NotSupportedError("the log does not name its robot", next_step="show(log, robot)")
    own = robot or load(str(name))
    wrenches = {one: np.array(log[f"contact.{one}.wrench"]) for one in own.contacts if f"contact.{one}.wrench" in log}
    parts: dict[str, Any] = {key: np.array(log[key]) for key in ("v", "tau") if key in log}
    return _motion_evidence(Trajectory.of(own, log.time, log["q"], **parts, wrenches=wrenches), own, world)


def _audit_evidence(result: AuditResult, robot: Robot | None, world: World | None, motion: Any) -> Evidence:
    own = robot or load(result.robot)
    defects = sum(finding.severity == "defect" for finding in result.findings)
    verdict = Verdict("passed" if result.passed else counted(defects, "defect"), result.passed)
    if motion is None:
        time = np.array([0.0, max(result.duration, 1e-3)])
        at_home = Trajectory.of(own, time, np.tile(own.home, (2, 1)))
        note = ("No motion was given: the robot is shown at home.",)
        return _motion_evidence(
            at_home, own, world, title=f"Audit of {own.name}", audit=result, verdict=verdict, notes=note
        )
    given = motion if isinstance(motion, Trajectory) else read_motion(motion, own).trajectory
    return _motion_evidence(given, own, world, title=f"Audit of {own.name}", audit=result, verdict=verdict)


def in_notebook() -> bool:
    """Whether a notebook shows what its cells return."""
    shell = sys.modules.get("IPython")
    own = None if shell is None else shell.get_ipython()
    return own is not None and hasattr(own, "kernel")
