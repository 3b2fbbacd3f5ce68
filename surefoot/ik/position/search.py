"""One problem: from q0, and from random starts where that gets stuck.

`BatchSearch`: many problems of one kind; those that are solved make room for the others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.ik.position.collision_free import CollisionFree
from surefoot.ik.position.problem import MISS, STEPS, WISH_STEPS, PositionProblem
from surefoot.ik.position.result import BatchResult

_STEPS = 48  # of one start
_FIRST_STEPS = 24  # of the first one, which has a lane for itself
_LANES = 8  # random starts at a time


class Found(NamedTuple):
    """Result of a search.

    Args:
        state: The best so far, as `PositionProblem` has it.
        steps: Steps over all starts.
        starts: Starts so far.
    """

    state: Array
    steps: int
    starts: int

    @property
    def success(self) -> bool:
        """Whether all that must hold does."""
        return bool(self.state[MISS] < 1.0)


class _Run:
    """The native loop on arrays of its own, which it keeps between calls."""

    def __init__(self, problem: PositionProblem, enough: int | None, lanes: int | None) -> None:
        steps = _STEPS if problem.has_wishes or lanes is not None else _FIRST_STEPS
        batch = () if lanes is None else (lanes,)
        self.q = np.tile(problem.robot.home, (*batch, 1))
        self.problem, self.parameters, self.state = problem, np.zeros(problem.size), problem.fresh(*batch)
        self._fresh = self.state.copy()
        self._call: Callable[[], Any] = problem.loop.bind(
            {"q": self.q, "parameters": self.parameters, "state": self.state}, steps, until=1, enough=enough
        )

    def __call__(self, q: Array, parameters: Array, start: Array | None = None) -> Array:
        """Run from q; states (n, …) at the end, valid until the next call."""
        self.q[:], self.parameters[:], self.state[:] = q, parameters, self._fresh if start is None else start
        self._call()
        return self.state if self.state.ndim == 2 else self.state[None]


class WorkArrays(threading.local):
    """The loops of a problem for one start and for several; every thread has arrays of its own."""

    def __init__(self, problem: PositionProblem) -> None:
        self.problem = problem

    @cached_property
    def single(self) -> _Run:
        """For one start."""
        return _Run(self.problem, None, None)

    @cached_property
    def many(self) -> _Run:
        """For several; it stops when one is solved."""
        return _Run(self.problem, 1, _LANES)

    @cached_property
    def every(self) -> _Run:
        """For several, each to its end: of several solutions, one may touch nothing."""
        return _Run(self.problem, None, _LANES)


class SingleSearch:
    """One problem, and how far it is.

    Args:
        work: Robot, tasks, kernel and work arrays.
        parameters: (size,) run-time numbers of the problem.
        q0: (nq,) where it begins.
        free: Sees to it that nothing touches; None if that does not matter.
    """

    def __init__(self, work: WorkArrays, parameters: Array, q0: Array, free: CollisionFree | None = None) -> None:
        self.work, self.parameters, self.q0, self.free = work, parameters, q0, free

    def run(self, restarts: int, seed: int) -> Found:
        """Solve; the first start, then random ones, then some steps more from the best of all.

        Args:
            restarts: Random starts to try.
            seed: Of these.
        """
        states = self._settled(self.work.single(self.q0, self.parameters))
        best = Found(states[0].copy(), int(states[0, STEPS]), 1)
        if best.success:
            return best
        rng, many = np.random.default_rng(seed), self.work.many if self.free is None else self.work.every
        while not best.success and best.starts < 1 + restarts:
            found = many(self.problem.starts.draw(self.q0, _LANES, rng), self.parameters)
            best = self._better(best, self._settled(found), _LANES)
        return best if best.success else self._nearest(best)

    def _nearest(self, best: Found) -> Found:
        """The best, some steps later: where solutions are singular, and where there is none."""
        for caution in (0.0, 1.0, 1.0):
            start = self.problem.fresh(before=WISH_STEPS, caution=caution)
            states = self.work.single(self.problem.best(best.state), self.parameters, start)
            states[:, STEPS] -= WISH_STEPS
            best = self._better(best, self._settled(states), 0)
            if best.success:
                break
        return best

    @property
    def problem(self) -> PositionProblem:
        """Robot, tasks and kernel."""
        return self.work.problem

    def _settled(self, states: Array) -> Array:
        if self.free is None:
            return states
        return self.free.settled(states, np.tile(self.parameters, (len(states), 1)))

    def _better(self, best: Found, states: Array, starts: int) -> Found:
        """The nearest of the solutions, else what misses least."""
        solved = [k for k, miss in enumerate(states[:, MISS].tolist()) if miss < 1.0]
        k = min(solved, key=lambda k: self._way(states[k])) if solved else int(np.argmin(states[:, MISS]))
        steps, starts = best.steps + int(states[:, STEPS].sum()), best.starts + starts
        state = states[k].copy() if states[k, MISS] < best.state[MISS] else best.state
        return Found(state, steps, starts)

    def _way(self, state: Array) -> float:
        return float(np.linalg.norm(pin.difference(self.problem.robot.model, self.q0, self.problem.best(state))))


_FIRST_BATCH_STEPS, _RESTART_STEPS = 24, 16  # of one start
_LAST_STEPS = 100  # for the best of all starts, where solutions are singular, and where there is none
_LEAST = 256  # lanes to fill: where fewer problems are left, each gets several starts at once
_MOST_AT_ONCE = 16


class BatchSearch:
    """A batch of problems and how far they are.

    Args:
        problem: Robot, tasks and kernel.
        parameters: (n, size) run-time numbers of the problems.
        q0: (n, nq) where they begin.
        threads: Number of threads, or "all".
        free: Sees to it that nothing touches; None if that does not matter.
    """

    def __init__(
        self,
        problem: PositionProblem,
        parameters: Array,
        q0: Array,
        threads: int | str = 1,
        free: CollisionFree | None = None,
    ) -> None:
        n = len(parameters)
        self.problem, self.parameters, self.q0, self.threads, self.free = problem, parameters, q0, threads, free
        self.q, self.miss = q0.copy(), np.full(n, np.inf)
        self.steps, self.starts = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)

    def run(self, restarts: int, seed: int) -> BatchResult:
        """Solve; the first start, then random ones for what is left, then some steps more from the best of all.

        Args:
            restarts: Random starts for a problem that gets stuck.
            seed: Of these.
        """
        rng = np.random.default_rng(seed)
        first, later = (WISH_STEPS + 16,) * 2 if self.problem.has_wishes else (_FIRST_BATCH_STEPS, _RESTART_STEPS)
        self._search(np.arange(len(self.q)), self.q0, first)
        while True:
            left = np.flatnonzero((self.miss >= 1.0) & (self.starts <= restarts))
            if not len(left):
                break
            copies = min(_MOST_AT_ONCE, max(1, -(-_LEAST // len(left))), restarts)
            who = np.repeat(left, copies)
            starts = self.problem.starts.draw(self.q0[who], len(who), rng)
            self._search(who, starts, later)
            self.starts[left] += copies
        for caution in (0.0, 1.0):
            left = np.flatnonzero(self.miss >= 1.0)
            self._search(left, self.q[left], _LAST_STEPS, WISH_STEPS, caution)
        return BatchResult(self.q, self.miss < 1.0, self.steps, self.starts)

    def _search(self, who: NDArray[np.int64], q: Array, steps: int, before: int = 0, caution: float = 0.0) -> None:
        """Run from these configurations and keep what is better than what there was."""
        parameters, state = self.parameters[who], self.problem.fresh(len(who), before=before, caution=caution)
        inputs = {"q": q, "parameters": parameters, "state": state}
        state = self.problem.loop.each(inputs, steps, until=1, threads=self.threads)["state"]
        state[:, STEPS] -= before
        self._keep(who, state if self.free is None else self.free.settled(state, parameters))

    def _keep(self, who: NDArray[np.int64], state: Array) -> None:
        """Take over what has a smaller error; of several starts for one problem the best."""
        order = np.argsort(-state[:, MISS], kind="stable")  # the best comes last and stays
        who, state = who[order], state[order]
        np.add.at(self.steps, who, state[:, STEPS].astype(np.int64))
        better = state[:, MISS] < self.miss[who]
        self.q[who[better]], self.miss[who[better]] = self.problem.best(state[better]), state[better, MISS]
