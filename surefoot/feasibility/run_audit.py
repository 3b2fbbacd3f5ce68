"""`audit`: is a motion physically possible, by what margin, and where does it break?"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

import numpy as np

from surefoot.errors import ShapeError
from surefoot.feasibility.case import Case
from surefoot.feasibility.clearance_shapes import missing_shapes_note
from surefoot.feasibility.explain_support import why_not_carried
from surefoot.feasibility.findings import ranked_findings
from surefoot.feasibility.judge import judged_items
from surefoot.feasibility.read_motion import GivenMotion, read_motion
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.tolerances import Tolerances
from surefoot.feasibility.unjudged_pairs import unjudged_notes
from surefoot.motion import AuditResult, Finding, Replay, Trajectory, World
from surefoot.robot import Robot, load
from surefoot.solvers import on_one_core

__all__ = ["audit"]

Check = Callable[[Case], list[Series]]
Found = TypeVar("Found")
_MOST_REASONS = 3


@on_one_core()
def audit(
    motion: Trajectory | GivenMotion | str | Path,
    robot: Robot | str | Path,
    world: World | None = None,
    *,
    tolerances: Tolerances | None = None,
    collisions: bool = True,
    replay: bool = True,
    progress: Callable[[str, float], None] | None = None,
) -> AuditResult:
    """Judge a motion, whoever made it.

        result = sf.audit(trajectory, robot)
        result.passed, result.first, result.item("joint_torque").least_margin

    Args:
        motion: A trajectory, or a file that `read_motion` understands.
        robot: The robot, its name, or its file.
        world: Ground, obstacles, friction and gravity; None for flat ground of friction 0.7, and for no ground under a
            robot with a fixed base, of which nobody knows how high it stands.
        tolerances: What passes; None for the defaults.
        collisions: Whether to look for collisions, which need most of the time.
        replay: Whether to replay it in MuJoCo.
        progress: Called with the name of each part of the audit and the share that is done.

    Raises:
        ShapeError: The motion does not fit the robot, or has a single sample.
    """
    given_robot = robot if isinstance(robot, Robot) else load(robot)
    given = motion if isinstance(motion, GivenMotion) else _given(motion, given_robot)
    given.trajectory.require(given_robot)
    if len(given.trajectory) < 2:
        raise ShapeError("a motion of one sample cannot be audited", next_step="give two samples or more")
    case = Case(
        given_robot, _world_of(given_robot) if world is None else world, given.trajectory, tolerances or Tolerances(),
        given.quaternion_norm, given.filled, given.quaternion_order,
    )  # fmt: skip
    clock = _Clock(progress)
    series = [one for name, check in _checks(collisions).items() for one in clock.timed(name, check, case)]
    played = clock.timed("replay", _replayed, case) if replay else None
    series.append(_replay_series(case, played))
    of_shapes = [missing_shapes_note(given_robot), *unjudged_notes(given_robot)] if collisions else []
    return _result(case, series, played, clock.seconds, (*given.remarks, *filter(None, of_shapes)))


def _given(motion: Trajectory | str | Path, robot: Robot) -> GivenMotion:
    return GivenMotion(motion) if isinstance(motion, Trajectory) else read_motion(motion, robot)


def _world_of(robot: Robot) -> World:
    """Level ground under a robot that moves about; nothing round one that is fixed."""
    return World(ground=()) if robot.base_joint is None else World()


def _checks(collisions: bool) -> Mapping[str, Check]:
    """Parts of the audit in the order of the chain."""
    from surefoot.feasibility.checks import CHECKS

    return {name: check for name, check in CHECKS.items() if collisions or name != "collision"}


def _replayed(case: Case) -> Replay:
    from surefoot.feasibility.replay import replayed

    return replayed(case)


def _replay_series(case: Case, played: Replay | None) -> Series:
    """How long the robot stood, against the end of the motion."""
    if played is None or not len(played.time):
        return skipped("replay", "not asked for" if played is None else played.note)
    until = np.array([[case.trajectory.end if played.survived else played.until]])
    text = "replay: the robot stands until {value}, the motion ends at {limit}"
    return Series("replay", "s", until[0], ("",), until, lower=case.trajectory.end, note=played.note, texts=(text,))


def _result(
    case: Case, series: Sequence[Series], played: Replay | None, seconds: Mapping[str, float], remarks: Sequence[str]
) -> AuditResult:
    return AuditResult(
        robot=case.robot.name,
        duration=case.trajectory.duration,
        samples=case.n,
        items=judged_items(series),
        findings=_explained(case, ranked_findings(series)),
        contacts=case.touch.source,
        schedule=case.touch.schedule,
        replay=played,
        tolerances={name: value for name, value, *_ in case.tolerances.table()},
        seconds=dict(seconds),
        remarks=tuple(remarks),
    )


def _explained(case: Case, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """The findings, those about contact forces with the conflict behind them: the worst few, as each takes its time."""
    about = [k for k, finding in enumerate(findings) if finding.stage == "wrenches"][:_MOST_REASONS]
    whys = {k: why_not_carried(case, findings[k].time) for k in about}
    return tuple(replace(one, why=whys.get(k, "")) for k, one in enumerate(findings))


class _Clock:
    """Measures parts of the audit, and tells how far it is."""

    def __init__(self, progress: Callable[[str, float], None] | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress

    def timed(self, name: str, part: Callable[[Case], Found], case: Case) -> Found:
        if self._progress is not None:
            self._progress(name, min(1.0, len(self.seconds) / 8.0))
        start = time.perf_counter()
        found = part(case)
        self.seconds[name] = time.perf_counter() - start
        return found
