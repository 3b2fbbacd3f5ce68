"""The fastest clean walk of a robot, by a search over step length and pace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log
from pathlib import Path

from surefoot.errors import NotSupportedError
from surefoot.gait import feet_of
from surefoot.robot import load
from surefoot.scenario.sweeps.jobs import FAILED, OTHER_ROBOT, PASSED, REFUSED, Job, Outcome, run_jobs

_SCENARIO = "walk-fast"
_FIRST = (0.45, 1.25)  # step in leg lengths, and pace, that the search begins with
_SLOWER, _TRIES = 0.75, 4  # where even these fail
_GROWTH, _LEAST_GROWTH, _MOST = 1.3, 1.05, 16  # of the speed from one trial to the next; largest number of trials
_WAYS = ((0.5, 0.5), (1.0, 0.0), (0.0, 1.0))  # shares of step and pace in it
_SLIP = 0.02  # a foot that slips further is not clean [m]


@dataclass(frozen=True)
class Trial:
    """A walk that was tried.

    Args:
        step: Longest step in leg lengths.
        pace: How much quicker than by default.
        speed: Between the first and the last two steps [m/s]; 0 if it was not clean.
        reason: Why it was not clean; None if it was.
    """

    step: float
    pace: float
    speed: float
    reason: str | None


@dataclass(frozen=True)
class FastestWalk:
    """The result of the search.

    Args:
        speed: Of the fastest clean walk [m/s]; 0 if there is none.
        limit: What keeps the robot from walking faster.
        best: The fastest clean walk, or None.
        trials: All that was tried, in order.
    """

    speed: float
    limit: str
    best: Trial | None
    trials: tuple[Trial, ...]


def fastest_walk(
    robot: str,
    folder: Path,
    told: Callable[[Trial], None] = lambda trial: None,
    overrides: Sequence[str] = (),
    seed: int = 0,
    run: Callable[[Sequence[Job]], Sequence[Outcome]] = lambda jobs: list(run_jobs(jobs)),
) -> FastestWalk:
    """Walk straight ahead by five leg lengths with longer and quicker steps until none of these is clean.

    From the fastest clean walk so far, steps are made longer, quicker, or both at a time. Where none of these is clean,
    smaller changes are tried, and nothing that is both longer and quicker than what has failed. A walk is clean if it
    passes without incidents other than slips of less than 2 cm.

    Args:
        robot: Name or file.
        folder: For the runs.
        told: Called with each trial.
        overrides: Changes of the scenario `walk-fast`, `dotted.key=value`.
        seed: Of all randomness.
        run: Runs jobs and returns their outcomes, in any order.

    Raises:
        UnknownNameError: There is no such robot.
        NotSupportedError: It is not a biped, or cannot walk as the overrides ask: nothing moved.
    """
    feet_of(load(robot))
    trials: list[Trial] = []
    moved: list[Outcome] = []

    def attempt(step: float, pace: float) -> Trial:
        changes = ("audit.kind=none", f"walk.step={step:.4f}", f"walk.pace={pace:.4f}", *overrides)
        [outcome] = run([Job(_SCENARIO, robot, seed, folder / f"{len(trials):03d}", changes)])
        trials.append(_judged(outcome, step, pace))
        if outcome.verdict not in (REFUSED, OTHER_ROBOT):
            moved.append(outcome)
        told(trials[-1])
        return trials[-1]

    best, growth, ways = _start(attempt), _GROWTH, list(_WAYS)
    while best is not None and growth >= _LEAST_GROWTH and len(trials) < _MOST:
        for way in ways:
            wish = best.step * growth ** way[0], best.pace * growth ** way[1]
            if len(trials) == _MOST or any(t.reason and t.step <= wish[0] and t.pace <= wish[1] for t in trials):
                continue
            if (trial := attempt(*wish)).speed > best.speed:
                best = trial
                ways.sort(key=lambda other: other != way)
                break
        else:
            growth = growth**0.5
    failed = [trial for trial in trials if trial.reason]
    if not moved:
        raise NotSupportedError(
            f"no walk of `{robot}` could begin; {failed[-1].reason}",
            evidence={"tried": f"steps of {failed[-1].step:.2f} leg lengths at {failed[-1].pace:.2f} times the pace"},
            next_step="see `surefoot run walk-fast --robot …`, or omit --set",
        )
    return FastestWalk(0.0 if best is None else best.speed, _limit(best, failed), best, tuple(trials))


def _start(attempt: Callable[[float, float], Trial]) -> Trial | None:
    """A clean walk to begin with."""
    step, pace = _FIRST
    tried = (attempt(step * _SLOWER**k, pace * _SLOWER ** (0.5 * k)) for k in range(_TRIES))
    return next((trial for trial in tried if trial.reason is None), None)


def _judged(outcome: Outcome, step: float, pace: float) -> Trial:
    reason = uncleanness(outcome)
    speed = 0.0 if reason else float(outcome.metrics["cruise_speed_m_s"] or 0.0)
    return Trial(step, pace, speed, reason)


def uncleanness(outcome: Outcome) -> str | None:
    """Why a walk is not clean; None if it is.

    Args:
        outcome: Of its run.
    """
    if outcome.verdict == FAILED:
        return outcome.reason
    if outcome.verdict != PASSED:
        return f"{outcome.verdict}: {outcome.reason}"
    for item in outcome.metrics["incidents"]:
        if item["kind"] != "slip" or item["worst"] > _SLIP:
            return f"{item['kind'].replace('_', ' ')} of {item['where']}"
    return None


def _limit(best: Trial | None, failed: Sequence[Trial]) -> str:
    """What the trials that failed next to the best one say."""
    if best is None:
        return f"even the slowest walk is not clean: {failed[-1].reason}"
    near = sorted(failed, key=lambda trial: abs(log(trial.step / best.step)) + abs(log(trial.pace / best.pace)))
    if not near:
        return "longer and quicker steps are clean but not faster"
    nearest = {trial.reason: trial for trial in near[::-1]}
    texts = [
        f"steps of {trial.step:.2f} leg lengths at {trial.pace:.2f} times the pace: {trial.reason}"
        for trial in near
        if trial is nearest[trial.reason]
    ]
    return "; ".join(texts[: len(_WAYS)])
