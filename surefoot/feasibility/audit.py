"""`audit`: is a motion physically possible, by what margin, and where does it break?

The order of work is a chain of records: the motion that was read (`Case`) → its rates → when contacts touch → torques
and contact wrenches → checks, each of which returns series over time → items and findings.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ParamSpec, TypeVar

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.feasibility.case import Case, Tolerances
from surefoot.feasibility.clearance import check_collisions, missing_shapes_note, unjudged_notes
from surefoot.feasibility.contact_motion import check_closure, check_contact_motion, check_ground, contact_shares
from surefoot.feasibility.efforts import Efforts, efforts_of
from surefoot.feasibility.findings import judge_items, rank_findings
from surefoot.feasibility.forces import check_balance, check_impact, check_wrenches
from surefoot.feasibility.layout import OtherReading, check_layout, check_readings, other_readings
from surefoot.feasibility.limits import check_limits
from surefoot.feasibility.rates import (
    Rates,
    check_base_jumps,
    check_consistency,
    check_jumps,
    check_rate_spikes,
    check_smoothness,
    rates_of,
)
from surefoot.feasibility.series import Series, skipped
from surefoot.feasibility.touch import Touch, body_contacts, touch_of
from surefoot.feasibility.why import why_not_carried
from surefoot.motion import AuditResult, Finding, Replay, Trajectory, World
from surefoot.motion.reading import GivenMotion, read_motion
from surefoot.robot import Robot, load
from surefoot.solvers import on_one_core

P = ParamSpec("P")
Found = TypeVar("Found")
_MOST_REASONS = 3
_PARTS = 17  # of an audit with collisions and replay, as progress counts them


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
    before_replay: Callable[[tuple[Finding, ...]], None] | None = None,
) -> AuditResult:
    """Judge a motion, whoever made it.

        result = sf.audit(trajectory, robot)
        result.passed, result.first, result.item("joint_torque").least_margin

    Args:
        motion: A trajectory, or a file that `read_motion` understands.
        robot: The robot, its name, or its file.
        world: Ground, obstacles, friction and gravity; None for flat ground with friction 0.7, or no ground for a robot
            with a fixed base, whose mounting height is unknown.
        tolerances: None for the defaults.
        collisions: Whether to check collisions, which take most of the time.
        replay: Whether to replay the motion in MuJoCo.
        progress: Called with the name of each part of the audit and the completed share.
        before_replay: Called with what has been found when only the replay, the longest part, is left.

    Raises:
        ShapeError: The motion does not fit the robot, or has only one sample.
        NotSupportedError: Some of the ground moves.
    """
    if world is not None and world.moving:
        raise NotSupportedError("the audit takes ground for resting, and some of it moves", next_step="omit the audit")
    model = robot if isinstance(robot, Robot) else load(robot)
    given = _read(motion, model)
    case = _case(given, model, world, tolerances or Tolerances())
    clock = _Clock(progress)
    case = clock.timed("bodies", _on_bodies, case)
    rates = clock.timed("rates", rates_of, case)
    touch = clock.timed("touch", touch_of, case, rates)
    efforts = clock.timed("efforts", efforts_of, case, rates, touch)
    series = _check(case, rates, touch, efforts, clock, collisions)
    if replay and before_replay is not None:
        before_replay(rank_findings(series))
    played = clock.timed("replay", _replay, case, rates, touch, efforts) if replay else None
    series.append(_replay_series(case, played))
    return AuditResult(
        robot=case.robot.name,
        duration=case.trajectory.duration,
        samples=case.n,
        items=judge_items(series),
        findings=_explain(case, touch, efforts, rank_findings(series)),
        contacts="; ".join(text for text in (touch.source, contact_shares(case, touch)) if text),
        schedule=touch.schedule,
        replay=played,
        tolerances={name: value for name, value, *_ in case.tolerances.table()},
        seconds=clock.seconds,
        remarks=(*given.remarks, *(_shape_remarks(model) if collisions else ())),
    )


@dataclass(frozen=True, eq=False)
class CompletedMotion:
    """Velocities, torques and contact wrenches of a motion, given or computed.

    Args:
        v: (n, nv).
        tau: (n, nu) at the driven joints, NaN where unknown.
        wrenches: Contact → (n, 6) in its frame, NaN where unknown.
    """

    v: Array
    tau: Array
    wrenches: Mapping[str, Array]


def complete_motion(motion: Trajectory, robot: Robot, world: World) -> CompletedMotion:
    """Compute the velocities, torques and contact wrenches that a motion lacks."""
    case = Case(robot, world, motion)
    rates = rates_of(case)
    efforts = efforts_of(case, rates, touch_of(case, rates))
    wrenches = {name: efforts.wrenches[:, k] for k, name in enumerate(case.contact_names)}
    return CompletedMotion(rates.v, efforts.tau, wrenches)


def _read(motion: Trajectory | GivenMotion | str | Path, robot: Robot) -> GivenMotion:
    if isinstance(motion, GivenMotion):
        return motion
    return GivenMotion(motion) if isinstance(motion, Trajectory) else read_motion(motion, robot)


_LARGEST = {
    "q": 1e6,
    "v": 1e9,
    "a": 1e12,
    "tau": 1e12,
}  # SI units: no robot comes near, and sums of squares stay finite
_SHORTEST = 1e-9  # [s] between samples


def _require_moderate(trajectory: Trajectory) -> None:
    """Refuse numbers that are not those of a motion, however wrong."""
    if (shortest := float(np.diff(trajectory.time).min())) < _SHORTEST:
        raise ShapeError(f"two samples are {shortest:g} s apart", next_step="remove one of them, or give --rate")
    for name, most in _LARGEST.items():
        values = getattr(trajectory, name)
        wrong = [] if values is None else np.argwhere(np.abs(values) > most).tolist()
        if wrong:
            row, column = wrong[0]
            raise ShapeError(
                f"`{name}` is {values[row, column]:g} at t = {trajectory.time[row]:g} s, which is not a motion",
                evidence={"row": row, "entry": column, "most": most},
                next_step="remove this row, or correct its numbers",
            )


def _case(given: GivenMotion, robot: Robot, world: World | None, tolerances: Tolerances) -> Case:
    """The case of a motion; without a world, level ground under a robot that moves about, nothing round a fixed one."""
    given.trajectory.require(robot)
    if len(given.trajectory) < 2:
        raise ShapeError("a motion with one sample cannot be audited", next_step="give at least two samples")
    _require_moderate(given.trajectory)
    if world is None:
        world = World(ground=()) if robot.base_joint is None else World()
    return Case(
        robot, world, given.trajectory, tolerances, given.quaternion_norm, given.filled, given.quaternion_order
    )  # fmt: skip


def _on_bodies(case: Case) -> Case:
    """The case with contacts of knees, hands and back, if they touch the ground."""
    found = body_contacts(case)
    if not found:
        return case
    robot = case.given_robot.replace(contacts={**case.given_robot.contacts, **found})
    return replace(case, given_robot=robot, bodies=tuple(found))


def _check(case: Case, rates: Rates, touch: Touch, efforts: Efforts, clock: _Clock, collisions: bool) -> list[Series]:
    """All checks but the replay, in the order of the chain."""
    readings = other_readings(case, rates)
    out = clock.timed("layout", check_layout, case, rates, readings)
    out += clock.timed("jumps", _check_jumps, case, rates)
    out += clock.timed("consistency", _check_rates, case, rates, readings, touch.switches(case.time))
    out += clock.timed("closed chains", check_closure, case)
    out += clock.timed("ground", check_ground, case, touch, efforts)
    out += clock.timed("contact motion", check_contact_motion, case, touch)
    out += clock.timed("limits", check_limits, case, rates, efforts)
    if collisions:
        out += clock.timed("collision", check_collisions, case, rates)
    out += clock.timed("wrenches", check_wrenches, case, touch, efforts)
    out += clock.timed("balance", check_balance, case, rates, touch, efforts)
    out += clock.timed("impact", check_impact, case, touch)
    out += clock.timed("smoothness", check_smoothness, case, rates, efforts.demand.a)
    return out


def _check_jumps(case: Case, rates: Rates) -> list[Series]:
    return [*check_jumps(case, rates), *check_base_jumps(case, rates)]


def _check_rates(case: Case, rates: Rates, readings: tuple[OtherReading, ...], switches: Array) -> list[Series]:
    return [
        *check_readings(case, rates, readings),
        *check_consistency(case, rates, switches),
        *check_rate_spikes(case, rates, switches),
    ]


def _replay(case: Case, rates: Rates, touch: Touch, efforts: Efforts) -> Replay:
    from surefoot.feasibility.replay import replay_motion

    return replay_motion(case, rates, touch, efforts)


def _replay_series(case: Case, played: Replay | None) -> Series:
    """How long the robot stayed upright, against the end of the motion."""
    if played is None or not len(played.time):
        return skipped("replay", "not requested" if played is None else played.note)
    until = np.array([[played.until]])
    end = played.until if played.survived else case.trajectory.end
    text = "replay: the robot stays upright until {value}, the motion ends at {limit}"
    return Series("replay", "s", until[0], ("",), until, lower=end, note=played.note, texts=(text,))


def _shape_remarks(robot: Robot) -> list[str]:
    """Remarks on shapes and pairs of links that clearance is judged without."""
    return [text for text in (missing_shapes_note(robot), *unjudged_notes(robot)) if text]


def _explain(case: Case, touch: Touch, efforts: Efforts, findings: tuple[Finding, ...]) -> tuple[Finding, ...]:
    """Explain the worst few findings about contact forces by the conflict behind them."""
    about = [k for k, finding in enumerate(findings) if finding.stage == "wrenches"][:_MOST_REASONS]
    whys = {k: why_not_carried(case, touch, efforts, findings[k].time) for k in about}
    return tuple(replace(one, why=whys.get(k, "")) for k, one in enumerate(findings))


class _Clock:
    """Measures parts of the audit, and reports how far it is."""

    def __init__(self, progress: Callable[[str, float], None] | None) -> None:
        self.seconds: dict[str, float] = {}
        self._progress = progress

    def timed(self, name: str, part: Callable[P, Found], *args: P.args, **named: P.kwargs) -> Found:
        if self._progress is not None:
            self._progress(name, min(1.0, len(self.seconds) / _PARTS))
        start = time.perf_counter()
        found = part(*args, **named)
        self.seconds[name] = time.perf_counter() - start
        return found
