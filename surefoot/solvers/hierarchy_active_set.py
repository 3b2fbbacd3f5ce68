"""Which inequalities of a hierarchy bind: a primal active-set method over all levels at once.

A row or bound is idle, or it binds at one of its ends; then it is an equation of its level, and the equations of all
levels are solved by one pass of `hierarchy_cascade`. The found set is optimal when no idle one is broken and when no
binding one pulls the wrong way: of its multipliers, taken from the first level on, the first that is not zero must
push into the allowed side (Escande, Mansard and Wieber 2014, sections 2.2 and 4). As long as that is not so,
one leaves or enters the set, and every step is downhill in the order of the levels. What leaves and comes back at once
is held by a level whose multiplier is lost in rounding; it stays until there is a step.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.solvers.hierarchy_cascade import Cascade, multipliers_of_level, multipliers_of_norm, run_cascade
from surefoot.solvers.hierarchy_problem import StackedHierarchy

__all__ = ["ActiveSetError", "Optimum", "Tolerances", "find_optimum", "level_multipliers", "rank_thresholds"]

Numbers = NDArray[np.float64]
Sides = NDArray[np.int8]
_PATIENCE = 20
"""Steps of length zero before the choice follows Bland's rule, which cannot cycle."""

_NOISE = 1e-13
"""Rounding of the multipliers, relative to the numbers at hand."""


class ActiveSetError(SurefootError):
    """The search for the binding inequalities did not end."""

    exit_code = 1


@dataclass(frozen=True)
class Tolerances:
    """What counts as zero.

    Args:
        rank: A pivot relative to the longest row of its level.
        feasible: How far an idle row may lie outside, relative to the numbers at hand.
        dual: Multipliers of the wrong sign up to this share of the largest of their level are left alone.
    """

    rank: float = 1e-10
    feasible: float = 1e-12
    dual: float = 1e-10


class _Pass(NamedTuple):
    """One pass: which rows and bounds were equations, and what came out."""

    x: Numbers
    values: Numbers
    cascade: Cascade
    active: NDArray[np.intp]
    fixed: NDArray[np.intp]
    target: Numbers
    """(rows + n,) the end at which each would bind"""


class Optimum(NamedTuple):
    """The optimum of a hierarchy.

    Args:
        x: (n,).
        values: (rows + n,) A x and x.
        sides: (rows + n,) +1 where the upper end binds (or an equation), −1 where the lower one does, 0 idle.
        passes: Number of passes.
        last: The last pass.
        problem: The hierarchy that was solved, with rows that damp if there are any.
        kept: Where rows and bounds are in that hierarchy, if rows were added to it.
    """

    x: Numbers
    values: Numbers
    sides: Sides
    passes: int
    last: _Pass
    problem: StackedHierarchy
    kept: NDArray[np.intp] | None = None

    @property
    def damped(self) -> int:
        """Number of directions that were damped."""
        return len(self.problem.lower) - len(self.values)


def find_optimum(problem: StackedHierarchy, guess: Sides | None, start: Numbers | None, tol: Tolerances) -> Optimum:
    """Solve a hierarchy.

    Args:
        problem: The hierarchy.
        guess: (rows + n,) which are expected to bind, from a similar problem; None if nothing is known.
        start: (n,) a point to start from if the guess is wrong.
        tol: What counts as zero.

    Raises:
        ActiveSetError: The search did not end.
    """
    equal = problem.lower == problem.upper
    sides = _usable(problem, equal, guess)
    thresholds = rank_thresholds(problem, tol)
    found = _solve_equations(problem, sides, thresholds)
    locked = equal.copy()
    x, left, idle, limit = None, -1, 0, 100 + 10 * len(sides)
    for count in range(1, limit):
        margin = tol.feasible * max(1.0, float(np.abs(found.values).max(initial=0.0)))
        if _inside(problem, found.values, sides, margin):
            x = found.x
            left = _wrong_side(problem, found, sides, locked, tol, idle > _PATIENCE)
            if left < 0:
                return Optimum(found.x, found.values, sides, count, found, problem)
            sides[left] = _after(sides[left], found.values[left], problem.lower[left], problem.upper[left])
        elif x is None:
            x = _start(problem, sides, start)
        else:
            x, step, entered = _advance(problem, x, found, sides, margin, idle > _PATIENCE)
            idle = idle + 1 if step <= 0.0 else 0
            if step > 0.0:
                locked = equal.copy()
            elif entered == left:
                locked[left] = True
        found = _solve_equations(problem, sides, thresholds)
    raise ActiveSetError(
        "the search for the binding inequalities of a hierarchy did not end",
        evidence={"passes": limit, "rows": problem.rows, "unknowns": problem.unknowns},
        next_step="scale the rows alike; nearly dependent rows decide by rounding",
    )


def _usable(problem: StackedHierarchy, equal: NDArray[np.bool_], guess: Sides | None) -> Sides:
    """The guess without sides that have no end; equations always bind."""
    if guess is None:
        return equal.astype(np.int8)
    sides = guess.copy()
    sides[(sides > 0) & (problem.upper == np.inf)] = 0
    sides[(sides < 0) & (problem.lower == -np.inf)] = 0
    sides[equal] = 1
    return sides


def rank_thresholds(problem: StackedHierarchy, tol: Tolerances) -> list[float]:
    """The largest pivot that counts as zero, for each level.

    Args:
        problem: The hierarchy.
        tol: What counts as zero.
    """
    lengths = np.einsum("ij,ij->i", problem.A, problem.A)
    ends = problem.starts
    return [tol.rank * float(lengths[a:b].max(initial=0.0)) ** 0.5 for a, b in zip(ends, ends[1:], strict=False)]


def _solve_equations(problem: StackedHierarchy, sides: Sides, thresholds: list[float]) -> _Pass:
    """The hierarchy in which what binds is an equation and nothing else counts."""
    A, rows = problem.A, problem.rows
    target = np.where(sides > 0, problem.upper, problem.lower)
    active, fixed = sides[:rows].nonzero()[0], sides[rows:].nonzero()[0]
    everything = len(active) == rows
    block = A if everything else A[active]
    starts = problem.starts if everything else np.searchsorted(active, problem.starts).tolist()
    wanted = target[:rows].copy() if everything else target[active]
    if not len(fixed):
        cascade = run_cascade(block.copy().T, wanted, starts, thresholds)
        x = cascade.x
    else:
        free = (sides[rows:] == 0).nonzero()[0]
        x = np.empty(problem.unknowns)
        x[fixed] = target[rows + fixed]
        wanted -= block[:, fixed] @ x[fixed]
        cascade = run_cascade(block[:, free].T, wanted, starts, thresholds)
        x[free] = cascade.x
    return _Pass(x, np.concatenate([A @ x, x]), cascade, active, fixed, target)


def _inside(problem: StackedHierarchy, values: Numbers, sides: Sides, margin: float) -> bool:
    """Whether no idle row or bound is broken."""
    outside = (values > problem.upper + margin) | (values < problem.lower - margin)
    return not outside[sides == 0].any()


def _start(problem: StackedHierarchy, sides: Sides, start: Numbers | None) -> Numbers:
    """A point inside the bounds, on those that bind; rows that it breaks are made to bind."""
    rows = problem.rows
    low, high = problem.lower[rows:], problem.upper[rows:]
    x = np.clip(np.zeros(problem.unknowns) if start is None else start, low, high)
    x[sides[rows:] > 0] = high[sides[rows:] > 0]
    x[sides[rows:] < 0] = low[sides[rows:] < 0]
    values = problem.A @ x
    broken = (values > problem.upper[:rows]).astype(np.int8) - (values < problem.lower[:rows])
    idle = sides[:rows] == 0
    sides[:rows][idle] = broken[idle]
    return x


def _advance(
    problem: StackedHierarchy, x: Numbers, found: _Pass, sides: Sides, margin: float, first: bool
) -> tuple[Numbers, float, int]:
    """Go from x towards the solution of the equations until something idle binds: the point, the step, what binds."""
    now = np.concatenate([problem.A @ x, x])
    move = found.values - now
    up = (sides == 0) & (found.values > problem.upper + margin)
    down = (sides == 0) & (found.values < problem.lower - margin)
    steps = np.full(len(sides), np.inf)
    steps[up] = np.maximum(problem.upper[up] - now[up], 0.0) / move[up]
    steps[down] = np.minimum(problem.lower[down] - now[down], 0.0) / move[down]
    least = float(steps.min())
    ties = (steps <= least).nonzero()[0]
    entering = int(ties[0]) if first else int(ties[np.argmax(np.abs(move[ties]))])
    least = min(least, 1.0)
    sides[entering] = 1 if up[entering] else -1
    return x + least * (found.x - x), least, entering


def _after(side: int, value: float, low: float, high: float) -> int:
    """What leaves one end is idle, unless it has gone beyond the other end."""
    return -int(value < low) if side > 0 else int(value > high)


def level_multipliers(problem: StackedHierarchy, found: _Pass, k: int, tiny: float) -> Numbers | None:
    """Multipliers (rows + n,) of what binds, for the optimum of level k; k = number of levels: for the least norm.

        A_kᵀ w_k + Σ_j A_jᵀ μ_j + ν = 0,   μ, ν ≥ 0 at upper ends, ≤ 0 at lower ends;  entries of level k are w_k

    Args:
        problem: The hierarchy.
        found: The pass.
        k: Which level.
        tiny: If no row of the level is violated by more, None is given back: all multipliers are zero.
    """
    out = np.zeros(len(problem.lower))
    factors, active, fixed = found.cascade.factors, found.active, found.fixed
    if k == len(factors):
        pulls, source = multipliers_of_norm(factors), found.x[fixed]
    else:
        mine = active[factors[k].start : factors[k].stop]
        residual = found.values[mine] - found.target[mine]
        if np.abs(residual).max(initial=0.0) <= tiny:
            return None
        pulls, source = multipliers_of_level(factors, k, residual), 0.0
    out[active] = pulls
    if len(fixed):
        out[problem.rows + fixed] = -(source + pulls @ problem.A[active[:, None], fixed])
    return out


def _wrong_side(
    problem: StackedHierarchy, found: _Pass, sides: Sides, locked: NDArray[np.bool_], tol: Tolerances, first: bool
) -> int:
    """What binds and should not: the one with the worst multiplier on the first level that has one; −1 if none."""
    open_ = (sides != 0) & ~locked
    if not open_.any():
        return -1
    noise = _NOISE * max(1.0, float(np.abs(found.values).max(initial=0.0)))
    for k in range(len(found.cascade.factors) + 1):
        multipliers = level_multipliers(problem, found, k, noise)
        if multipliers is None:
            continue
        tiny = max(noise, tol.dual * float(np.abs(multipliers).max()))
        signed = np.where(open_, multipliers * sides, 0.0)
        if signed.min() < -tiny:
            return int(np.argmax(signed < -tiny)) if first else int(np.argmin(signed))
        open_ &= signed <= tiny
        if not open_.any():
            return -1
    return -1
