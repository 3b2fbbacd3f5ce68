"""Conjugate gradients in the space of inputs.   Lasdon, Mitter & Waren 1967; Buschmann 2014, Alg. 11."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.ik.predictive.horizon import HorizonProblem, Trials

_COARSE = 3.0 ** np.arange(-5.0, 3.0)  # eight sizes fill the lanes of the CPU
_FINE = 3.0 ** (np.array([-4.0, -3.0, -2.0, -1.0, 1.0, 2.0, 3.0, 4.0]) / 5.0)
_SHRINK = 3.0**-8
_ORTHOGONAL = 0.2  # Powell 1977, (4.1)
_ROUNDS = 3  # with ever smaller sizes, until one is better than none


@dataclass(frozen=True)
class DescentSettings:
    """How far to go, and how.

    Args:
        iterations: At most so many steps.
        tolerance: Stop when the cost falls by less than this share of itself.
        method: "conjugate" (Fletcher & Reeves 1964, with the restarts of Powell 1977) or "steepest".
        refine: Search the size of a step in a second round, between the sizes of the first one.
    """

    iterations: int = 1
    tolerance: float = 1e-6
    method: Literal["conjugate", "steepest"] = "conjugate"
    refine: bool = False

    def __post_init__(self) -> None:
        if self.method not in ("conjugate", "steepest"):
            raise NotSupportedError(f"method `{self.method}` is not known", next_step='use "conjugate" or "steepest"')
        if not isinstance(self.iterations, int) or self.iterations < 1 or not self.tolerance >= 0.0:
            raise ShapeError(
                "a descent needs at least one iteration and a tolerance that is not negative",
                evidence={"iterations": self.iterations, "tolerance": self.tolerance},
            )


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Args:
        x: (rows, n) the unknowns.
        postures: (N + 1, n) that belong to them.
        costs: (steps + 1,) the cost at the start and after every step that was taken.
        size: The size of the last step, a good guess for the next descent.
    """

    x: Array
    postures: Array
    costs: Array
    size: float


@dataclass(frozen=True, eq=False)
class _Point:
    x: Array
    postures: Array
    cost: float


def descend(problem: HorizonProblem, x: Array, settings: DescentSettings, size: float) -> Descent:
    """Make the cost smaller, by conjugate gradients.   [ik.predictive-descent].

        s = −g + β s,  β = ⟨g, g⟩ / ⟨g, g⟩_before,  x ← x + α s        Buschmann 2014, Alg. 11

    (errata: it stops when the *amount* of the relative change is small, and when no step lowers the cost the unknowns
    stay as they were.) Where s does not lead downhill, or successive gradients are far from orthogonal, it is −g again.

    Args:
        problem: Cost and gradient.
        x: (rows, n) where to start.
        settings: How far to go.
        size: Guess for the size α of the first step.

    Raises:
        ShapeError: The cost at the start is not finite: the motion meets a singularity.
    """
    at = _start(problem, x)
    costs, direction, before = [at.cost], np.zeros_like(x), np.zeros_like(x)
    for _ in range(settings.iterations):
        gradient = problem.gradient(at.x, at.postures)
        kept = _kept(problem, gradient, before) if settings.method == "conjugate" else 0.0
        direction, before = -gradient + kept * direction, gradient
        if problem.inner(gradient, direction) >= 0.0:
            direction = -gradient
        found, alpha = _search(problem, at, direction, size, settings.refine)
        if found is None:
            break
        at, size = found, alpha
        costs.append(at.cost)
        if abs(costs[-2] - costs[-1]) <= settings.tolerance * abs(costs[-2]):
            break
    return Descent(at.x, at.postures, np.array(costs), size)


def _kept(problem: HorizonProblem, gradient: Array, before: Array) -> float:
    """β: how much of the last direction is kept; nothing where the gradients are far from orthogonal."""
    square = problem.inner(gradient, gradient)
    if abs(problem.inner(gradient, before)) >= _ORTHOGONAL * square:
        return 0.0
    last = problem.inner(before, before)
    return square / last if last > 0.0 else 0.0


def _start(problem: HorizonProblem, x: Array) -> _Point:
    trial = problem.try_sizes(x, np.zeros_like(x), np.zeros(1))
    if not np.isfinite(trial.costs[0]):
        raise ShapeError(
            "the motion on the horizon is not finite",
            evidence={"start": problem.window.q.tolist()},
            next_step="start away from a singular posture, or give a larger damping",
        )
    return _Point(x, trial.postures[0], float(trial.costs[0]))


def _search(
    problem: HorizonProblem, at: _Point, direction: Array, size: float, refine: bool
) -> tuple[_Point | None, float]:
    """The best of several sizes of a step; None where none of them is better than no step."""
    for _ in range(_ROUNDS):
        sizes = size * _COARSE
        trials = problem.try_sizes(at.x, direction, sizes)
        best = int(np.argmin(trials.costs))
        if trials.costs[best] < at.cost:
            break
        size *= _SHRINK
    else:
        return None, size
    if refine:
        more = sizes[best] * _FINE
        finer = problem.try_sizes(at.x, direction, more)
        sizes, trials = np.append(more, sizes[best]), _joined(finer, trials, best)
        best = int(np.argmin(trials.costs))
    x = problem.settled(at.x + sizes[best] * direction)
    return _Point(x, trials.postures[best], float(trials.costs[best])), float(sizes[best])


def _joined(trials: Trials, others: Trials, k: int) -> Trials:
    """Trials, and one of others behind them."""
    costs = np.append(trials.costs, others.costs[k])
    return Trials(costs, np.concatenate([trials.postures, others.postures[k : k + 1]]))
