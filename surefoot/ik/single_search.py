"""One problem: from q0, and from random starts where that gets stuck."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pinocchio as pin
from numpy.typing import NDArray

from surefoot.ik.collision_free import CollisionFree
from surefoot.ik.position_problem import FIRST_ROW, MISS, STEPS, WISH_STEPS, PositionProblem

__all__ = ["Found", "SingleSearch", "WorkArrays"]

Array = NDArray[np.float64]
_STEPS = 48  # of one start
_LANES = 8  # random starts at a time


class Found(NamedTuple):
    """What a search came to.

    Args:
        q: (nq,) configuration.
        state: Its state, as `PositionProblem` has it.
        steps: Steps over all starts.
        starts: Starts so far.
    """

    q: Array
    state: Array
    steps: int
    starts: int

    @property
    def solved(self) -> bool:
        """Whether all that must hold does."""
        return bool(self.state[MISS] < 1.0)


class _Run:
    """The native loop on arrays of its own, which it keeps between calls."""

    def __init__(self, problem: PositionProblem, enough: int | None, lanes: int | None) -> None:
        batch = () if lanes is None else (lanes,)
        self.q = np.tile(problem.robot.home, (*batch, 1))
        self.parameters, self.state = np.zeros(problem.size), np.zeros((*batch, FIRST_ROW + problem.rows))
        self._call: Callable[[], Any] = problem.loop.bind(
            {"q": self.q, "parameters": self.parameters, "state": self.state}, _STEPS, until=1, enough=enough
        )

    def __call__(self, q: Array, parameters: Array, before: int = 0) -> tuple[Array, Array]:
        """Run from q; configurations (n, nq) and states (n, …) at the end, valid until the next call."""
        self.q[:], self.parameters[:], self.state[:] = q, parameters, 0.0
        self.state[..., STEPS] = before
        self._call()
        self.state[..., STEPS] -= before
        return np.atleast_2d(self.q), np.atleast_2d(self.state)


class WorkArrays(threading.local):
    """The loops of a problem for one start and for several; every thread has arrays of its own.

    Args:
        problem: Robot, tasks and kernel.
    """

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
        Q, states = self._settled(*self.work.single(self.q0, self.parameters))
        best = Found(Q[0].copy(), states[0].copy(), int(states[0, STEPS]), 1)
        if best.solved or not restarts:
            return best
        rng, starts = np.random.default_rng(seed), self.work.problem.starts
        while not best.solved and best.starts < 1 + restarts:
            found = self.work.many(starts.draw(self.q0, _LANES, rng), self.parameters)
            best = self._better(best, *self._settled(*found), _LANES)
        if best.solved:
            return best
        return self._better(best, *self._settled(*self.work.single(best.q, self.parameters, WISH_STEPS)), 0)

    def _settled(self, Q: Array, states: Array) -> tuple[Array, Array]:
        if self.free is None:
            return Q, states
        return self.free.settled(Q, states, np.tile(self.parameters, (len(Q), 1)))

    def _better(self, best: Found, Q: Array, states: Array, starts: int) -> Found:
        """The nearest of the solutions, else what misses least."""
        solved = np.flatnonzero(states[:, MISS] < 1.0).tolist()
        k = min(solved, key=lambda k: self._way(Q[k])) if solved else int(np.argmin(states[:, MISS]))
        steps, starts = best.steps + int(states[:, STEPS].sum()), best.starts + starts
        if states[k, MISS] < best.state[MISS]:
            return Found(Q[k].copy(), states[k].copy(), steps, starts)
        return best._replace(steps=steps, starts=starts)

    def _way(self, q: Array) -> float:
        return float(np.linalg.norm(pin.difference(self.work.problem.robot.model, self.q0, q)))
