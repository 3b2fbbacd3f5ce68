"""The process in which OMPL plans: `python -m surefoot.planning.ompl.worker`. It is started by `OmplWorker`.

Each query runs in a fork: OMPL can seed its random numbers only once in a process, and crashes at the end of processes.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import select
import signal
import sys
import time
from collections import OrderedDict
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.planning.ompl.client import receive, send
from surefoot.planning.ompl.problem import Checks, OmplPlan, Query

_KEPT = 64  # problems
_GRACE = 10.0  # how long a planner may take to notice that its time is over [s]
_NEAREST = 10  # milestones that start and goal are joined to
_ROUNDS = 4  # × evaluations: rounds of a planner, at most
_HALVES = 5  # how often the distance to the last valid state of an edge is halved


class _Budget:
    """Counts what is checked."""

    def __init__(self, query: Query) -> None:
        self.states = self.edges = self.rounds = 0
        self._most, self._end = int(query.evaluations), time.monotonic() + query.time_limit

    @property
    def stopped(self) -> str:
        """Why planning must end; "" if it need not."""
        if self.states + self.edges >= self._most or self.rounds > _ROUNDS * self._most:
            return "evaluations"
        return "time" if time.monotonic() > self._end else ""

    def is_over(self) -> bool:
        """Whether planning must end; asked in every round, which lazy planners may spend without checking anything."""
        self.rounds += 1
        return bool(self.stopped)


class _Space:
    """OMPL's view of a problem: coordinates are multiplied by their weights."""

    def __init__(self, query: Query, checks: Checks, budget: _Budget) -> None:
        from ompl import base

        self.base, self.weights, self.size = base, np.asarray(query.weights), len(query.start)
        space, bounds = base.RealVectorStateSpace(self.size), base.RealVectorBounds(self.size)
        for k, (low, high) in enumerate(zip(query.lower * self.weights, query.upper * self.weights, strict=True)):
            bounds.setLow(k, float(low))
            bounds.setHigh(k, float(high))
        space.setBounds(bounds)
        self.space, self.info = space, base.SpaceInformation(space)

        def is_valid(state: Any) -> bool:
            budget.states += 1
            return bool(checks.valid(self.numbers(state)[None])[0])

        self._valid = base.StateValidityCheckerFn(is_valid)
        self.info.setStateValidityChecker(self._valid)
        self._motions = _motion_validator(self, checks, budget)
        self.info.setMotionValidator(self._motions)
        self.info.setup()

    def numbers(self, state: Any) -> Array:
        """(m,) without weights."""
        return np.array([state[k] for k in range(self.size)]) / self.weights

    def write(self, state: Any, numbers: Array) -> Any:
        for k, value in enumerate((numbers * self.weights).tolist()):
            state[k] = value
        return state

    def definition(self, query: Query) -> Any:
        pair = [self.write(self.base.State(self.space), x) for x in (query.start, query.goal)]
        out = self.base.ProblemDefinition(self.info)
        out.setStartAndGoalStates(*pair, 1e-9)
        return out


def _motion_validator(space: _Space, checks: Checks, budget: _Budget) -> Any:
    def are_free(start: Array, ends: Array) -> Any:
        budget.states += len(ends)
        budget.edges += len(ends)
        return checks.valid(ends) & checks.edges(np.tile(start, (len(ends), 1)), ends)

    class Motions(space.base.MotionValidator):  # type: ignore[name-defined]
        """Edges as the problem checks them."""

        def checkMotion(self, a: Any, b: Any, last: Any = None) -> bool:
            start, end = space.numbers(a), space.numbers(b)
            if are_free(start, end[None])[0]:
                return True
            if last is not None:
                shares = 0.5 ** np.arange(1, _HALVES + 1)
                halves = start + shares[:, None] * (end - start)
                free = np.append(np.flatnonzero(are_free(start, halves)), -1)[0]
                last.second = 0.0 if free < 0 else float(shares[free])
                if last.first is not None:
                    space.write(last.first, start if free < 0 else halves[free])
            return False

    return Motions(space.info)


def _solve(query: Query, checks: Checks) -> OmplPlan:
    from ompl import base, geometric, util

    util.setLogLevel(util.LOG_NONE)
    util.RNG.setSeed(int(query.seed))
    began, budget = time.perf_counter(), _Budget(query)
    ends = np.stack([query.start, query.goal])
    if not checks.valid(ends).all():
        return OmplPlan(np.zeros((0, len(query.start))), False, "ends", 2, 0, 0, time.perf_counter() - began)
    space = _Space(query, checks, budget)
    definition = space.definition(query)
    planner = getattr(geometric, query.planner)(space.info)
    for name, value in query.parameters.items():
        planner.params().setParam(name, str(value))
    planner.setProblemDefinition(definition)
    planner.setup()
    is_over = base.PlannerTerminationCondition(base.PlannerTerminationConditionFn(budget.is_over))
    if query.planner == "PRM":
        path = _over_roadmap(planner, space, query, checks, budget)
    else:
        planner.solve(is_over)
        path = None
        if definition.hasExactSolution():
            states = definition.getSolutionPath().getStates()
            path = np.array([space.numbers(state) for state in states])
    data = base.PlannerData(space.info)
    planner.getPlannerData(data)
    stopped = "solved" if path is not None else budget.stopped or "samples"
    rows = np.zeros((0, len(query.start))) if path is None else path
    spent = time.perf_counter() - began
    return OmplPlan(rows, path is not None, stopped, budget.states, budget.edges, data.numVertices(), spent)


def _over_roadmap(planner: Any, space: _Space, query: Query, checks: Checks, budget: _Budget) -> Array | None:
    """A path over the roadmap of PRM, which grows until there is one.

    `PRM.solve` looks for solutions in a second thread, at times that depend on the machine; here it is done in between.
    """
    from scipy.sparse import coo_matrix
    from scipy.sparse.csgraph import dijkstra

    ends, aim = np.stack([query.start, query.goal]), 50
    while True:
        goal = budget.edges + aim

        def is_over(goal: int = goal) -> bool:
            return bool(budget.stopped) or budget.edges >= goal

        grow = space.base.PlannerTerminationCondition(space.base.PlannerTerminationConditionFn(is_over))
        planner.growRoadmap(grow)
        data = space.base.PlannerData(space.info)
        planner.getPlannerData(data)
        nodes = [space.numbers(data.getVertex(k).getState()) for k in range(data.numVertices())]
        points = np.vstack([ends, *nodes])
        pairs = [(2 + i, 2 + int(j)) for i in range(len(nodes)) for j in _neighbours(data, i)]
        gaps = np.linalg.norm((points[:, None] - ends) * space.weights, axis=2)
        for k in (0, 1):
            near = np.argsort(gaps[:, k], kind="stable")[1 : _NEAREST + 1]
            free = checks.edges(np.tile(ends[k], (len(near), 1)), points[near])
            budget.edges += len(near)
            pairs += [(k, int(j)) for j in near[free]]
        i, j = np.array(pairs or [(0, 0)]).T
        lengths = np.maximum(np.linalg.norm((points[i] - points[j]) * space.weights, axis=1), 1e-12)
        graph = coo_matrix((lengths, (i, j)), shape=(len(points),) * 2)
        far, before = dijkstra(graph.tocsr(), directed=False, indices=0, return_predecessors=True)
        if np.isfinite(far[1]):
            way = [1]
            while way[-1] != 0:
                way.append(int(before[way[-1]]))
            return points[way[::-1]]
        if budget.stopped:
            return None
        aim *= 2


def _neighbours(data: Any, k: int) -> list[int]:
    from ompl import util

    found = util.vectorUint()
    data.getEdges(k, found)
    return list(found)


def _in_fork(query: Query, checks: Checks) -> OmplPlan | str:
    """The plan, made by a child of this process, or the reason why there is none."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        with os.fdopen(writer, "wb") as pipe:
            try:
                send(pipe, _solve(query, checks))
            except BaseException as error:  # noqa: BLE001 - whatever it is, the parent reports it
                send(pipe, f"{type(error).__name__}: {error}")
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        ready, _, _ = select.select([pipe], [], [], query.time_limit + _GRACE)
        answer = receive(pipe) if ready else None
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    if answer is None:
        return f"the planner ended with status {status}" if ready else "the planner did not end in time"
    found: OmplPlan | str = answer
    return found


def _serve() -> None:
    for module in ("ompl.base", "ompl.geometric", "ompl.util", "scipy.sparse.csgraph"):
        importlib.import_module(module)  # once, not in every fork
    commands, answers = sys.stdin.buffer, os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what planners print must not come between the answers
    sys.path += receive(commands) or []
    problems: OrderedDict[bytes, Checks] = OrderedDict()
    while (message := receive(commands)) is not None:
        key, query = message
        began = time.perf_counter()
        try:
            if key not in problems:
                factory, arguments = pickle.loads(key)
                problems[key] = factory(*arguments)
                problems[key].valid(np.asarray(query.start)[None])  # builds kernels before the fork
                problems[key].edges(np.asarray(query.start)[None], np.asarray(query.start)[None])
                gc.freeze()
        except Exception as error:  # noqa: BLE001 - a problem of a user; the caller reports it
            send(answers, f"{type(error).__name__}: {error}")
            continue
        problems.move_to_end(key)
        while len(problems) > _KEPT:
            problems.popitem(last=False)
        built = time.perf_counter() - began
        answer = _in_fork(query, problems[key])
        if isinstance(answer, OmplPlan):
            object.__setattr__(answer, "build_seconds", built)
        send(answers, answer)
    os._exit(0)


if __name__ == "__main__":
    _serve()
