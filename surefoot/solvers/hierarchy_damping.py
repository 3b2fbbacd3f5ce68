"""Damping near singularities that leaves priorities strict.

In the null space of the equations of all levels before, a level has singular values σ_i with directions d_i. Where
σ_i is below the level's threshold ε, a row is added to that level, and to no other direction:

    μ_i d_iᵀ x = 0,   μ_i² = ε² − σ_i²        [hierarchy.damping]

It is selective damping (Maciejewski and Klein 1988, numerical filtering) with a factor that sets in smoothly
(Nakamura and Hanafusa 1986). Along d_i the level then reaches σ_i² / ε² of what it wants, with a gain of at most 1/ε.
The rows depend on equations of the level and those before it alone, neither on lower levels nor on what binds. So the
damped hierarchy is a strict hierarchy: no level feels those below it. Directions that a level does not determine at
all (σ_i = 0 to the tolerance of the rank) are not damped, but left to the levels below.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from scipy.linalg import lapack

from surefoot.arrays import Array
from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.solvers.hierarchy_workspace import Optimum, Sides, Tolerances, Workspace

__all__ = ["DampedWorkspace", "damping_rows", "may_be_singular"]


def may_be_singular(work: Workspace, thresholds: Sequence[float]) -> bool:
    """Whether a level may have a singular value below its threshold; a cheap test without false negatives.

    What binds takes away freedom and can only make singular values smaller, and 1 / |R⁻¹|_F ≤ σ_min(R). A level that
    lacks rank may do so because of what binds.

    Args:
        work: After a pass, with whatever binds.
        thresholds: ε of each level, 0 for none.
    """
    return any(threshold > 0.0 and work.weakest(k) < threshold for k, threshold in enumerate(thresholds))


def damping_rows(problem: StackedHierarchy, work: Workspace) -> list[Array] | None:
    """Rows μ_i d_iᵀ (count, n) for every level; None if no level is near a singularity.

    Args:
        problem: The hierarchy; one of its levels has a threshold.
        work: Memory of its size.
    """
    last = max(k for k, threshold in enumerate(problem.damping) if threshold > 0.0)
    work.factor_equations(problem, last + 1)
    added = [_of_level(work, k, threshold) for k, threshold in enumerate(problem.damping)]
    return added if any(len(part) for part in added) else None


def _of_level(work: Workspace, level: int, threshold: float) -> Array:
    """Rows μ_i d_iᵀ (count, n) of a level."""
    if threshold == 0.0 or work.weakest(level) >= threshold:
        return np.zeros((0, work.n))
    squares, right, count, *_ = lapack.dsyevr(work.gram(level), range="V", vl=-1.0, vu=threshold**2)
    rows = [(threshold**2 - max(squares[i], 0.0)) ** 0.5 * work.direction(level, right[:, i]) for i in range(count)]
    return np.array(rows).reshape(-1, work.n)


class DampedWorkspace:
    """Memory for hierarchies with rows that damp at the ends of their levels.

    Args:
        problem: A hierarchy of the size without them.
        counts: How many rows are added to each level.
        tolerances: What counts as zero.
    """

    def __init__(self, problem: StackedHierarchy, counts: tuple[int, ...], tolerances: Tolerances) -> None:
        self.shape = (problem.starts, problem.unknowns, counts)
        ends = np.cumsum([0, *counts])
        starts = tuple(int(at) for at in np.asarray(problem.starts) + ends)
        self.work = Workspace(starts[-1], problem.unknowns, starts, tolerances)
        shift = [*np.repeat(ends[:-1], np.diff(problem.starts)), *([ends[-1]] * problem.unknowns)]
        self.kept = np.arange(len(problem.lower)) + np.array(shift, dtype=np.intp)
        self.parts = [
            (slice(a, b), slice(a + moved, b + moved), slice(b + moved, b + moved + more))
            for (a, b), moved, more in zip(pairwise(problem.starts), ends.tolist(), counts, strict=False)
        ]

    def fits(self, problem: StackedHierarchy, counts: tuple[int, ...]) -> bool:
        """Whether a hierarchy and rows for it have the size of this memory."""
        return (problem.starts, problem.unknowns, counts) == self.shape

    def optimum(
        self, problem: StackedHierarchy, added: Sequence[Array], guess: Sides | None, start: Array | None
    ) -> Optimum:
        """The optimum with rows that damp; what it says about rows and bounds is without them.

        Args:
            problem: The hierarchy.
            added: Rows for each level.
            guess: (rows + n,) which are expected to bind.
            start: (n,) a point to start from.
        """
        work, kept = self.work, self.kept
        for (given, place, more), part in zip(self.parts, added, strict=True):
            work.A[place], work.A[more] = problem.A[given], part
        work.lower[kept], work.upper[kept] = problem.lower, problem.upper
        work.sides[:] = 1
        work.sides[kept] = 0 if guess is None else guess
        found = work.search(start)
        extra = len(work.lower) - len(kept)
        return found._replace(values=found.values[kept], sides=found.sides[kept], damped=extra)
