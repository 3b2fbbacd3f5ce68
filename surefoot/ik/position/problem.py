"""`PositionProblem`: the iteration of position-level inverse kinematics as one compiled kernel.

One run of the kernel is one damped step (`damped_step`) of one configuration; the loop over steps is native, too, and
ends when the tasks hold. What changes from problem to problem (targets, weights, margins, tolerances) are arguments.

One step of damped least squares inside joint limits, branch-free over `ops`.

    (J F Jᵀ + λ I) y = r + J F z,    u = F (Jᵀ y − z),    λ = s ½ rᵀr + c |r| + λ₀        [ik.damped]

r are the weighted errors that are left, J their Jacobian. The damping λ falls with the squared error (Sugihara 2011):
large steps far from the target do not run away, and the last ones are those of Newton. Where no solution exists, errors
stay, and with them what Gauss and Newton leave out of the second derivative, of the size of |r|: caution c makes up for
it (c = 0 where a solution is looked for). z is the gradient of what is
wanted besides; it acts in the null space (Liégeois 1977, in the form without pseudoinverse: Buschmann 2014, Alg. 10
with erratum). F takes out the joints that stand at a limit and would go on: projected Newton steps (Bertsekas 1982).

Where a search begins anew when it has got stuck.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array as Numbers
from surefoot.codegen import Kernel
from surefoot.codegen.repeated import Repeated
from surefoot.compiler import compile_robot
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.position.free_motion import FreeMotion
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.tasks import Task, limited_error

DAMPING = (0.05, 1e-8)
"""Factor s of the squared error, and the damping λ₀ that stays."""
_AT_LIMIT = 1e-9  # [rad] or [m]


def damped_step(r: Array, J: Array, free: Array, z: Array | None = None, caution: Any = 0.0) -> Array:
    """The step u (k,).

    Args:
        r: (m,) weighted errors.
        J: (m, k) weighted Jacobian.
        free: (k,) 1 for what may move, 0 for what stands at a limit.
        z: (k,) gradient of what is wanted besides.
        caution: c, for what has no solution.
    """
    square = r @ r
    damping = DAMPING[0] * 0.5 * square + caution * ops.sqrt(square) + DAMPING[1]
    JF = J * free
    right = r if z is None else r + JF @ z
    u = _dual(J, JF, right, damping) if len(r) <= J.shape[1] else _primal(JF, right, damping)
    return u if z is None else u - free * z


def _dual(J: Array, JF: Array, right: Array, damping: Any) -> Array:
    A = _lower(JF, J)
    for k in range(len(A)):
        A[k, k] = A[k, k] + damping
    return JF.T @ ops.solve_symmetric(A, right)


def _primal(JF: Array, right: Array, damping: Any) -> Array:
    A = _lower(JF.T, JF.T)
    for k in range(len(A)):
        A[k, k] = A[k, k] + damping
    return ops.solve_symmetric(A, JF.T @ right)


def _lower(X: Array, Y: Array) -> Array:
    """X Yᵀ of which only the lower triangle is computed, as symmetric matrices need; all of it for numbers."""
    if not ops.is_symbolic(X, Y):
        return X @ Y.T
    out = ops.zeros((len(X), len(X)), like=X)
    for i in range(len(X)):
        for j in range(i + 1):
            out[i, j] = X[i] @ Y[j]
    return out


def free_columns(q: Array, lower: Array, upper: Array, descent: Array) -> Array:
    """1 for joints that may follow a direction (k,), 0 for those at the limit that it leads beyond.

    Args:
        q: (k,) positions.
        lower: (k,) limits, −inf for none.
        upper: (k,) limits, inf for none.
        descent: (k,) direction of steepest descent.
    """
    out = []
    for x, low, high, go in zip(q, lower, upper, descent, strict=True):
        free: Any = 1.0
        if np.isfinite(low):
            free = ops.where(x < low + _AT_LIMIT, ops.where(go < 0.0, 0.0, 1.0), free)
        if np.isfinite(high):
            free = ops.where(x > high - _AT_LIMIT, ops.where(go > 0.0, 0.0, free), free)
        out.append(free)
    return ops.array(out)


def steepest_descent(r: Array, J: Array) -> Array:
    """The gradient z (k,): minus the step along it that minimises ½|r − J u|².   Cauchy 1847.

    Args:
        r: (m,) weighted errors.
        J: (m, k) weighted Jacobian.
    """
    g = J.T @ r
    along = J @ g
    return -((g @ g) / ((along @ along) + 1e-12)) * g


_NEAR = 0.4  # share of its range by which a joint of a robot that stands is moved
_UNBOUNDED = np.pi  # [rad] or [m]: by how much a joint without limits is moved
_BASE = 0.05  # [m] and [rad]: by how much a base that floats is moved


@dataclass(eq=False)
class Starts:
    """Random configurations: all over the limits for a robot with a fixed base, around q0 for one that stands.

    Args:
        motion: What may move, and its limits.
    """

    motion: FreeMotion
    _middle: Array = field(init=False, repr=False)
    _half: Array = field(init=False, repr=False)
    _steps: Array = field(init=False, repr=False)
    _kernel: Kernel = field(init=False, repr=False)

    def __post_init__(self) -> None:
        motion, robot = self.motion, self.motion.robot
        low, high = motion.lower, motion.upper
        bounded = (motion.entry >= 0) & np.isfinite(low) & np.isfinite(high)
        range_of = np.where(bounded, high, 0.0) - np.where(bounded, low, 0.0)
        anywhere = bounded & (robot.base == "fixed")
        self._middle = np.where(anywhere, 0.5 * (np.where(bounded, high, 0.0) + np.where(bounded, low, 0.0)), 0.0)
        self._half = np.where(anywhere, 0.5 * range_of, 0.0)
        base = np.isin(np.argmax(np.abs(motion.S), axis=0), robot.base_rows)
        near = np.where(bounded, _NEAR * range_of, _UNBOUNDED)
        self._steps = np.where(anywhere, 0.0, np.where(base, _BASE, near))
        shapes = {"u": (motion.S.shape[1],)}
        self._kernel = compile_robot(robot, functions={"moved": (motion.moved, shapes)}).moved

    def draw(self, q0: Array, count: int, rng: np.random.Generator) -> Array:
        """Configurations (count, nq).

        Args:
            q0: (nq,) or (count, nq) where the search began.
            count: How many.
            rng: Source of randomness.
        """
        draw = rng.uniform(-1.0, 1.0, (count, len(self._steps)))
        starts = np.empty((count, self.motion.robot.nq))
        starts[:] = q0
        anywhere = self._half > 0.0
        if anywhere.any():
            starts[:, self.motion.entry[anywhere]] = (self._middle + self._half * draw)[:, anywhere]
        found: Array = self._kernel(starts, self._steps * draw)
        return found


_SETTLED = 1e-3  # largest entry of a step with which tasks of lower priority count as done
WISH_STEPS = 32
"""Steps in which lower priorities count, less and less: the last steps belong to what must hold."""
_PATIENCE = 100.0  # squared errors over their tolerances with which steps for lower priorities are half as long
_LONGEST = 0.4  # [rad] or [m]: of a step towards what is wanted besides
Given = Mapping[tuple[int, str], Array]
DONE, STEPS, MISS, CAUTION, FIRST_ROW = 0, 1, 2, 3, 4
"""Entries of the state of a solve: 1 if it has ended, steps so far, largest error over its tolerance, squared, c of
`damped_step`, then what is left of every row, and then the configuration that has these errors: the best so far."""


class PositionProblem:
    """A robot, the structure of its tasks, and the kernel for both.

    Tasks of the highest priority must hold; the others are pursued in their null space.

    Args:
        motion: What may move.
        tasks: The tasks.
    """

    def __init__(self, motion: FreeMotion, tasks: Sequence[Task]) -> None:
        for task in tasks:
            if task.order != 0:
                raise NotSupportedError(
                    f"task `{task.name}` asks for a velocity or an acceleration, which a position cannot have",
                    next_step="omit it, or use ik.Stepper",
                )
        self.motion, self.tasks = motion, tuple(tasks)
        first = first_priority(tasks)
        self.must = [task.priority == first for task in tasks]
        self.rows = sum(task.rows for task in tasks)
        self.layout = _layout(self.tasks)
        self.size = sum(count for *_, count in self.layout)
        shapes = {"parameters": (self.size,), "state": (self.state_size,)}
        self._kernels = compile_robot(motion.robot, functions={"ik_step": (self._step, shapes)})
        self.loop = Repeated(self._kernels.ik_step, feedback={"q": 0, "state": 1})
        self.starts = Starts(motion)
        self._last_scaling: tuple[Any, Numbers] = None, np.zeros(0)

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.motion.robot

    @property
    def state_size(self) -> int:
        """Entries of a state."""
        return FIRST_ROW + self.rows + self.robot.nq

    def fresh(self, *shape: int, before: int = 0, caution: float = 0.0) -> Numbers:
        """States (…, state_size) of searches that begin.

        Args:
            *shape: How many.
            before: Steps that count as done; from `WISH_STEPS` on, lower priorities do not count.
            caution: c of `damped_step`.
        """
        state = np.zeros((*shape, self.state_size))
        state[..., STEPS], state[..., MISS], state[..., CAUTION] = before, np.inf, caution
        return state

    def best(self, state: Numbers) -> Numbers:
        """Configurations (…, nq) of states.

        Args:
            state: (…, state_size).
        """
        return state[..., FIRST_ROW + self.rows :]

    @property
    def has_wishes(self) -> bool:
        """Whether there are tasks of lower priority."""
        return not all(self.must)

    def parameters(self, tasks: Sequence[Task], tolerances: Mapping[str, float]) -> Numbers:
        """The run-time numbers of tasks that have the structure of this problem (size,).

        Args:
            tasks: The tasks.
            tolerances: Largest error by unit.
        """
        out = self._scaling(tasks, tolerances).copy()
        for task, part in zip(tasks, self.target_slices, strict=True):
            out[part] = task.numbers
        return out

    def _scaling(self, tasks: Sequence[Task], tolerances: Mapping[str, float]) -> Numbers:
        """The same with no targets; kept, as from call to call it is mostly the targets that change."""
        key, kept = self._last_scaling
        now = [task.allowances for task in tasks], tolerances
        if now == key:
            return kept
        parts: list[Any] = []
        largest = {must: _largest_weight(tasks, self.must, must) for must in (True, False)}
        for task, must in zip(tasks, self.must, strict=True):
            parts += [np.zeros(task.target_size), np.sqrt(task.weights / largest[must])]
            if not task.is_equation:
                parts += [np.minimum(side, 1e30) for side in task.margins]
            parts.append(_scales(task, tolerances))
        found = np.concatenate(parts)
        self._last_scaling = (now[0], dict(tolerances)), found
        return found

    @cached_property
    def target_slices(self) -> list[slice]:
        """Where the target of each task is among the parameters."""
        starts = np.cumsum([0, *(count for *_, count in self.layout)])
        at = [i for i, (_, what, _) in enumerate(self.layout) if what == "target"]
        return [slice(int(starts[i]), int(starts[i + 1])) for i in at]

    # -- the kernel -----------------------------------------------------------------------------------------------

    def _step(self, robot: Robot, q: Array, parameters: Array, state: Array) -> tuple[Array, Array]:
        given = _split(self.layout, parameters)
        q = self.motion.inside(q)
        errors = [task.error(robot, q, given[k, "target"]) for k, task in enumerate(self.tasks)]
        left = [self._left(k, error, given) for k, error in enumerate(errors)]
        miss = _largest(
            [x for k in self._numbers(must=True) for x in _misses(self.tasks[k], left[k], given[k, "scale"])]
        )
        held = ops.less(miss, 1.0)
        leisure = ops.maximum(1.0 - state[STEPS] / WISH_STEPS, 0.0) * (_PATIENCE / (_PATIENCE + miss))
        u = self._damped(q, errors, left, given, leisure, state[CAUTION])
        done = ops.where(held, 1.0, 0.0) if not self.has_wishes else _settled(held, u)
        done = ops.maximum(done, state[DONE])
        steps = state[STEPS] + ops.where(ops.less(0.5, done), 0.0, 1.0)
        new = ops.concatenate([ops.array([miss]), ops.array([state[CAUTION]]), *left, q])
        better = ops.where(held, 1.0, ops.where(ops.less(miss, state[MISS]), 1.0, 0.0))
        kept = ops.where(ops.less(0.5, better), new, state[MISS:])
        return self.motion.moved(q, u), ops.concatenate([ops.array([done, steps]), kept])

    def _left(self, k: int, error: Array, given: Given) -> Array:
        """The remaining error of a task."""
        return error if self.tasks[k].is_equation else limited_error(error, given[k, "below"], given[k, "above"])

    def _damped(
        self, q: Array, errors: Sequence[Array], left: Sequence[Array], given: Given, leisure: Any, caution: Any
    ) -> Array:
        """The step u (k,); what is wanted besides counts as far as there is leisure for it."""
        J = [self.tasks[k].jacobian(self.robot, q, given[k, "target"]) @ self.motion.S for k in range(len(self.tasks))]
        wishes = []
        for k in self._numbers(must=False):
            weight = self._active(k, left[k], given)
            wishes.append((weight * left[k], J[k] * weight[:, None]))
        must = self._numbers(must=True)
        r, stacked = _stacked([self._held_rows(k, errors[k], J[k], None, given) for k in must])
        z = leisure * _shortened(steepest_descent(*_stacked(wishes))) if wishes else None
        descent = stacked.T @ r if z is None else stacked.T @ r - z
        free = free_columns(self.motion.positions(q), self.motion.lower, self.motion.upper, descent)
        u = damped_step(r, stacked, free, z, caution)
        if z is None:
            return u
        r, stacked = _stacked([self._held_rows(k, errors[k], J[k], u, given) for k in must])
        fixed, inside = self._ends(q, u)
        return fixed + damped_step(r - stacked @ fixed, stacked, free * inside, z, caution)

    def _ends(self, q: Array, u: Array) -> tuple[Array, Array]:
        """Way to the limit (k,) of joints that a step would take beyond it, else 0; and 1 for the others (k,)."""
        x, low, high = self.motion.positions(q), self.motion.lower, self.motion.upper
        ends, inside = [], []
        for k, bounded in enumerate(self.motion.entry >= 0):
            end = ops.minimum(ops.maximum(x[k] + u[k], low[k]), high[k]) - x[k] if bounded else u[k]
            inside.append(ops.where(ops.absolute(end - u[k]) > 0.0, 0.0, 1.0) if bounded else 1.0)
            ends.append((1.0 - inside[k]) * end)
        return ops.array(ends), ops.array(inside)

    def _numbers(self, must: bool) -> list[int]:
        return [k for k, needed in enumerate(self.must) if needed == must]

    def _active(self, k: int, left: Array, given: Given) -> Array:
        """Weights of the rows; those of inequalities that hold are zero."""
        weight = given[k, "weight"]
        return weight if self.tasks[k].is_equation else ops.where(ops.less(0.0, ops.absolute(left)), weight, 0.0)

    def _held_rows(self, k: int, error: Array, J: Array, u: Array | None, given: Given) -> tuple[Array, Array]:
        """Errors and Jacobian of a task that must hold, with weights.

        An inequality takes part if it is violated, or would be after the step u: then it goes to its end.
        """
        weight = given[k, "weight"]
        if self.tasks[k].is_equation:
            return weight * error, J * weight[:, None]
        below, above = given[k, "below"], given[k, "above"]
        after = error if u is None else error - J @ u
        low, high = ops.less(below, ops.maximum(error, after)), ops.less(ops.minimum(error, after), -above)
        to_end = ops.where(low, error - below, ops.where(high, error + above, 0.0))
        active = ops.where(low, weight, ops.where(high, weight, 0.0))
        return active * to_end, J * active[:, None]


def _largest_weight(tasks: Sequence[Task], must: Sequence[bool], which: bool) -> float:
    """Of the tasks that must hold, or of the others: a common factor of their weights has no meaning."""
    found = [task.weights.max(initial=0.0) for task, needed in zip(tasks, must, strict=True) if needed == which]
    return max(found, default=0.0) or 1.0


def _scales(task: Task, tolerances: Mapping[str, float]) -> list[float]:
    """1 / tolerance² of each measure of a task; 0 where its rows have no weight."""
    found, start = [], 0
    for unit, count in task.measures:
        part = task.weights[start : start + count]
        if part.any() and not part.all():
            raise ShapeError(
                f"some rows of task `{task.name}` have weight 0, so that they cannot hold",
                evidence={"weight": task.weights.tolist()},
                next_step="omit rows by a mask, or give them a margin",
            )
        found.append(1.0 / tolerances[unit] ** 2 if part.any() else 0.0)
        start += count
    return found


def _stacked(parts: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    return ops.concatenate([r for r, _ in parts]), ops.concatenate([J for _, J in parts])


def _shortened(z: Array) -> Array:
    """The step with no entry above `_LONGEST`."""
    largest: Any = _LONGEST
    for entry in z:
        largest = ops.maximum(largest, ops.absolute(entry))
    return (_LONGEST / largest) * z


def _settled(held: Any, u: Array) -> Any:
    """1 if the tasks hold and the step is small."""
    largest: Any = 0.0
    for entry in u:
        largest = ops.maximum(largest, ops.absolute(entry))
    return ops.where(held, ops.where(largest < _SETTLED, 1.0, 0.0), 0.0)


def _misses(task: Task, error: Array, scale: Array) -> list[Any]:
    """The squared errors of a task over their tolerances, one for each measure."""
    found, start = [], 0
    for (_, count), factor in zip(task.measures, scale, strict=True):
        part = error[start : start + count]
        found.append(factor * (part @ part))
        start += count
    return found


def _largest(misses: Sequence[Any]) -> Any:
    """The largest; infinite if one is NaN, which comparisons alone would miss."""
    largest: Any = 0.0
    total: Any = 0.0
    for miss in misses:
        largest, total = ops.maximum(largest, miss), total + miss
    return ops.where(ops.less(total, np.inf), largest, np.inf)


def _layout(tasks: Sequence[Task]) -> list[tuple[int, str, int]]:
    """Task, name and size of each part of the parameters, in order."""
    out = []
    for k, task in enumerate(tasks):
        out += [(k, "target", task.target_size), (k, "weight", task.rows)]
        if not task.is_equation:
            out += [(k, "below", task.rows), (k, "above", task.rows)]
        out.append((k, "scale", len(task.measures)))
    return out


def _split(layout: Sequence[tuple[int, str, int]], parameters: Array) -> dict[tuple[int, str], Array]:
    found, start = {}, 0
    for k, what, count in layout:
        found[k, what] = parameters[start : start + count]
        start += count
    return found


def first_priority(tasks: Sequence[Task]) -> int:
    """The priority of what must hold: the first of the tasks that are not off, or of all if all are."""
    on = [task.priority for task in tasks if task.activation > 0.0]
    return min(on or [task.priority for task in tasks])
