"""`BatchSearch`: many problems of one kind; those that are solved make room for the others."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.ik.position_problem import DONE, MISS, STEPS, WISH_STEPS, PositionProblem
from surefoot.ik.result import BatchResult
from surefoot.ik.starts import random_starts

__all__ = ["BatchSearch"]

Array = NDArray[np.float64]
_ROUNDS = (6, 6, 12)  # steps after which solved problems are taken out, from the first start
_RESTART_ROUNDS = (8, 8)  # the same from random starts
_WISH_ROUNDS = (WISH_STEPS, 16)  # where there are tasks of lower priority
_LEAST = 256  # lanes to fill: where fewer problems are left, each gets several starts at once
_MOST_AT_ONCE = 16


class BatchSearch:
    """A batch of problems and how far they are.

    Args:
        problem: Robot, tasks and kernel.
        parameters: (n, size) run-time numbers of the problems.
        q0: (n, nq) where they begin.
        restarts: Random starts for a problem that gets stuck.
        rng: Source of randomness.
        threads: Number of threads, or "all".
    """

    def __init__(
        self,
        problem: PositionProblem,
        parameters: Array,
        q0: Array,
        restarts: int,
        rng: np.random.Generator,
        threads: int | str = 1,
    ) -> None:
        n = len(parameters)
        self.problem, self.parameters, self.q0, self.restarts = problem, parameters, q0, restarts
        self.rng, self.threads = rng, threads
        self.q, self.miss = q0.copy(), np.full(n, np.inf)
        self.steps, self.starts = np.zeros(n, dtype=np.int64), np.ones(n, dtype=np.int64)

    def run(self) -> BatchResult:
        """Solve; the first start, then random ones for what is left."""
        everyone = np.arange(len(self.q))
        first, later = (_WISH_ROUNDS,) * 2 if self.problem.has_wishes else (_ROUNDS, _RESTART_ROUNDS)
        self._search(everyone, self.q0, first)
        while True:
            left = np.flatnonzero((self.miss >= 1.0) & (self.starts <= self.restarts))
            if not len(left):
                break
            copies = min(_MOST_AT_ONCE, max(1, -(-_LEAST // len(left))))
            who = np.repeat(left, copies)
            starts = random_starts(self.problem.motion, self.q0[who], len(who), self.rng)
            self._search(who, starts, later)
            self.starts[left] += copies
        return BatchResult(self.q, self.miss < 1.0, self.steps, self.starts)

    def _search(self, who: NDArray[np.int64], q: Array, rounds: tuple[int, ...]) -> None:
        """Run from these configurations and keep what is better than what there was."""
        state = np.zeros((len(who), 3 + self.problem.rows))
        parameters = self.parameters[who]
        for steps in rounds:
            found = self.problem.loop(
                {"q": q, "parameters": parameters, "state": state}, steps, until=1, threads=self.threads
            )
            q, state = found.final["q"], found.final["state"]
            ended = (state[:, DONE] > 0.5) | (self.miss[who] < 1.0)
            self._keep(who[ended], q[ended], state[ended])
            go_on = ~ended & (self.miss[who] >= 1.0)
            who, q, state, parameters = who[go_on], q[go_on], state[go_on], parameters[go_on]
            if not len(who):
                return
        self._keep(who, q, state)

    def _keep(self, who: NDArray[np.int64], q: Array, state: Array) -> None:
        """Take over what has a smaller error; of several starts for one problem the best."""
        order = np.argsort(-state[:, MISS], kind="stable")  # the best comes last and stays
        who, q, state = who[order], q[order], state[order]
        np.add.at(self.steps, who, state[:, STEPS].astype(np.int64))
        better = state[:, MISS] < self.miss[who]
        self.q[who[better]], self.miss[who[better]] = q[better], state[better, MISS]
