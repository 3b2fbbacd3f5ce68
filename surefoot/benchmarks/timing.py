"""Time of a pass over states, as percentiles; one core for one process; no garbage collection in between."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

__all__ = ["Effort", "Progress", "Times", "measure", "pinned", "silent", "summarise"]

Progress = Callable[[float, str], None]
"""Is told the share that is done and what comes next."""


def silent(share: float, text: str) -> None:
    """Tell nobody.

    Args:
        share: Of the work, 0 to 1.
        text: What comes next.
    """


@dataclass(frozen=True)
class Effort:
    """How long to measure.

    Args:
        repeats: Groups of passes; their median counts.
        seconds: Length of a group [s].
        passes: At least so many passes in a group.
    """

    repeats: int = 5
    seconds: float = 0.1
    passes: int = 5


@dataclass(frozen=True)
class Times:
    """Percentiles of the time for one state [s]: the mean of a pass over all states is one sample.

    Args:
        p5: 5 % of the passes are faster.
        p50: The median.
        p95: 95 % of the passes are faster.
        passes: Passes of all groups.
    """

    p5: float
    p50: float
    p95: float
    passes: int

    def json(self) -> dict[str, Any]:
        """As plain data, times in microseconds."""
        found = asdict(self)
        return {f"{name}_us": 1e6 * found[name] for name in ("p5", "p50", "p95")} | {"passes": self.passes}


def measure(one_pass: Callable[[], Any], states: int, effort: Effort) -> Times:
    """Times of a pass over so many states.

    Args:
        one_pass: Runs over all states once.
        states: How many there are.
        effort: How long to measure.
    """
    one_pass()
    collects = gc.isenabled()
    gc.disable()
    try:
        groups = [_group(one_pass, effort) for _ in range(effort.repeats)]
    finally:
        if collects:
            gc.enable()
    return summarise(groups, states)


def _group(one_pass: Callable[[], Any], effort: Effort) -> list[float]:
    """Durations [s] of the passes of one group."""
    clock = time.perf_counter
    found: list[float] = []
    end = clock() + effort.seconds
    while len(found) < effort.passes or clock() < end:
        start = clock()
        one_pass()
        found.append(clock() - start)
    return found


def summarise(groups: Sequence[Sequence[float]], states: int) -> Times:
    """Median over the groups of each percentile, for one state.

    Args:
        groups: Durations of passes [s], group by group.
        states: States of a pass.
    """
    each = np.array([np.percentile(group, (5.0, 50.0, 95.0)) for group in groups])
    p5, p50, p95 = (float(x) for x in np.median(each, axis=0) / states)
    return Times(p5, p50, p95, sum(len(group) for group in groups))


@contextmanager
def pinned() -> Iterator[int | None]:
    """Hold this thread on one core, where the operating system allows it; afterwards it may run where it did before.

    Yields:
        The core; None where it cannot be held.
    """
    if not hasattr(os, "sched_setaffinity"):
        yield None
        return
    before = os.sched_getaffinity(0)
    core = max(before)
    try:
        os.sched_setaffinity(0, {core})
    except OSError:  # some containers refuse it
        yield None
        return
    try:
        yield core
    finally:
        os.sched_setaffinity(0, before)
