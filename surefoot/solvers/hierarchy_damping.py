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
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

from surefoot.solvers.hierarchy_cascade import LevelFactor, level_directions, run_cascade
from surefoot.solvers.hierarchy_problem import StackedHierarchy

__all__ = ["Damped", "damped_hierarchy", "may_be_singular"]

Numbers = NDArray[np.float64]


class Damped(NamedTuple):
    """A hierarchy with rows that damp.

    Args:
        problem: The hierarchy with the added rows.
        kept: (rows + n,) where the rows and bounds of the original are in it.
    """

    problem: StackedHierarchy
    kept: NDArray[np.intp]


def may_be_singular(factors: Sequence[LevelFactor], thresholds: Sequence[float]) -> bool:
    """Whether a level may have a singular value below its threshold; a cheap test without false negatives.

    What binds takes away freedom and can only make singular values smaller, and 1 / |R⁻¹|_F ≤ σ_min(R).

    Args:
        factors: Of a pass, with whatever binds.
        thresholds: ε of each level, 0 for none.
    """
    for f, threshold in zip(factors, thresholds, strict=True):
        if threshold and f.rank:
            inverse = lapack.dtrtri(f.reflections[: f.rank, : f.rank])[0]
            upper = np.triu(inverse)
            if threshold**2 * np.vdot(upper, upper) > 1.0:
                return True
    return False


def damped_hierarchy(problem: StackedHierarchy, ranks: Sequence[float]) -> Damped | None:
    """The hierarchy with rows that damp; None if no level is near a singularity.

    Args:
        problem: The hierarchy.
        ranks: Pivots up to this size count as zero, for each level.
    """
    rows, n = problem.A.shape
    equations = np.flatnonzero(problem.lower[:rows] == problem.upper[:rows])
    starts = np.searchsorted(equations, problem.starts).tolist()
    factors = run_cascade(problem.A[equations].T, np.zeros(len(equations)), starts, ranks).factors
    added = [
        _damping_rows(factors, k, threshold, n) if threshold and factors[k].rank else np.zeros((0, n))
        for k, threshold in enumerate(problem.damping)
    ]
    counts = [len(part) for part in added]
    return _inserted(problem, added, counts) if any(counts) else None


def _damping_rows(factors: Sequence[LevelFactor], k: int, threshold: float, n: int) -> Numbers:
    """Rows μ_i d_iᵀ (count, n) of a level."""
    f = factors[k]
    own = np.triu(f.reflections[: f.rank])[:, np.argsort(f.order)] if f.closing else np.triu(f.reflections[: f.rank]).T
    _, sigma, right = np.linalg.svd(own, full_matrices=False)
    small = sigma < threshold
    directions = level_directions(factors, k, right[small].T, n).T
    return np.sqrt(threshold**2 - sigma[small] ** 2)[:, None] * directions


def _inserted(problem: StackedHierarchy, added: Sequence[Numbers], counts: Sequence[int]) -> Damped:
    """The hierarchy with the rows at the end of their levels."""
    rows, n = problem.A.shape
    shift = np.concatenate([[0], np.cumsum(counts)])
    lengths = np.diff(problem.starts)
    kept = np.arange(rows + n) + np.concatenate([np.repeat(shift[:-1], lengths), np.full(n, shift[-1])])
    extra = np.setdiff1d(np.arange(rows + shift[-1]), kept[:rows])
    A, lower, upper = np.empty((rows + shift[-1], n)), np.zeros(rows + shift[-1] + n), np.zeros(rows + shift[-1] + n)
    A[kept[:rows]], A[extra] = problem.A, np.concatenate(added)
    lower[kept], upper[kept] = problem.lower, problem.upper
    starts = tuple(int(at) for at in np.asarray(problem.starts) + shift)
    return Damped(StackedHierarchy(A, lower, upper, starts, (0.0,) * len(counts)), kept)
