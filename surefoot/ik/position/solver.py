"""`solve`: put frames, centre of mass and joints where they should be; `PositionSolver`: many times."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import compress
from math import hypot
from typing import TypedDict, Unpack

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.collision import CollisionModel
from surefoot.collision.volumes import checked_postures
from surefoot.errors import ShapeError, one_of
from surefoot.ik.position.collision_free import CollisionFree, half_spaces
from surefoot.ik.position.free_motion import free_motion
from surefoot.ik.position.problem import FIRST_ROW, PositionProblem, first_priority
from surefoot.ik.position.result import BatchResult, IkResult
from surefoot.ik.position.search import BatchSearch, Found, SingleSearch, WorkArrays
from surefoot.robot import Robot
from surefoot.tasks import Task, checked_tasks, loop_tasks

_WHOLE = (int, np.integer)
TOLERANCES: Mapping[str, float] = {"m": 1e-4, "rad": 1e-4, "1": 1e-4}
"""Largest error by unit; "1" is for numbers without a unit."""


class SolverOptions(TypedDict, total=False):
    """Options of a `PositionSolver`, as in `solve`."""

    joints: Sequence[str] | None
    limits: bool
    tolerances: Mapping[str, float] | None
    collision: CollisionModel | None


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
    collision: CollisionModel | None = None,
) -> IkResult:
    """A configuration in which the tasks hold, as near to the start as the iteration leads.

        result = sf.ik.solve(robot, [FramePose("panda_hand_tcp", T)])
        result.q, result.success

    Levenberg–Marquardt steps inside the joint limits with damping after Sugihara 2011 (`damped_step`), from q0; if they
    get stuck, from random starts. Tasks of the highest priority must hold; the others are pursued in their null space,
    all of them together by their weights. What is out of reach is approached as far as it goes.
    The compiled kernel is kept: further calls with tasks of the same structure take microseconds.

    Args:
        robot: The robot; its couplings are kept, and its closed chains stay closed.
        tasks: What should hold.
        q0: (nq,) start; home if omitted.
        joints: Joints that may move; all if omitted.
        limits: Whether position limits are kept.
        restarts: Random starts to try if q0 does not lead there; eight are tried at a time.
        tolerances: Largest error by unit, as {"m": 1e-3, "rad": 1e-3}; `TOLERANCES` where nothing is said.
        seed: Of the random starts.
        collision: What must not touch: only a posture that is free by this model, with its margin, is a success.

    Raises:
        ShapeError: A start or target of a wrong shape, not finite, or no rotation.
        UnknownNameError: There is no such frame or joint.
    """
    solver = PositionSolver(robot, tasks, joints=joints, limits=limits, tolerances=tolerances, collision=collision)
    return solver.solve(q0, restarts=restarts, seed=seed)


def solve_batch(
    robot: Robot,
    tasks: Sequence[Task],
    targets: Mapping[str, ArrayLike],
    q0: ArrayLike | None = None,
    *,
    restarts: int = 40,
    seed: int = 0,
    threads: int | str = 1,
    **options: Unpack[SolverOptions],
) -> BatchResult:
    """Many problems of one kind at once, one in every SIMD lane.

        found = sf.ik.solve_batch(robot, [FramePose("panda_hand_tcp")], {"panda_hand_tcp": T})   # T (n, 4, 4)

    Args:
        robot: The robot.
        tasks: What should hold.
        targets: Targets (n, …) by task; tasks that are not named have one target for all.
        q0: (nq,) or (n, nq) start; home if omitted.
        restarts: As in `solve`.
        seed: As in `solve`.
        threads: Number of threads, or "all".
        **options: `joints`, `limits`, `tolerances` and `collision`, as in `solve`.
    """
    solver = PositionSolver(robot, tasks, **options)
    return solver.solve_batch(targets, q0, restarts=restarts, seed=seed, threads=threads)


class PositionSolver:
    """Solves problems that differ in targets and starts only.

        solver = PositionSolver(robot, [FramePose("panda_hand_tcp", name="hand")])
        for T in poses:
            result = solver.solve(targets={"hand": T})

    Args:
        robot: The robot.
        tasks: What should hold.
        joints: As in `solve`.
        limits: As in `solve`.
        tolerances: As in `solve`.
        collision: As in `solve`.
    """

    def __init__(
        self,
        robot: Robot,
        tasks: Sequence[Task],
        *,
        joints: Sequence[str] | None = None,
        limits: bool = True,
        tolerances: Mapping[str, float] | None = None,
        collision: CollisionModel | None = None,
    ) -> None:
        first = first_priority(checked_tasks(tasks, robot))
        loops = [replace(loop, priority=first) for loop in loop_tasks(robot)]
        self.robot, self.tasks = robot, (*tasks, *loops)
        self._compiled = _compiled(_Key(robot, self.tasks, joints, limits))
        self.problem = self._compiled.problem
        self._tolerances = _tolerances(tolerances)
        self._parameters = self.problem.parameters(self.tasks, self._tolerances)
        self._free = None if collision is None else self._collision_free(collision, joints, limits)

    def _collision_free(self, model: CollisionModel, joints: Sequence[str] | None, limits: bool) -> CollisionFree:
        tasks = (*self.tasks, half_spaces(self.robot, model, self.tasks))
        problem = _compiled(_Key(self.robot, tasks, joints, limits)).problem
        numbers = problem.parameters(tasks, self._tolerances)[self.problem.size :]
        return CollisionFree(model, problem, numbers)

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
            q0: (nq,) start; home if omitted.
            targets: Other targets than those of the tasks, by task.
            restarts: Random starts to try.
            seed: Of the random starts.
        """
        q0 = self.robot.home if q0 is None else self.robot.checked_q(q0)
        parameters = self._with_targets(targets) if targets else self._parameters
        search = SingleSearch(self._compiled.work, parameters, q0, self._free)
        return self._result(search.run(*_whole(restarts=restarts, seed=seed)))

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
            q0: (nq,) or (n, nq) start; home if omitted.
            restarts: Random starts to try.
            seed: Of the random starts.
            threads: Number of threads, or "all".
        """
        parameters = self._batch_with_targets(targets)
        q0 = self._starts_of_batch(q0, len(parameters))
        return BatchSearch(self.problem, parameters, q0, threads, self._free).run(*_whole(restarts=restarts, seed=seed))

    # -- one problem ----------------------------------------------------------------------------------------------

    def _with_targets(self, targets: Mapping[str, ArrayLike]) -> Array:
        parameters = self._parameters.copy()
        for name, target in targets.items():
            k = self._index(name)
            parameters[self.problem.target_slices[k]] = self.tasks[k].numbers_of(target)
        return parameters

    def _index(self, name: str) -> int:
        names = [task.name for task in self.tasks]
        if name not in names:
            raise one_of("task", name, names)
        return names.index(name)

    def _result(self, found: Found) -> IkResult:
        errors: dict[str, dict[str, float]] = {}
        state, at = found.state.tolist(), FIRST_ROW
        for task in self.tasks:
            errors[task.name] = {}
            for unit, count in task.measures:
                errors[task.name][unit] = hypot(*state[at : at + count])
                at += count
        q = self.problem.best(found.state).copy()
        touching = None if self._free is None or found.success else self._free.touching(q)
        return IkResult(q, found.success, errors, found.steps, found.starts, self._at_limits(q), touching)

    def _at_limits(self, q: Array) -> tuple[str, ...]:
        entries, lower, upper, names = self.problem.motion.limited
        x = q[entries]
        return tuple(compress(names, ((x <= lower) | (x >= upper)).tolist()))

    # -- many problems --------------------------------------------------------------------------------------------

    def _batch_with_targets(self, targets: Mapping[str, ArrayLike]) -> Array:
        given = _arrays(targets)
        counts = {name: len(values) for name, values in given.items()}
        if not counts or len(set(counts.values())) != 1:
            raise ShapeError("targets of a batch must be arrays of one length", evidence={"lengths": counts})
        out = np.tile(self._parameters, (next(iter(counts.values())), 1))
        for name, values in given.items():
            k = self._index(name)
            if len(values):
                out[:, self.problem.target_slices[k]] = self.tasks[k].batch_of_targets(values)
        return out

    def _starts_of_batch(self, q0: ArrayLike | None, n: int) -> Array:
        start, single = checked_postures(self.robot, self.robot.home if q0 is None else q0)
        if not single and len(start) != n:
            raise ShapeError(
                f"q0 has {len(start)} postures for {n} targets", next_step="give one posture, or one per target"
            )
        return np.array(np.broadcast_to(start, (n, self.robot.nq)))


def _arrays(targets: Mapping[str, ArrayLike]) -> dict[str, Array]:
    if not isinstance(targets, Mapping):
        raise ShapeError("targets of a batch must be arrays by task", next_step='give them as {"hand": T}')
    found = {}
    for name, values in targets.items():
        try:
            found[name] = np.array(values, dtype=float, ndmin=1)
        except (TypeError, ValueError, OverflowError) as error:
            raise ShapeError(
                f"targets of task `{name}` are not an array of numbers", evidence={"reason": error}
            ) from error
    return found


def _whole(**given: int) -> tuple[int, ...]:
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, _WHOLE) or value < 0:
            raise ShapeError(f"{name}={value!r}", next_step="give a whole number ≥ 0")
    return tuple(int(value) for value in given.values())


def _tolerances(given: Mapping[str, float] | None) -> Mapping[str, float]:
    if given is None:
        return TOLERANCES
    if not isinstance(given, Mapping):
        raise ShapeError("tolerances must be numbers by unit", next_step='give them as {"m": 1e-3, "rad": 1e-3}')
    for unit, value in given.items():
        if unit not in TOLERANCES:
            raise one_of("unit", unit, TOLERANCES)
        number(value, f"tolerance for `{unit}`", positive=True)
    return {**TOLERANCES, **given}


class _Key:
    """What a compiled solver depends on; equal for tasks of the same structure."""

    def __init__(self, robot: Robot, tasks: Sequence[Task], joints: Sequence[str] | None, limits: bool) -> None:
        self.robot, self.tasks, self.joints, self.limits = robot, tasks, joints, limits
        first = first_priority(tasks)
        structure = tuple([(task.priority == first, task.structure) for task in tasks])
        self.key = (id(robot), structure, None if joints is None else tuple(joints), limits)

    def __hash__(self) -> int:
        return hash(self.key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Key) and self.key == other.key


class _Compiled:
    """Kernel and work arrays for one structure of tasks."""

    def __init__(self, key: _Key) -> None:
        self.problem = PositionProblem(free_motion(key.robot, key.joints, key.limits), key.tasks)
        self.work = WorkArrays(self.problem)


@lru_cache(maxsize=32)
def _compiled(key: _Key) -> _Compiled:
    return _Compiled(key)
