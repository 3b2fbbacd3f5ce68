"""`solve`: put frames, centre of mass and joints where they should be; `PositionSolver`: many times."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike, NDArray

from surefoot.errors import ShapeError, one_of
from surefoot.ik.batch_search import BatchSearch
from surefoot.ik.free_motion import free_motion
from surefoot.ik.position_problem import MISS, STEPS, PositionProblem
from surefoot.ik.result import BatchResult, IkResult
from surefoot.robot import Robot
from surefoot.tasks import Task, loop_tasks
from surefoot.tasks.task_set import checked_tasks

__all__ = ["TOLERANCES", "PositionSolver", "solve", "solve_batch"]

Array = NDArray[np.float64]
TOLERANCES: Mapping[str, float] = {"m": 1e-4, "rad": 1e-4, "1": 1e-4}
"""Largest error by unit; "1" is for numbers without a unit."""
_STEPS = 48  # of one start
_LANES = 8


def solve(
    robot: Robot,
    tasks: Sequence[Task],
    q0: ArrayLike | None = None,
    *,
    joints: Sequence[str] | None = None,
    limits: bool = True,
    restarts: int = 40,
    tolerances: Mapping[str, float] | None = None,
    seed: int = 0,
) -> IkResult:
    """A configuration in which the tasks hold, as near to the start as the iteration leads.

        result = sf.ik.solve(robot, [FramePose("hand", "panda_hand_tcp", T)])
        result.q, result.success

    Levenberg–Marquardt steps inside the joint limits with damping after Sugihara 2011 (`damped_step`), from q0; if they
    get stuck, from random starts. Tasks of the highest priority must hold; the others are pursued in their null space.
    The compiled kernel is kept: further calls with tasks of the same structure take microseconds.

    Args:
        robot: The robot; its couplings are kept, and its closed chains stay closed.
        tasks: What should hold.
        q0: (nq,) start; home if left out.
        joints: Joints that may move; all if left out.
        limits: Whether position limits are kept.
        restarts: Random starts to try if q0 does not lead there.
        tolerances: Largest error by unit, as {"m": 1e-3, "rad": 1e-3}; `TOLERANCES` where nothing is said.
        seed: Of the random starts.

    Raises:
        ShapeError: A start or target of a wrong shape, not finite, or no rotation.
        UnknownNameError: There is no such frame or joint.
    """
    solver = PositionSolver(robot, tasks, joints=joints, limits=limits, tolerances=tolerances)
    return solver.solve(q0, restarts=restarts, seed=seed)


def solve_batch(
    robot: Robot,
    tasks: Sequence[Task],
    targets: Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    joints: Sequence[str] | None = None,
    limits: bool = True,
    restarts: int = 40,
    tolerances: Mapping[str, float] | None = None,
    seed: int = 0,
    threads: int | str = 1,
) -> BatchResult:
    """Many problems of one kind at once, one in every SIMD lane.

        found = sf.ik.solve_batch(robot, [FramePose("hand", "panda_hand_tcp")], {"hand": T})   # T (n, 4, 4)

    Args:
        robot: The robot.
        tasks: What should hold.
        targets: Targets (n, …) by task; tasks that are not named have one target for all.
        q0: (nq,) or (n, nq) start; home if left out.
        joints: As in `solve`.
        limits: As in `solve`.
        restarts: As in `solve`.
        tolerances: As in `solve`.
        seed: As in `solve`.
        threads: Number of threads, or "all".
    """
    solver = PositionSolver(robot, tasks, joints=joints, limits=limits, tolerances=tolerances)
    return solver.solve_batch(targets, q0, restarts=restarts, seed=seed, threads=threads)


class PositionSolver:
    """Solves problems that differ in targets and starts only.

        solver = PositionSolver(robot, [FramePose("hand", "panda_hand_tcp")])
        for T in poses:
            result = solver.solve(targets={"hand": T})

    Args:
        robot: The robot.
        tasks: What should hold.
        joints: As in `solve`.
        limits: As in `solve`.
        tolerances: As in `solve`.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        *,
        joints: Sequence[str] | None = None,
        limits: bool = True,
        tolerances: Mapping[str, float] | None = None,
    ) -> None:
        self.robot, self.tasks = robot, (*checked_tasks(tasks), *loop_tasks(robot))
        self._compiled = _compiled(_Key(robot, self.tasks, joints, limits))
        self.problem = self._compiled.problem
        self._names = [task.name for task in self.tasks]
        self._parameters = self.problem.parameters(self.tasks, _tolerances(tolerances))

    def solve(
        self,
        q0: ArrayLike | None = None,
        targets: Mapping[str, ArrayLike] | None = None,
        *,
        restarts: int = 40,
        seed: int = 0,
    ) -> IkResult:
        """One problem; as `surefoot.ik.solve`.

        Args:
            q0: (nq,) start; home if left out.
            targets: Other targets than those of the tasks, by task.
            restarts: Random starts to try.
            seed: Of the random starts.
        """
        q0 = self.robot.home if q0 is None else self.robot.checked_q(q0)
        parameters = self._with_targets(targets) if targets else self._parameters
        with self._compiled.lock:
            return self._search(q0, parameters, restarts, seed)

    def _search(self, q0: Array, parameters: Array, restarts: int, seed: int) -> IkResult:
        """From q0, then from random starts, eight at a time."""
        first = self._compiled.single
        state = first(q0, parameters)
        steps, starts = int(state[STEPS]), 1
        if state[MISS] < 1.0 or not restarts:
            return self._result(first.q, state, steps, starts)
        best, many, rng = (first.q.copy(), state.copy()), self._compiled.many, np.random.default_rng(seed)
        while starts < 1 + restarts:
            states = many(self.problem.starts.draw(q0, _LANES, rng), parameters)
            steps, starts = steps + int(states[:, STEPS].sum()), starts + _LANES
            solved = np.flatnonzero(states[:, MISS] < 1.0)
            if len(solved):
                k = min(solved.tolist(), key=lambda k: self._distance(q0, many.q[k]))
                return self._result(many.q[k], states[k], steps, starts)
            k = int(np.argmin(states[:, MISS]))
            best = (many.q[k].copy(), states[k].copy()) if states[k, MISS] < best[1][MISS] else best
        return self._result(*best, steps, starts)

    def solve_batch(
        self,
        targets: Mapping[str, ArrayLike],
        q0: ArrayLike | None = None,
        *,
        restarts: int = 40,
        seed: int = 0,
        threads: int | str = 1,
    ) -> BatchResult:
        """Many problems; as `surefoot.ik.solve_batch`.

        Args:
            targets: Targets (n, …) by task.
            q0: (nq,) or (n, nq) start; home if left out.
            restarts: Random starts to try.
            seed: Of the random starts.
            threads: Number of threads, or "all".
        """
        parameters = self._batch_with_targets(targets)
        q0 = self._starts_of_batch(q0, len(parameters))
        return BatchSearch(self.problem, parameters, q0, restarts, np.random.default_rng(seed), threads).run()

    # -- one problem ----------------------------------------------------------------------------------------------

    def _with_targets(self, targets: Mapping[str, ArrayLike]) -> Array:
        parameters = self._parameters.copy()
        for name, target in targets.items():
            k = self._index(name)
            parameters[self.problem.target_slices[k]] = self.tasks[k].numbers_of(target)
        return parameters

    def _index(self, name: str) -> int:
        if name not in self._names:
            raise one_of("task", name, self._names)
        return self._names.index(name)

    def _distance(self, q0: Array, q: Array) -> float:
        return float(np.linalg.norm(pin.difference(self.robot.model, q0, q)))

    def _result(self, q: Array, state: Array, steps: int, starts: int) -> IkResult:
        errors: dict[str, dict[str, float]] = {}
        at = 3
        for task in self.tasks:
            errors[task.name] = {}
            for unit, count in task.measures:
                errors[task.name][unit] = float(np.sqrt(state[at : at + count] @ state[at : at + count]))
                at += count
        return IkResult(q.copy(), bool(state[MISS] < 1.0), errors, steps, starts, self._at_limits(q))

    def _at_limits(self, q: Array) -> tuple[str, ...]:
        entries, lower, upper = self._limited
        x = q[entries]
        at = entries[(x <= lower) | (x >= upper)]
        if not len(at):
            return ()
        tree = self.robot.tree
        return tuple(tree.joint_names[i] for i in range(tree.n) if tree.nq_of(i) == 1 and int(tree.q_index[i]) in at)

    @cached_property
    def _limited(self) -> tuple[NDArray[np.int64], Array, Array]:
        """Entries of q with limits, and these."""
        motion = self.problem.motion
        has = motion.entry >= 0
        return motion.entry[has], motion.lower[has], motion.upper[has]

    # -- many problems --------------------------------------------------------------------------------------------

    def _batch_with_targets(self, targets: Mapping[str, ArrayLike]) -> Array:
        counts = {name: len(np.asarray(values)) for name, values in targets.items()}
        if not counts or len(set(counts.values())) != 1:
            raise ShapeError("targets of a batch must be arrays of one length", evidence={"lengths": counts})
        out = np.tile(self._parameters, (next(iter(counts.values())), 1))
        for name, values in targets.items():
            k = self._index(name)
            out[:, self.problem.target_slices[k]] = self.tasks[k].batch_of_targets(np.asarray(values, dtype=float))
        return out

    def _starts_of_batch(self, q0: ArrayLike | None, n: int) -> Array:
        start = np.asarray(self.robot.home if q0 is None else q0, dtype=float)
        if start.shape not in ((self.robot.nq,), (n, self.robot.nq)):
            raise ShapeError(
                f"q0 has shape {start.shape}", evidence={"expected": f"({self.robot.nq},) or ({n}, {self.robot.nq})"}
            )
        return np.array(np.broadcast_to(start, (n, self.robot.nq)))


class _Run:
    """The native loop on arrays of its own, which it keeps between calls."""

    def __init__(self, problem: PositionProblem, steps: int, enough: int | None, lanes: int | None) -> None:
        batch = () if lanes is None else (lanes,)
        self.q = np.tile(problem.robot.home, (*batch, 1))
        self.parameters, self.state = np.zeros(problem.size), np.zeros((*batch, 3 + problem.rows))
        self._call: Callable[[], Any] = problem.loop.bind(
            {"q": self.q, "parameters": self.parameters, "state": self.state}, steps, until=1, enough=enough
        )

    def __call__(self, q: Array, parameters: Array) -> Array:
        """Run from q; the states (…, 3 + rows) at the end, of `self.q`."""
        self.q[:], self.parameters[:], self.state[:] = q, parameters, 0.0
        self._call()
        return self.state


def _tolerances(given: Mapping[str, float] | None) -> Mapping[str, float]:
    if given is None:
        return TOLERANCES
    for unit, value in given.items():
        if unit not in TOLERANCES:
            raise one_of("unit", unit, TOLERANCES)
        if not value > 0.0:
            raise ShapeError(f"tolerance for `{unit}` must be positive", evidence={"given": value})
    return {**TOLERANCES, **given}


class _Key:
    """What a compiled solver depends on; equal for tasks of the same structure."""

    def __init__(self, robot: Robot, tasks: Sequence[Task], joints: Sequence[str] | None, limits: bool) -> None:
        self.robot, self.tasks, self.joints, self.limits = robot, tasks, joints, limits
        first = min(task.priority for task in tasks)
        structure = tuple((task.priority == first, *task.structure) for task in tasks)
        self.key = (id(robot), structure, None if joints is None else tuple(joints), limits)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


class _Compiled:
    """Kernel and work arrays for one structure of tasks."""

    def __init__(self, key: _Key) -> None:
        self.problem = PositionProblem(free_motion(key.robot, key.joints, key.limits), key.tasks)
        self.lock = threading.Lock()  # the work arrays serve one solve at a time

    @cached_property
    def single(self) -> _Run:
        return _Run(self.problem, _STEPS, None, None)

    @cached_property
    def many(self) -> _Run:
        return _Run(self.problem, _STEPS, 1, _LANES)


@lru_cache(maxsize=32)
def _compiled(key: _Key) -> _Compiled:
    return _Compiled(key)
