"""Tasks that fade in and out of a strict hierarchy without a jump.

Weights cannot do that: a task that can be fulfilled is fulfilled at any weight above zero. The target of a fading task
is taken from what happens without it:

    b(α) = α b + (1 − α) A x_without        [ik.fade]   Lee, Mansard and Park 2012, intermediate desired values

For α = 0 the task asks for what happens anyway, for α = 1 for what it wants. Of several tasks that fade at different
times, x_without is the solution without this one and with the others as far as they have faded; tasks that fade
together count as one. Ends of inequalities move in the same way, from where they do not matter.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import NotSupportedError
from surefoot.solvers import HierarchySolver
from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.solvers.hierarchy_workspace import Optimum

__all__ = ["MOST_GROUPS", "Fade", "FadingRows", "FadingSolver", "fading_groups"]

Numbers = NDArray[np.float64]
MOST_GROUPS = 4
"""Fades of different times that may overlap: each one doubles the work of a tick."""


@dataclass(frozen=True)
class Fade:
    """How active a task is over time: from `begin` to `end` of activation, smoothly.

    Args:
        start: When it begins [s].
        duration: How long it takes [s]; 0: at once.
        begin: Activation before, 0 to 1.
        end: Activation after, 0 to 1.
    """

    start: float = 0.0
    duration: float = 0.0
    begin: float = 1.0
    end: float = 1.0

    def activation(self, time: float) -> float:
        """α at a time: a quintic without velocity and acceleration at its ends.

        Args:
            time: [s].
        """
        if time >= self.start + self.duration:
            return self.end
        s = max(0.0, (time - self.start) / self.duration)
        return self.begin + (self.end - self.begin) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)


class FadingRows(NamedTuple):
    """Rows that fade together.

    Args:
        rows: Their numbers.
        activation: α, more than 0 and less than 1.
    """

    rows: NDArray[np.intp]
    activation: float


def fading_groups(fades: Sequence[Fade], slices: Sequence[slice], time: float) -> tuple[list[FadingRows], list[slice]]:
    """Rows that are fading now, by group, and rows of tasks that are off.

    Args:
        fades: Of every task.
        slices: Rows of every task.
        time: [s].
    """
    groups: dict[Fade, list[int]] = {}
    off = []
    for fade, rows in zip(fades, slices, strict=True):
        alpha = fade.activation(time)
        if alpha <= 0.0:
            off.append(rows)
        elif alpha < 1.0:
            groups.setdefault(fade, []).extend(range(rows.start, rows.stop))
    if len(groups) > MOST_GROUPS:
        raise NotSupportedError(
            f"{len(groups)} fades of different times overlap",
            evidence={"most": MOST_GROUPS},
            next_step="let tasks fade together: with the same start and duration",
        )
    return [FadingRows(np.array(rows), fade.activation(time)) for fade, rows in groups.items()], off


class FadingSolver:
    """Solves hierarchies in which groups of rows fade; remembers for each combination what bound last time."""

    def __init__(self) -> None:
        self.main = HierarchySolver()
        self._others: dict[frozenset[int], HierarchySolver] = {}

    def solve(self, problem: StackedHierarchy, groups: Sequence[FadingRows]) -> Optimum:
        """The optimum with every group as far as it has faded.

        Args:
            problem: The hierarchy with the ends that the tasks want.
            groups: What is fading.
        """
        if not groups:
            self._others.clear()
            return self.main.solve_stacked(problem)
        found: dict[frozenset[int], Numbers] = {}
        everyone = frozenset(range(len(groups)))
        for size in range(len(groups)):
            for chosen in map(frozenset, combinations(everyone, size)):
                solver = self._others.setdefault(chosen, HierarchySolver())
                found[chosen] = solver.solve_stacked(_faded(problem, groups, chosen, found)).x
        return self.main.solve_stacked(_faded(problem, groups, everyone, found))


def _faded(
    problem: StackedHierarchy,
    groups: Sequence[FadingRows],
    chosen: frozenset[int],
    found: Mapping[frozenset[int], Numbers],
) -> StackedHierarchy:
    """The hierarchy with some groups faded and the others released, given what happens without each of them."""
    lower, upper = problem.lower.copy(), problem.upper.copy()
    for k, (rows, alpha) in enumerate(groups):
        if k not in chosen:
            lower[rows], upper[rows] = -np.inf, np.inf
            continue
        anyway = problem.A[rows] @ found[chosen - {k}]
        low, high = lower[rows], upper[rows]
        equal = low == high
        lower[rows] = _moved(low, np.where(equal, anyway, np.minimum(low, anyway)), alpha)
        upper[rows] = _moved(high, np.where(equal, anyway, np.maximum(high, anyway)), alpha)
    return replace(problem, lower=lower, upper=upper)


def _moved(wanted: Numbers, anyway: Numbers, alpha: float) -> Numbers:
    """α wanted + (1 − α) anyway; infinite ends stay."""
    finite = np.isfinite(wanted)
    return np.where(
        finite, alpha * np.where(finite, wanted, 0.0) + (1.0 - alpha) * np.where(finite, anyway, 0.0), wanted
    )
