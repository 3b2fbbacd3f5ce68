"""Motions inside a stance by OMPL's planners: the free coordinates of its chart are their space.

with OmplSingleMode("SBL") as planner:
    plan = StancePlanner(robot, world, single_mode=planner).plan(q, goal)
"""

from __future__ import annotations

import pickle
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.planning.connect import Budget, Sampler
from surefoot.planning.ompl.client import OmplWorker
from surefoot.planning.ompl.problem import PLANNERS, OmplPlan, Query
from surefoot.planning.space import Mode, StanceModel

_TURN = 0.15  # [m] that a radian of the base counts as
_LOCAL = ("SBL", "STRIDE", "KPIECE1", "LBKPIECE1", "EST")  # grow by small steps: `Budget.step` at most
_SAMPLES = 40  # checked states for each sample of BFMT*: it draws all of them before it looks at an edge
_ROOM = 1e-6  # bounds lie this far outside of start and goal, at least


class _StanceChart:
    """Checks of the free coordinates of a stance; the others are as in a state of it."""

    def __init__(self, mode: Mode, state: Array) -> None:
        self._mode, self._state = mode, state

    def _whole(self, states: Array) -> Array:
        out = np.tile(self._state, (len(states), 1))
        out[:, self._mode.free] = states
        return out

    def valid(self, states: Array) -> NDArray[np.bool_]:
        return self._mode.check(self._whole(states)).valid

    def edges(self, starts: Array, ends: Array) -> NDArray[np.bool_]:
        return self._mode.check_edges(self._whole(starts), self._whole(ends))


@lru_cache(maxsize=4)
def _model(data: bytes) -> StanceModel:
    return StanceModel(*pickle.loads(data))  # from the process that started the worker


def stance_chart(model: bytes, mode: tuple[object, ...], state: Array) -> _StanceChart:
    """The problem of one stance, for `OmplWorker`.

    Args:
        model: Pickled robot, world and margins; models are kept by it.
        mode: Further arguments of `Mode.of`.
        state: (6 + 3 L,) a state of the stance.
    """
    return _StanceChart(Mode.of(_model(model), *mode), state)  # type: ignore[arg-type]


class OmplSingleMode:
    """A single-mode planner of `StancePlanner` that asks OMPL.

        with OmplSingleMode("SBL") as planner:
            plan = StancePlanner(robot, world, single_mode=planner).plan(q, goal)

    Args:
        planner: One of `PLANNERS`.
        time_limit: Of a query [s]; a safeguard.
    """

    def __init__(self, planner: str, time_limit: float = 10.0) -> None:
        if planner not in PLANNERS:
            raise one_of("planner of OMPL", planner, PLANNERS)
        self.planner, self.time_limit = planner, time_limit
        self._worker: OmplWorker | None = None
        self._models: tuple[StanceModel | None, bytes] = None, b""
        self.answers: list[OmplPlan] = []

    def __call__(self, mode: Mode, start: Array, goal: Array, rng: np.random.Generator, budget: Budget) -> Array | None:
        """A path between two states, or None.

        Args:
            mode: The stance.
            start: (6 + 3 L,).
            goal: (6 + 3 L,).
            rng: Random numbers; OMPL's seed is drawn from it.
            budget: `states` limits the states and edges that OMPL asks for.
        """
        model, free = mode.model, mode.free
        if np.array_equal(start, goal):
            return np.array([start, goal])
        parts = (mode.feet, mode.held, mode.footholds, mode.carries, mode.spots)
        problem = (stance_chart, self._data(model), parts, start)
        if self._worker is None:
            self._worker = OmplWorker(*problem)
        self._worker.set_problem(*problem)
        box, weights = Sampler(mode, start, goal), np.ones(len(start))
        weights[3:6] = _TURN
        ends = np.array([start, goal])[:, free]
        answer = self._worker.plan(
            Query(
                start[free], goal[free],
                lower=np.minimum(box.low[free], ends.min(axis=0) - _ROOM),
                upper=np.maximum(box.high[free], ends.max(axis=0) + _ROOM),
                weights=weights[free], planner=self.planner, seed=int(rng.integers(1, 2**31)),
                evaluations=budget.states, time_limit=self.time_limit,
                parameters=self._parameters(budget),
            )
        )  # fmt: skip
        self.answers.append(answer)
        mode.statistics.states += answer.states_checked
        mode.statistics.edges += answer.edges_checked
        if not answer.success:
            return None
        path = np.tile(start, (len(answer.path), 1))
        path[:, free] = answer.path
        path[0], path[-1] = start, goal
        return path

    def _parameters(self, budget: Budget) -> dict[str, str]:
        if self.planner == "BFMT":
            return {"num_samples": str(max(budget.states // _SAMPLES, 10))}
        return {"range": str(budget.step)} if self.planner in _LOCAL else {}

    def _data(self, model: StanceModel) -> bytes:
        if self._models[0] is not model:
            self._models = model, pickle.dumps((model.robot, model.world, model.margins))
        return self._models[1]

    def close(self) -> None:
        """End the process of OMPL."""
        if self._worker is not None:
            self._worker.close()
            self._worker = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
