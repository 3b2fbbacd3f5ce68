"""`BatchSearch`: many problems of one kind; those that are solved make room for the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.ik.collision_free import CollisionFree
from surefoot.ik.position_problem import MISS, STEPS, WISH_STEPS, PositionProblem
from surefoot.ik.result import BatchResult

__all__ = ["BatchSearch"]

_FIRST_STEPS, _RESTART_STEPS = 24, 16  # of one start
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
        first, later = (WISH_STEPS + 16,) * 2 if self.problem.has_wishes else (_FIRST_STEPS, _RESTART_STEPS)
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
