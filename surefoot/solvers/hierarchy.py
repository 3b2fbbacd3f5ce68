"""Strict hierarchies of linear equations and inequalities: lexicographic least squares.

    min |w_1|²,  then min |w_2|² among the optima of the first,  …    [hierarchy.lexicographic]
    lower_k ≤ A_k x − w_k ≤ upper_k,   lower ≤ x ≤ upper kept exactly

What no level determines is the least x (Escande, Mansard and Wieber 2014; Kanoun, Lamiraux and Wieber 2011).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.solvers.hierarchy_damping import DampedWorkspace, damping_rows, may_be_singular
from surefoot.solvers.hierarchy_problem import Level, StackedHierarchy, stacked
from surefoot.solvers.hierarchy_workspace import ActiveSetError, Optimum, Sides, Tolerances, Workspace

__all__ = ["ActiveSetError", "HierarchySolution", "HierarchySolver", "Level", "Tolerances"]


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
    """

    def __init__(self, tolerances: Tolerances | None = None) -> None:
        self.tolerances = tolerances or Tolerances()
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
            ActiveSetError: The search did not end.
        """
        problem, scale = stacked(levels, lower, upper)
        return HierarchySolution(problem, self.solve_stacked(problem), scale, self.tolerances)

    def solve_stacked(self, problem: StackedHierarchy) -> Optimum:
        """The optimum of a hierarchy that is already in one block; nothing is checked.

        Args:
            problem: The hierarchy.
        """
        guess, start = self._memory(problem)
        if self._work is None or not self._work.fits(problem):
            self._work = Workspace(problem.rows, problem.unknowns, problem.starts, self.tolerances)
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
            self._wider = DampedWorkspace(problem, counts, self.tolerances)
        return self._wider.optimum(problem, added, guess, start)

    def forget(self) -> None:
        """Begin the next search without a guess: the result then depends on the problem alone, to the last bit."""
        self._last, self._near_singular = None, False
