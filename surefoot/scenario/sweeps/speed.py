"""The fastest clean walk of a robot, by a search over step length and pace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from surefoot.scenario.sweeps.jobs import FAILED, PASSED, Job, Outcome, run_jobs

_SCENARIO = "walk-fast"
_FIRST = (0.35, 1.0)  # step in leg lengths, and pace, that the search begins with
_SLOWER, _TRIES = 0.75, 4  # where even these fail
_GROWTH, _LEAST_GROWTH = 1.3, 1.04
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

    A walk is clean if it passes without incidents other than slips of less than 2 cm.

    Args:
        robot: Name or file.
        folder: For the runs.
        told: Called with each trial.
        overrides: Changes of the scenario `walk-fast`, `dotted.key=value`.
        seed: Of all randomness.
        run: Runs jobs and returns their outcomes, in any order.
    """
    trials: list[Trial] = []

    def attempt(wishes: Sequence[tuple[float, float]]) -> list[Trial]:
        jobs = {
            Job(
                _SCENARIO, robot, seed, folder / f"{len(trials) + k:03d}",
                ("audit.kind=none", f"walk.step={step:.4f}", f"walk.pace={pace:.4f}", *overrides),
            ): (step, pace)
            for k, (step, pace) in enumerate(wishes)
        }  # fmt: skip
        found = {outcome.job: outcome for outcome in run(list(jobs))}
        new = [_judged(found[job], *wish) for job, wish in jobs.items()]
        for trial in new:
            trials.append(trial)
            told(trial)
        return new

    best = _start(attempt)
    growth, failed = _GROWTH, [trial for trial in trials if trial.reason]
    while best is not None and growth >= _LEAST_GROWTH:
        half = growth**0.5
        s, p = best.step, best.pace
        faster = attempt([(s * growth, p), (s, p * growth), (s * half, p * half)])
        fastest = max(faster, key=lambda trial: trial.speed)
        if fastest.speed > best.speed:
            best = fastest
        else:
            failed = [trial for trial in faster if trial.reason] or failed
            growth = half
    return FastestWalk(0.0 if best is None else best.speed, _limit(best, failed), best, tuple(trials))


def _start(attempt: Callable[[Sequence[tuple[float, float]]], list[Trial]]) -> Trial | None:
    """A clean walk to begin with."""
    step, pace = _FIRST
    for k in range(_TRIES):
        [trial] = attempt([(step * _SLOWER**k, pace * _SLOWER ** (0.5 * k))])
        if trial.reason is None:
            return trial
    return None


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
    if not failed:
        return "longer and quicker steps are clean but not faster"
    texts = [
        f"steps of {trial.step:.2f} leg lengths at {trial.pace:.2f} times the pace: {trial.reason}" for trial in failed
    ]
    return "; ".join(dict.fromkeys(texts))
