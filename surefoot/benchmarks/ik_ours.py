"""Our own inverse kinematics on the problems of the benchmark: one target a call, or all in a batch."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.benchmarks.ik_judge import ANGLE, POSITION
from surefoot.benchmarks.ik_problems import IkProblems
from surefoot.ik import IkResult, PositionSolver, solve, solve_batch
from surefoot.tasks import CenterOfMass, FramePose, Task

__all__ = ["OURS", "OurAnswers", "solve_ours"]

Array = NDArray[np.float64]
_ROOM = 0.999  # of the tolerance, as for the peers
_TOLERANCES = {"m": _ROOM * POSITION, "rad": _ROOM * ANGLE}
_RESTARTS = 100


@dataclass(frozen=True, eq=False)
class OurAnswers:
    """What we found.

    Args:
        q: (n, nq).
        facts: Milliseconds, steps and restarts for each target; seconds of all passes.
    """

    q: Array
    facts: dict[str, Any]


def solve_ours(way: str, problems: IkProblems, passes: int) -> OurAnswers:
    """Solve all problems so many times, on one core; the fastest pass counts.

    The first call, which compiles, is not timed.

    Args:
        way: A key of `OURS`.
        problems: n problems.
        passes: How often.
    """
    one_pass = OURS[way]
    one_pass(problems)
    seconds, busy = [], []
    collects = gc.isenabled()
    gc.disable()
    try:
        for _ in range(passes):
            begun, start = time.process_time(), time.perf_counter()
            q, steps, starts = one_pass(problems)
            seconds.append(time.perf_counter() - start)
            busy.append(time.process_time() - begun)
    finally:
        if collects:
            gc.enable()
    facts = {
        "ms": 1e3 * min(seconds) / len(problems),
        "processor_ms": 1e3 * min(busy) / len(problems),
        "iterations": float(np.mean(steps)),
        "restarts": float(np.mean(starts)) - 1.0,
        "all_seconds": seconds,
    }
    return OurAnswers(np.asarray(q), facts)


def _tasks(problems: IkProblems) -> list[Task]:
    """Hand, feet and centre of mass, all of one priority."""
    tasks: list[Task] = [FramePose("hand", problems.case.hand, problems.hand[0])]
    tasks += [FramePose(foot, foot, T) for foot, T in problems.feet.items()]
    return tasks if problems.com is None else [*tasks, CenterOfMass("com", problems.com[0])]


def _solve(problems: IkProblems) -> tuple[Any, Any, Any]:
    """One after the other, from Python, with tasks that are made anew for each target."""
    tasks, found = _tasks(problems), []
    for k, hand in enumerate(problems.hand):
        tasks[0] = tasks[0].with_target(hand)
        if problems.com is not None:
            tasks[-1] = tasks[-1].with_target(problems.com[k])
        found.append(solve(problems.robot, tasks, problems.home, seed=k, restarts=_RESTARTS, tolerances=_TOLERANCES))
    return _columns(found)


def _solver(problems: IkProblems) -> tuple[Any, Any, Any]:
    """One after the other, from Python, by a solver that is kept and gets other targets, as the peers do."""
    solver = PositionSolver(problems.robot, _tasks(problems), tolerances=_TOLERANCES)
    found = []
    for k, hand in enumerate(problems.hand):
        targets = {"hand": hand} if problems.com is None else {"hand": hand, "com": problems.com[k]}
        found.append(solver.solve(problems.home, targets, seed=k, restarts=_RESTARTS))
    return _columns(found)


def _columns(found: Sequence[IkResult]) -> tuple[Any, Any, Any]:
    return np.array([x.q for x in found]), [x.steps for x in found], [x.starts for x in found]


def _batch(problems: IkProblems) -> tuple[Any, Any, Any]:
    """All at once, on one thread."""
    targets = {"hand": problems.hand} | ({} if problems.com is None else {"com": problems.com})
    found = solve_batch(
        problems.robot, _tasks(problems), targets, problems.home, restarts=_RESTARTS, tolerances=_TOLERANCES
    )
    return found.q, found.steps, found.starts


OURS: dict[str, Callable[[IkProblems], tuple[Any, Any, Any]]] = {
    "solve": _solve,
    "solver": _solver,
    "batch": _batch,
}
"""The ways to solve, by name."""
