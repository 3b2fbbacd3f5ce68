"""Tasks that fade in and out of a hierarchy without a jump.

Weights cannot do that: a task that can be fulfilled is fulfilled at any weight above zero. All rows are measured from
what happens without the fading task:

    x = (1 − α) x_without + y,   A y = α b for equations        [ik.fade]

That are the intermediate desired values of Lee, Mansard and Park 2012, A x = α b + (1 − α) A x_without: for α = 0 the
task asks for what happens anyway, for α = 1 for what it wants. Ends of inequalities move in the same way, from where
they do not matter; what all other rows reach without the task stays as it is. As y is what is damped near
singularities, and what is small, α → 0 leads to x_without in all postures.

Tasks that fade together count as one. Of several that fade at different times, (1 − α) x_without becomes the sum over
all choices of tasks to leave out, with the signs of inclusion and exclusion:

    x = Σ_T (−1)^(|T| + 1) Π_{k in T} (1 − α_k) x_{without T} + y,   A y = Π α_k b

which has the same limits in each α_k.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.solvers import HierarchySolver
from surefoot.solvers.hierarchy import Optimum, StackedHierarchy

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

    @staticmethod
    def at(activation: float) -> Fade:
        """An activation that stays.

        Args:
            activation: 0 to 1.
        """
        return Fade(begin=activation, end=activation)

    def activation(self, time: float) -> float:
        """α at a time: a quintic without velocity and acceleration at its ends.

        Args:
            time: [s].
        """
        if time >= self.start + self.duration:
            return self.end
        s = max(0.0, (time - self.start) / self.duration)
        return self.begin + (self.end - self.begin) * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)

    def is_over(self, time: float) -> bool:
        """Whether the task is fully active from now on.

        Args:
            time: [s].
        """
        return self.end == 1.0 and (self.begin == 1.0 or time >= self.start + self.duration)


class FadingTasks(NamedTuple):
    """Tasks that fade together.

    Args:
        tasks: Their numbers.
        activation: α, more than 0 and less than 1.
    """

    tasks: frozenset[int]
    activation: float


def fading_groups(fades: Sequence[Fade], time: float) -> tuple[list[FadingTasks], frozenset[int]]:
    """Tasks that are between on and off now, by group, and tasks that are off.

    Args:
        fades: Of every task.
        time: [s].
    """
    groups: dict[Fade, list[int]] = {}
    off = []
    for k, fade in enumerate(fades):
        alpha = fade.activation(time)
        if alpha <= 0.0:
            off.append(k)
        elif alpha < 1.0:
            groups.setdefault(fade, []).append(k)
    if len(groups) > MOST_GROUPS:
        raise NotSupportedError(
            f"{len(groups)} fades of different times overlap",
            evidence={"most": MOST_GROUPS},
            next_step="let tasks fade together: with the same start and duration",
        )
    return [FadingTasks(frozenset(tasks), fade.activation(time)) for fade, tasks in groups.items()], frozenset(off)


class FadingSolver:
    """Solves hierarchies in which groups of tasks fade; remembers for each combination what bound last time."""

    def __init__(self) -> None:
        self.main = HierarchySolver()
        self._others: dict[frozenset[int], HierarchySolver] = {}

    def solve(self, problem: StackedHierarchy) -> Optimum:
        """The optimum while nothing fades."""
        self._others.clear()
        return self.main.solve_stacked(problem)

    def solve_fading(
        self, without: Callable[[frozenset[int]], StackedHierarchy], groups: Sequence[FadingTasks]
    ) -> Optimum:
        """The optimum with every group as far as it has faded.

        Args:
            without: The hierarchy without some tasks.
            groups: What is fading.
        """
        found: dict[frozenset[int], Optimum] = {}
        everyone = frozenset(range(len(groups)))
        for there in _subsets(everyone):
            left_out = frozenset().union(*(groups[k].tasks for k in everyone - there))
            parts = [(_sign_and_share(groups, gone), found[there - gone]) for gone in _subsets(there) if gone]
            solver = self.main if there == everyone else self._others.setdefault(left_out, HierarchySolver())
            found[there] = _solved(solver, without(left_out), parts)
        return found[everyone]


def _subsets(of: frozenset[int]) -> Iterator[frozenset[int]]:
    """All subsets, smaller ones first."""
    return (frozenset(chosen) for size in range(len(of) + 1) for chosen in combinations(sorted(of), size))


def _sign_and_share(groups: Sequence[FadingTasks], gone: frozenset[int]) -> float:
    """Factor of the optimum without some groups."""
    return -float(np.prod([groups[k].activation - 1.0 for k in gone]))


def _solved(solver: HierarchySolver, problem: StackedHierarchy, parts: Sequence[tuple[float, Optimum]]) -> Optimum:
    """The optimum of a hierarchy, measured from optima of which each has a share.

    Args:
        solver: Remembers what bound last time.
        problem: The hierarchy with the ends that the tasks want.
        parts: Shares and optima; none: the hierarchy as it is.
    """
    if not parts:
        return solver.solve_stacked(problem)
    rest = 1.0 - sum(share for share, _ in parts)
    lower, upper = (_ends(end, rest, parts, side) for end, side in ((problem.lower, -1.0), (problem.upper, 1.0)))
    equal = problem.lower == problem.upper
    lower[equal] = upper[equal] = rest * problem.lower[equal]
    found = solver.solve_stacked(replace(problem, lower=lower, upper=upper))
    values = found.values + sum(share * part.values for share, part in parts)
    x = np.clip(values[problem.rows :], problem.lower[problem.rows :], problem.upper[problem.rows :])
    return found._replace(x=x, values=values)


def _ends(end: Array, rest: float, parts: Sequence[tuple[float, Optimum]], side: float) -> Array:
    """Ends for y, where they would be for x if each part kept what it reaches; infinite ones stay."""
    out, at = end.copy(), np.isfinite(end)
    out[at] *= rest
    for share, part in parts:
        out[at] += share * side * np.maximum(side * (end[at] - part.values[at]), 0.0)
    return out
