"""Strict hierarchies of linear equations and inequalities: lexicographic least squares.

    min |w_1|²,  then min |w_2|² among the optima of the first,  …    [hierarchy.lexicographic]
    lower_k ≤ A_k x − w_k ≤ upper_k,   lower ≤ x ≤ upper kept exactly

What no level determines is the least x (Escande, Mansard and Wieber 2014; Kanoun, Lamiraux and Wieber 2011).

Damping near singularities that leaves priorities strict.

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
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import lapack

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.solvers.hierarchy.problem import Level, StackedHierarchy, stacked
from surefoot.solvers.hierarchy.workspace import ActiveSetError, Limits, Optimum, Sides, Tolerances, Workspace


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
        limits: When a search is broken off.
    """

    def __init__(
        self,
        problem: StackedHierarchy,
        counts: tuple[int, ...],
        tolerances: Tolerances,
        limits: Limits,
    ) -> None:
        self.shape = (problem.starts, problem.unknowns, counts)
        ends = np.cumsum([0, *counts])
        starts = tuple(int(at) for at in np.asarray(problem.starts) + ends)
        self.work = Workspace(starts[-1], problem.unknowns, starts, tolerances, limits)
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


@dataclass(frozen=True, eq=False)
class HierarchySolution:
    """The optimum of a hierarchy.

    Args:
        problem: The hierarchy in one block, rows scaled by the roots of their weights.
        optimum: What the search found.
        scale: (rows,) roots of the weights.
        tolerances: What counted as zero.
    """

    problem: StackedHierarchy
    optimum: Optimum
    scale: Array
    tolerances: Tolerances

    @property
    def x(self) -> Array:
        """The solution (n,)."""
        return self.optimum.x

    @property
    def passes(self) -> int:
        """How many sets of binding inequalities were tried: 1 if the guess was right."""
        return self.optimum.passes

    @property
    def damped(self) -> int:
        """Number of directions that were damped."""
        return self.optimum.damped

    @property
    def ranks(self) -> tuple[int, ...]:
        """How many directions each level determines."""
        return tuple(int(rank) for rank in np.diff(self.optimum.columns))

    @cached_property
    def violations(self) -> tuple[Array, ...]:
        """For each level (rows,): how far A x lies above its upper (positive) or below its lower end (negative)."""
        p, values = self.problem, self.optimum.values[: self.problem.rows]
        outside = values - np.minimum(np.maximum(values, p.lower[: p.rows]), p.upper[: p.rows])
        return self._by_level(outside / self.scale)

    @cached_property
    def active(self) -> tuple[NDArray[np.int64], ...]:
        """For each level (rows,): +1 where the upper end binds (and for equations), −1 the lower one, 0 idle."""
        return self._by_level(self.optimum.sides)

    @property
    def bounds_active(self) -> NDArray[np.int64]:
        """The same for the bounds on x (n,)."""
        return self.optimum.sides[self.problem.rows :]

    @cached_property
    def multipliers(self) -> tuple[tuple[Array, Array], ...]:
        """For each level k, and then for the least norm, multipliers of the (rows,) of all levels and of x (n,).

            Σ_j A_jᵀ μ_j + ν = 0;   entries of level k itself are the weights times w_k

        For the least norm the sum is −x. There are none where directions were damped.
        """
        p = self.problem
        if self.damped:
            raise NotSupportedError("there are no multipliers where directions were damped")
        work = Workspace(p.rows, p.unknowns, p.starts, self.tolerances)
        work.equations(p, self.optimum.sides)
        full = [work.multipliers(k) for k in range(len(p.starts))]
        return tuple((m[: p.rows] * self.scale, m[p.rows :]) for m in full)

    def conflicts(self, tolerance: float = 1e-9) -> tuple[NDArray[np.intp], ...]:
        """For each level the rows that are violated by more than a tolerance: what is above leaves no room for them.

        Args:
            tolerance: In units of the rows.
        """
        return tuple(np.flatnonzero(np.abs(w) > tolerance) for w in self.violations)

    def _by_level(self, values: NDArray) -> tuple[NDArray, ...]:
        ends = self.problem.starts
        return tuple(values[a:b] for a, b in pairwise(ends))


class HierarchySolver:
    """Solves strict hierarchies; remembers what bound last time, to begin with it.

        solver = HierarchySolver()
        found = solver.solve([Level(J_feet, 0, 0), Level(J_hand, v_hand, v_hand)], lower=-v_max, upper=v_max)
        found.x, found.violations, found.conflicts()

    Args:
        tolerances: What counts as zero.
        limits: When a search is broken off; never if omitted.
    """

    def __init__(self, tolerances: Tolerances | None = None, limits: Limits | None = None) -> None:
        self.tolerances, self.limits = tolerances or Tolerances(), limits or Limits()
        self._last: Optimum | None = None
        self._near_singular = False
        self._work: Workspace | None = None
        self._wider: DampedWorkspace | None = None

    def solve(
        self, levels: Sequence[Level], lower: ArrayLike | None = None, upper: ArrayLike | None = None
    ) -> HierarchySolution:
        """The optimum.

        Args:
            levels: First priority first.
            lower: (n,) or a number: bounds on x, kept exactly; −inf where there is none.
            upper: The same above.

        Raises:
            ShapeError: Shapes do not fit, numbers are not finite, ends exclude each other; with level and rows.
            ActiveSetError: The search did not end, or a limit was reached; see its `outcome`.
        """
        problem, scale = stacked(levels, lower, upper)
        return HierarchySolution(problem, self.solve_stacked(problem), scale, self.tolerances)

    def solve_stacked(self, problem: StackedHierarchy) -> Optimum:
        """The optimum of a hierarchy that is already in one block; nothing is checked (see `check_stacked`).

        Raises:
            ActiveSetError: The search did not end, or a limit was reached; see its `outcome`.
        """
        guess, start = self._memory(problem)
        if self._work is None or not self._work.fits(problem):
            self._work = Workspace(problem.rows, problem.unknowns, problem.starts, self.tolerances, self.limits)
        found = None
        if not self._near_singular:
            found = self._work.optimum(problem, guess, start)
            if not any(problem.damping) or not may_be_singular(self._work, problem.damping):
                self._last = found
                return found
        added = damping_rows(problem, self._work) if any(problem.damping) else None
        self._near_singular = added is not None
        if added is not None:
            found = self._solve_damped(problem, added, guess, start)
        self._last = found or self._work.optimum(problem, guess, start)
        return self._last

    def _memory(self, problem: StackedHierarchy) -> tuple[Sides | None, Array | None]:
        """What bound last time, and the last solution; nothing if the last problem was another one."""
        if self._last is None or self._work is None or not self._work.fits(problem):
            return None, None
        return self._last.sides, self._last.x

    def _solve_damped(
        self, problem: StackedHierarchy, added: list[Array], guess: Sides | None, start: Array | None
    ) -> Optimum:
        counts = tuple(len(part) for part in added)
        if self._wider is None or not self._wider.fits(problem, counts):
            self._wider = DampedWorkspace(problem, counts, self.tolerances, self.limits)
        return self._wider.optimum(problem, added, guess, start)

    def forget(self) -> None:
        """Begin the next search without a guess: the result then depends on the problem alone, to the last bit."""
        self._last, self._near_singular = None, False

    def remember(self, found: Optimum | None) -> None:
        """Begin the next search with what bound in an earlier solution of a problem of the same size.

        Args:
            found: The earlier solution; None for no guess.
        """
        self._last, self._near_singular = found, False

    @staticmethod
    def check_stacked(problem: StackedHierarchy) -> None:
        """Refuse numbers that are not finite and bounds that are crossed; for problems that `solve_stacked` gets.

        Raises:
            ActiveSetError: With the rows, and the outcome "not finite" or "crossed bounds".
        """
        lower, upper = problem.lower, problem.upper
        if not (np.isfinite(problem.A.sum()) or np.isfinite(problem.A).all()):
            raise _unsolvable("not finite", "the rows", np.logical_not(np.isfinite(problem.A).all(axis=1)))
        if not (lower <= upper).all():
            lost: NDArray[np.bool_] = np.isnan(lower) | np.isnan(upper)
            crossed: NDArray[np.bool_] = np.asarray(lower > upper)
            outcome = "not finite" if lost.any() else "crossed bounds"
            raise _unsolvable(outcome, "the ends of the rows and unknowns", lost if lost.any() else crossed)


def _unsolvable(outcome: str, what: str, wrong: NDArray[np.bool_]) -> ActiveSetError:
    words = "are crossed" if outcome == "crossed bounds" else "are not finite"
    error = ActiveSetError(f"{what} of the hierarchy {words}", evidence={"rows": np.flatnonzero(wrong)[:20].tolist()})
    error.outcome = outcome
    return error
