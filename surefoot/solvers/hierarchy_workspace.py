"""Memory for hierarchies of one size, and the native functions that work in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.solvers.hierarchy_problem import StackedHierarchy
from surefoot.solvers.hierarchy_search import SEARCH

__all__ = ["ActiveSetError", "Optimum", "Sides", "Tolerances", "Workspace"]

Numbers = NDArray[np.float64]
Sides = NDArray[np.int64]
_PATIENCE = 20
"""Steps of length zero before the choice follows Bland's rule, which cannot cycle."""


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


class Optimum(NamedTuple):
    """The optimum of a hierarchy.

    Args:
        x: (n,).
        values: (rows + n,) A x and x.
        sides: (rows + n,) +1 where the upper end binds (or an equation), −1 where the lower one does, 0 idle.
        passes: Number of sets of binding inequalities that were tried.
        columns: (levels + 1,) where the directions of each level begin.
        damped: Number of directions that were damped.
    """

    x: Numbers
    values: Numbers
    sides: Sides
    passes: int
    columns: NDArray[np.int64]
    damped: int = 0


class Workspace:
    """Arrays for hierarchies of one size, as `hierarchy_pass` describes them.

    Args:
        rows: Rows of all levels.
        n: Unknowns.
        starts: Where each level begins, and the number of rows.
        tolerances: What counts as zero.
    """

    def __init__(self, rows: int, n: int, starts: tuple[int, ...], tolerances: Tolerances) -> None:
        self.shape, self.rows, self.n, self.tolerances = (rows, n, starts), rows, n, tolerances
        levels, total = len(starts) - 1, rows + n
        self.starts = np.array(starts, dtype=np.int64)
        self.A, self.W, self.V, self.T = (np.zeros((k, n)) for k in (rows, rows, n, rows))
        self.lower, self.upper, self.values, self.now, self.found = (np.zeros(total) for _ in range(5))
        self.x, self.start, self.point, self.tau, self.z = (np.zeros(n + 1) for _ in range(5))
        self.b, self.y = np.zeros(rows), np.zeros(total)
        self.thresholds = np.zeros(levels)
        self.sides, self.locked, self.open = (np.zeros(total, dtype=np.int64) for _ in range(3))
        self.first, self.column = (np.zeros(levels + 1, dtype=np.int64) for _ in range(2))
        self.order, self.active = (np.zeros(rows, dtype=np.int64) for _ in range(2))
        self.free = np.zeros(n, dtype=np.int64)
        self._levels = levels
        self._search = (
            *self._at("A lower upper sides starts thresholds"), levels, rows, n, *self._at(
                "start x values W b V tau z T y first column order active free point now found locked open"
            ), tolerances.feasible, tolerances.dual, 100 + 10 * total, _PATIENCE,
        )  # fmt: skip
        self._equations = (
            *self._at("A lower upper sides starts thresholds"), levels, rows, n,
            *self._at("x values W b V tau z T y first column order active free"),
        )  # fmt: skip
        self._scales = (*self._at("A starts"), levels, n, tolerances.rank, *self._at("thresholds"))
        self._weak, (self._T,) = self._at("W first order column"), self._at("T")

    def _at(self, names: str) -> list[int]:
        return [getattr(self, name).ctypes.data for name in names.split()]

    def fits(self, problem: StackedHierarchy) -> bool:
        """Whether a hierarchy has the size of this memory."""
        return (*problem.A.shape, problem.starts) == self.shape

    def load(self, problem: StackedHierarchy) -> None:
        """Take the numbers of a hierarchy.

        Args:
            problem: The hierarchy.
        """
        self.A[:], self.lower[:], self.upper[:] = problem.A, problem.lower, problem.upper
        SEARCH["set_thresholds"](*self._scales)

    def optimum(self, problem: StackedHierarchy, guess: Sides | None, start: Numbers | None) -> Optimum:
        """Solve a hierarchy.

        Args:
            problem: The hierarchy.
            guess: (rows + n,) which are expected to bind, from a similar problem; None if nothing is known.
            start: (n,) a point to start from if the guess is wrong.

        Raises:
            ActiveSetError: The search did not end.
        """
        self.load(problem)
        self.sides[:] = 0 if guess is None else guess
        self.start[: self.n] = 0.0 if start is None else start
        passes = SEARCH["search"](*self._search)
        if passes == 0:
            raise ActiveSetError(
                "the search for the binding inequalities of a hierarchy did not end",
                evidence={"rows": self.rows, "unknowns": self.n},
                next_step="scale the rows alike; nearly dependent rows decide by rounding",
            )
        return Optimum(self.x[: self.n].copy(), self.values.copy(), self.sides.copy(), passes, self.column.copy())

    def equations(self, problem: StackedHierarchy, sides: Sides) -> None:
        """One pass, with what binds given.

        Args:
            problem: The hierarchy.
            sides: (rows + n,).
        """
        self.load(problem)
        self.sides[:] = sides
        SEARCH["solve_equations"](*self._equations)

    def multipliers(self, level: int) -> Numbers:
        """Multipliers (rows + n,) of what bound in the last pass, for the optimum of a level.

        Args:
            level: Which; the number of levels stands for the least norm.
        """
        SEARCH["multipliers"](
            *self._at("A lower upper sides"), self._levels, self.rows, self.n,
            *self._at("x values W z first column order active"), level, *self._at("y found"),
        )  # fmt: skip
        return self.found.copy()

    def weakest(self, level: int) -> float:
        """A lower bound of the singular values of a level, with whatever bound in the last pass; 0 if it lacks rank."""
        if self.column[level + 1] - self.column[level] < self.first[level + 1] - self.first[level]:
            return 0.0
        inverse = SEARCH["weakest"](*self._weak, level, self.n, self._T)
        return float("inf") if inverse == 0.0 else float(inverse**-0.5)

    def triangle(self, level: int) -> Numbers:
        """The rows of a level along its own directions, of the last pass (rows of the level, rank)."""
        rows = self.order[self.first[level] : self.first[level + 1]]
        return self.W[rows, self.column[level] : self.column[level + 1]]

    def direction(self, level: int, coefficients: Numbers) -> Numbers:
        """A combination of the directions of a level, as a direction of the free unknowns.

        Args:
            level: Which.
            coefficients: (rank of the level,).
        """
        z, out = np.zeros(self.n), np.zeros(self.n)
        end = int(self.column[level + 1])
        z[self.column[level] : end] = coefficients
        free = int((self.sides[self.rows :] == 0).sum())
        SEARCH["turned_back"](*self._at("V tau"), end, free, self.n, z.ctypes.data, out.ctypes.data)
        return out
