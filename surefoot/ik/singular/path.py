"""`follow_consistently`: a path that is followed through singular postures with bounded joint rates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.singular.consistent import attainable_motion, consistent_motion
from surefoot.ik.textbook import RANK, truncated_inverse

_LANDED = 1e-12  # of the error of the path, in its units
_MOST_CORRECTIONS = 20
_AHEAD = 1e-3  # how far a first look goes along the branch


@dataclass(frozen=True, eq=False)
class PathProblem:
    """An arm and the path that its task shall follow.

    Args:
        error: error(q, s) (m,): the point of the path at s, minus the task at q.
        jacobian: jacobian(q) (m, n): the task's rate is J q'.
        direction: direction(s) (m,): rate of the path's point for s' = 1.
    """

    error: Callable[[Array, float], Array]
    jacobian: Callable[[Array], Array]
    direction: Callable[[float], Array]


@dataclass(frozen=True, eq=False)
class ConsistentMotion:
    """A motion along a path.

    Args:
        t: (k,) times [s].
        q: (k, n) joint positions.
        s: (k,) path parameter.
        rates: (k, n) joint rates [rad/s].
        speed: (k,) s' [1/s]; negative where the path is run backwards.
        error: (k,) length of the path error.
    """

    t: Array
    q: Array
    s: Array
    rates: Array
    speed: Array
    error: Array


def follow_consistently(
    problem: PathProblem,
    q0: ArrayLike,
    s: float,
    speed: float,
    duration: float,
    dt: float,
    rate_limit: float,
    slowest: float = 0.1,
    span: tuple[float, float] = (-np.inf, np.inf),
) -> ConsistentMotion:
    """Follow a path at s' = ±speed where the joints can, slower near singular postures, and through them.

    The tangent (q', s') of the curve of arm and path is continued from the one before (`path_tangent`), which is the
    singularity-consistent inverse with a b that keeps its sign. So where the path leaves the reach of the arm, the tip
    comes to its end, the joints pass the singular posture, and the tip goes back on the other branch (the elbow has
    changed its side). A path that lies along what the arm can still do is followed on. Every step ends on the path, by
    Newton's method for arm and path together.

    Args:
        problem: The arm and the path.
        q0: (n,) joint positions that are on the path at s.
        s: Path parameter at the start.
        speed: s' where nothing bounds it; its sign is the direction in which the motion begins.
        duration: How long [s].
        dt: Step [s].
        rate_limit: Largest joint rate [rad/s].
        slowest: Share of s' in the unit tangent below which s' is let go with the determinant.
        span: The motion ends where s leaves this interval.

    Raises:
        NotSupportedError: A step does not come back to the path.
        ShapeError: The start is not on the path.
    """
    q = finite_array(q0, (None,), "joint positions")
    number(abs(speed), "speed along the path", positive=True)
    dt, limit = number(dt, "step", positive=True), number(rate_limit, "largest joint rate", positive=True)
    state, miss = _onto_path(problem, np.append(q, float(s)))
    if not np.abs(state[:-1] - q).max() <= limit * dt:
        raise ShapeError("the motion does not start on its path", evidence={"joints moved by": state[:-1] - q})
    tangent = _first_tangent(problem, state, speed)
    rows = []
    for k in range(int(np.ceil(number(duration, "duration") / dt)) + 1):
        tangent = _tangent(problem, state, tangent, slowest)
        rate = _timed(tangent, abs(speed), limit, slowest)
        rows.append((k * dt, *state, *rate, miss))
        middle = _tangent(problem, state + 0.5 * dt * rate, tangent, slowest)
        before = state
        state, miss = _onto_path(problem, state + dt * _timed(middle, abs(speed), limit, slowest))
        tangent = _unit(state - before)  # of the branch itself, also where branches meet
        if not span[0] <= state[-1] <= span[1]:
            break
    return _motion(np.array(rows), len(q))


def path_tangent(J: ArrayLike, direction: ArrayLike, previous: ArrayLike, slowest: float = 0.1) -> Array:
    """Unit tangent (n + 1,) of arm and path: the (θ', s') in the null space of [J, −Ŝ] that goes on from `previous`.

    Where the null space has one dimension this is ±[adj(J) Ŝ; det J]. A redundant arm takes the one of least joint
    rates, and near singular postures, where that one turns quickly, goes straight on. Where [J, −Ŝ] itself loses rank
    (Ŝ attainable at a singular posture) branches meet, and the motion stays on its own.

    Args:
        J: (m, n), n ≥ m.
        direction: Ŝ (m,).
        previous: (n + 1,) the unit tangent before.
        slowest: Share of s' in the unit tangent from which least joint rates count in full.
    """
    J = finite_array(J, (None, None), "J")
    m, n = J.shape
    both = np.column_stack([J, -finite_array(direction, (m,), "direction of the path")])
    before = finite_array(previous, (n + 1,), "tangent before")
    _, sizes, Vt = np.linalg.svd(both)
    kept = int(np.sum(sizes > np.sqrt(RANK) * sizes[0]))
    null = Vt[kept:]
    onward = null.T @ (null @ before)
    along = null.T @ null[:, -1]  # the unit rate of s, without what moves arm and path apart
    share = float(np.linalg.norm(along))
    if kept == m and share > 0.0:
        weight = min(share / slowest, 1.0) ** 2
        sign = 1.0 if along @ before >= 0.0 else -1.0
        onward = weight * sign * along / share + (1.0 - weight) * onward
    return _unit(onward if np.linalg.norm(onward) > RANK else along)


def _tangent(problem: PathProblem, state: Array, previous: Array, slowest: float) -> Array:
    J, S = problem.jacobian(state[:-1]), problem.direction(float(state[-1]))
    return path_tangent(J, S, previous, slowest)


def _first_tangent(problem: PathProblem, state: Array, speed: float) -> Array:
    """[adj(J) Ŝ; det J] of unit length, turned so that s goes the wanted way; any null vector where that is zero."""
    J, S = problem.jacobian(state[:-1]), problem.direction(float(state[-1]))
    motion = consistent_motion(J, S)
    out = np.append(motion.rates, motion.speed)
    if np.linalg.norm(out) <= RANK * max(1.0, float(np.linalg.norm(J))) ** J.shape[0]:
        out = np.append(attainable_motion(J, S)[0].rates, 1.0)
    forward = np.sign(speed) * (1.0 if out[-1] >= 0.0 else -1.0)
    ahead, _ = _onto_path(problem, state + _AHEAD * forward * _unit(out))
    return _unit(ahead - state)


def _unit(vector: Array) -> Array:
    return vector / np.linalg.norm(vector)


def _timed(tangent: Array, speed: float, limit: float, slowest: float) -> Array:
    """(θ', s'): the unit tangent, as fast as the path shall go and the joints can."""
    largest = float(np.abs(tangent[:-1]).max())
    pace = speed / max(abs(tangent[-1]), slowest)
    return tangent * min(pace, limit / largest if largest > 0.0 else np.inf)


def _onto_path(problem: PathProblem, state: Array) -> tuple[Array, float]:
    """The nearby joints and parameter with no path error, and the error that is left."""
    miss = np.inf
    for _ in range(_MOST_CORRECTIONS):
        q, s = state[:-1], float(state[-1])
        error = problem.error(q, s)
        last, miss = miss, float(np.linalg.norm(error))
        if miss <= _LANDED or (miss <= 1e3 * _LANDED and miss >= last):
            return state, miss
        both = np.column_stack([problem.jacobian(q), -problem.direction(s)])
        state = state + truncated_inverse(both, np.sqrt(RANK)) @ error
    raise NotSupportedError(
        "the motion does not come back to its path",
        evidence={"error": miss, "s": float(state[-1])},
        next_step="take shorter steps, or a path that is smooth here",
    )


def _motion(rows: Array, n: int) -> ConsistentMotion:
    t, q, s, rates, speed, error = np.split(rows, np.cumsum([1, n, 1, n, 1]), axis=1)
    return ConsistentMotion(t[:, 0], q, s[:, 0], rates, speed[:, 0], error[:, 0])
