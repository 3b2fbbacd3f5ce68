"""Time of a pass over states, as percentiles; one core for one process; no garbage collection in between."""

from __future__ import annotations

import gc
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["QUICK", "Effort", "Times", "listen", "measure", "pinned", "summarise", "tell", "uncollected"]

_listeners: list[Callable[[float, str], None]] = []


def tell(share: float, text: str) -> None:
    """Report the share of the work that is done, 0 to 1, and what comes next."""
    for listener in _listeners:
        listener(share, text)


@contextmanager
def listen(listener: Callable[[float, str], None]) -> Iterator[None]:
    """Pass every report of `tell` to a function."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


@dataclass(frozen=True)
class Effort:
    """How long to measure: groups of passes, the length of a group [s], and its smallest number of passes."""

    repeats: int = 5
    seconds: float = 0.1
    passes: int = 5


QUICK = Effort(repeats=3, seconds=0.02, passes=3)


@dataclass(frozen=True)
class Times:
    """Percentiles of the time for one state [s]: the mean of a pass over all states is one sample."""

    p5: float
    p50: float
    p95: float
    passes: int

    def json(self) -> dict[str, Any]:
        """As plain data, times in microseconds."""
        return {f"{name}_us": 1e6 * getattr(self, name) for name in ("p5", "p50", "p95")} | {"passes": self.passes}


def measure(one_pass: Callable[[], Any], states: int, effort: Effort) -> Times:
    """Times of a pass over so many states, after one pass to warm up."""
    one_pass()
    with uncollected():
        groups = [_group(one_pass, effort) for _ in range(effort.repeats)]
    return summarise(groups, states)


def _group(one_pass: Callable[[], Any], effort: Effort) -> list[float]:
    """Durations [s] of the passes of one group: CPU time on one core, so that nothing else on the machine counts."""
    is_held = hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) == 1
    clock = time.process_time if is_held else time.perf_counter
    durations: list[float] = []
    end = time.perf_counter() + effort.seconds
    while len(durations) < effort.passes or time.perf_counter() < end:
        start = clock()
        one_pass()
        durations.append(clock() - start)
    return durations


def summarise(groups: Sequence[Sequence[float]], states: int) -> Times:
    """Median over groups of durations [s] of each percentile, for one of the states of a pass."""
    each = np.array([np.percentile(group, (5.0, 50.0, 95.0)) for group in groups])
    p5, p50, p95 = (float(x) for x in np.median(each, axis=0) / states)
    return Times(p5, p50, p95, sum(len(group) for group in groups))


@contextmanager
def uncollected() -> Iterator[None]:
    """No garbage collection inside."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@contextmanager
def pinned() -> Iterator[int | None]:
    """Hold this thread on one core, which is yielded; None where the operating system does not allow it."""
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
