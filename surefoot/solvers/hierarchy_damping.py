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

from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.solvers.hierarchy_workspace import Workspace

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


def may_be_singular(work: Workspace, thresholds: Sequence[float]) -> bool:
    """Whether a level may have a singular value below its threshold; a cheap test without false negatives.

    What binds takes away freedom and can only make singular values smaller, and 1 / |R⁻¹|_F ≤ σ_min(R). A level that
    lacks rank may do so because of what binds.

    Args:
        work: After a pass, with whatever binds.
        thresholds: ε of each level, 0 for none.
    """
    return any(threshold > 0.0 and work.weakest(k) < threshold for k, threshold in enumerate(thresholds))


def damped_hierarchy(problem: StackedHierarchy, work: Workspace) -> Damped | None:
    """The hierarchy with rows that damp; None if no level is near a singularity.

    Args:
        problem: The hierarchy.
        work: Memory of its size.
    """
    equal = problem.lower == problem.upper
    equal[problem.rows :] = False
    work.equations(problem, equal.astype(np.int64))
    added = [_damping_rows(work, k, threshold) for k, threshold in enumerate(problem.damping)]
    return _inserted(problem, added) if any(len(part) for part in added) else None


def _damping_rows(work: Workspace, level: int, threshold: float) -> Numbers:
    """Rows μ_i d_iᵀ (count, n) of a level."""
    own = work.triangle(level)
    if own.size == 0 or work.weakest(level) >= threshold:
        return np.zeros((0, work.n))
    _, sigma, right = np.linalg.svd(own, full_matrices=False)
    rows = [
        np.sqrt(threshold**2 - s**2) * work.direction(level, coefficients)
        for s, coefficients in zip(sigma, right, strict=True)
        if s < threshold
    ]
    return np.array(rows).reshape(-1, work.n)


def _inserted(problem: StackedHierarchy, added: Sequence[Numbers]) -> Damped:
    """The hierarchy with the rows at the end of their levels."""
    rows, n = problem.A.shape
    starts, kept = [0], np.arange(rows + n)
    for k, part in enumerate(added):
        kept[problem.starts[k + 1] :] += len(part)
        starts.append(problem.starts[k + 1] + starts[k] - problem.starts[k] + len(part))
    total = starts[-1]
    A, lower, upper = np.empty((total, n)), np.zeros(total + n), np.zeros(total + n)
    A[kept[:rows]] = problem.A
    for end, part in zip(starts[1:], added, strict=True):
        A[end - len(part) : end] = part
    lower[kept], upper[kept] = problem.lower, problem.upper
    return Damped(StackedHierarchy(A, lower, upper, tuple(starts), (0.0,) * len(added)), kept)
