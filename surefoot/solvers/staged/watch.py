"""What every solver of staged programs does beside its algebra: timing, limits, Ctrl-C, progress."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable
from types import FrameType, TracebackType
from typing import Any, Self, TypeVar

from surefoot.arrays import Array
from surefoot.solvers.staged.flat import flattened
from surefoot.solvers.staged.problem import Derivatives, StagedProblem, Values
from surefoot.solvers.staged.solution import Iteration, Outcome, Progress, Seconds, SolverOptions

T = TypeVar("T")


class TimedFunctions:
    """The functions of a problem, with the time that they take.

    Args:
        problem: Whose functions are called.
    """

    def __init__(self, problem: StagedProblem) -> None:
        self._functions, self._flat, self.seconds = problem.functions, flattened(problem), 0.0
        self.entries = self._flat.entries

    def _timed(self, call: Callable[..., T], *args: Any) -> T:
        begin = time.perf_counter()
        try:
            return call(*args)
        finally:
            self.seconds += time.perf_counter() - begin

    def values(self, w: Array) -> Values:
        """Cost and constraints."""
        return self._timed(self._functions.values, w)

    def derivatives(self, w: Array) -> Derivatives:
        """Gradient and Jacobian blocks."""
        return self._timed(self._functions.derivatives, w)

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives of the Lagrangian."""
        return self._timed(self._functions.hessian, w, cost, gaps, rows, end_rows)

    def flat_derivatives(self, w: Array) -> tuple[Array, Array, Array]:
        """Gradient and Jacobian entries."""
        return self._timed(self._flat.flat_derivatives, w)

    def flat_hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[Array, Array]:
        """Second derivatives of the Lagrangian."""
        return self._timed(self._flat.flat_hessian, w, cost, gaps, rows, end_rows)


class Watch:
    """Keeps the table and says when to stop. While it is entered, Ctrl-C sets a flag instead of raising.

    Args:
        options: Limits.
        progress: Called with every iteration.
    """

    def __init__(self, options: SolverOptions, progress: Progress | None) -> None:
        self.options, self.table, self.stopped = options, list[Iteration](), False
        self._progress, self._begin = progress, time.perf_counter()
        self._before: Any = None

    def __enter__(self) -> Self:
        if threading.current_thread() is threading.main_thread():
            self._before = signal.signal(signal.SIGINT, self._interrupt)
        self._begin = time.perf_counter()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: object, trace: TracebackType | None) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, _number: int, _frame: FrameType | None) -> None:
        self.stopped = True

    def note(self, line: Iteration) -> None:
        """Keep a line of the table and report it."""
        self.table.append(line)
        if self._progress is not None and self._progress(line):
            self.stopped = True

    @property
    def elapsed(self) -> float:
        """Seconds since the solve began."""
        return time.perf_counter() - self._begin

    def limit(self) -> Outcome | None:
        """Why to stop now; None: go on."""
        if self.stopped:
            return "interrupted"
        if self.elapsed > self.options.max_seconds:
            return "time limit"
        if self.table and self.table[-1].number >= self.options.max_iterations:
            return "iteration limit"
        return None

    def seconds(self, functions: TimedFunctions) -> Seconds:
        """Time so far, split."""
        return Seconds(functions.seconds, max(0.0, self.elapsed - functions.seconds))
