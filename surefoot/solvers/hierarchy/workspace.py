"""Memory for hierarchies of one size, and the native functions that work in it."""

from __future__ import annotations

from dataclasses import dataclass
from time import perf_counter
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen.loops import BoundCode
from surefoot.errors import SurefootError
from surefoot.solvers.hierarchy.problem import StackedHierarchy
from surefoot.solvers.hierarchy.search import SEARCH

Sides = NDArray[np.int64]
_AT_ONCE = 8
"""Passes between two looks at the clock."""
_PATIENCE = 20
"""Sets without progress before the choice follows the numbers of the rows (Bland's rule, which cannot cycle)."""
_COARSER = (1.0, 1e2, 1e4, 1e6)
"""Where a search does not end, it begins anew, by number from the first set on, with all tolerances times these."""


class ActiveSetError(SurefootError):
    """The search for the binding inequalities did not end, or the problem cannot be solved.

    `outcome` is one of `OUTCOMES`.
    """

    exit_code = 1
    outcome: str = "no end"


OUTCOMES = ("no end", "pass limit", "time limit", "not finite", "crossed bounds")
"""Why a hierarchy has no solution."""


@dataclass(frozen=True)
class Limits:
    """When a search is broken off.

    Args:
        passes: Most sets of binding inequalities that are tried.
        seconds: Longest time [s], looked at every few passes; results then depend on the machine.
    """

    passes: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Tolerances:
    """Tolerances below which numbers count as zero.

    Args:
        rank: What is left of a row in the null space of those before it, relative to its length.
        feasible: How far an idle row may lie outside, relative to its length and that of x (from 1 to 1000).
        dual: A multiplier, relative to the largest of its level, both times the lengths of their rows.
    """

    rank: float = 1e-11
    feasible: float = 1e-11
    dual: float = 1e-12


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

    x: Array
    values: Array
    sides: Sides
    passes: int
    columns: NDArray[np.int64]
    damped: int = 0


class Workspace:
    """Arrays for hierarchies of one size, as `passes` describes them.

    Args:
        rows: Rows of all levels.
        n: Unknowns.
        starts: Where each level begins, and the number of rows.
        tolerances: What counts as zero.
        limits: When a search is broken off.
    """

    def __init__(
        self, rows: int, n: int, starts: tuple[int, ...], tolerances: Tolerances, limits: Limits | None = None
    ) -> None:
        self._bounded, self._end, self._left = limits or Limits(), np.inf, 0
        self.memory = np.zeros(5, dtype=np.int64)
        self.shape, self.rows, self.n, self.tolerances = (rows, n, starts), rows, n, tolerances
        levels, total = len(starts) - 1, rows + n
        self.starts = np.array(starts, dtype=np.int64)
        self.A, self.W, self.V, self.T = (np.zeros((k, n)) for k in (rows, rows, n, max(rows, n)))
        self.lower, self.upper, self.values, self.now, self.found = (np.zeros(total) for _ in range(5))
        self.record = np.zeros(levels + 1)
        self.lengths, self.limits, self.least = np.ones(total), np.zeros(rows), np.zeros(rows)
        self.x, self.start, self.point, self.tau, self.z = (np.zeros(n + 1) for _ in range(5))
        self.b, self.y = np.zeros(rows), np.zeros(total)
        self.sides, self.locked, self.open = (np.zeros(total, dtype=np.int64) for _ in range(3))
        self.first, self.column = (np.zeros(levels + 1, dtype=np.int64) for _ in range(2))
        self.order, self.active = (np.zeros(rows, dtype=np.int64) for _ in range(2))
        self.free = np.zeros(n, dtype=np.int64)
        self._levels, self._size = levels, 1.0
        problem = self._problem = self._at("A lower upper sides starts limits")
        self._search = self._search_call(tolerances, _PATIENCE)
        self._measured = (*self._at("A starts"), levels, n, tolerances.rank, *self._at("lengths limits"))
        self._equations = (
            *problem, levels, rows, n, *self._at("x values W b least V tau z T y first column order active free"),
        )  # fmt: skip
        self._factors = (*problem, tolerances.rank)
        self._factor_ends = self._at("lengths x W b least V tau first column order active free")
        self._turned, self._turned_ends = self._at("V tau"), self._at("z y")
        self._weak, (self._T,) = self._at("W first order column"), self._at("T")

    def _search_call(self, tolerances: Tolerances, patience: int) -> BoundCode:
        return SEARCH.bind(
            "search", *self._problem, tolerances.rank, self._levels, self.rows, self.n, *self._at(
                "start lengths x values W b least V tau z T y first column order active free point now found locked "
                "open record"
            ), tolerances.feasible, tolerances.dual, patience, *self._at("memory"), 0,
        )  # fmt: skip

    def _at(self, names: str) -> list[int]:
        return [getattr(self, name).ctypes.data for name in names.split()]

    def fits(self, problem: StackedHierarchy) -> bool:
        """Whether a hierarchy has the size of this memory."""
        return (*problem.A.shape, problem.starts) == self.shape

    def load(self, problem: StackedHierarchy) -> None:
        """Take the numbers of a hierarchy."""
        self.A[:], self.lower[:], self.upper[:] = problem.A, problem.lower, problem.upper

    def optimum(self, problem: StackedHierarchy, guess: Sides | None, start: Array | None) -> Optimum:
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
        return self.search(start)

    def search(self, start: Array | None) -> Optimum:
        """Solve the hierarchy in this memory, with `sides` as the guess.

        Args:
            start: (n,) a point to start from if the guess is wrong.

        Raises:
            ActiveSetError: The search did not end.
        """
        self.start[: self.n] = 0.0 if start is None else start
        passes = self.run()
        return Optimum(self.x[: self.n].copy(), self.values.copy(), self.sides.copy(), passes, self.column.copy())

    def run(self) -> int:
        """Solve the hierarchy in this memory, from `start` and `sides` on; `x`, `values` and `sides` are the optimum.

        Returns:
            Number of sets of binding inequalities that were tried.

        Raises:
            ActiveSetError: The search did not end.
        """
        limits = self._bounded
        self._left = self._most if limits.passes is None else limits.passes
        self._end = np.inf if limits.seconds is None else perf_counter() + limits.seconds
        return self._passes(self._search) or self._search_again()

    def _passes(self, call: BoundCode) -> int:
        """Passes of a search that led to the optimum; 0 if it does not end.

        Raises:
            ActiveSetError: A limit was reached.
        """
        self.memory[:] = 0
        most = min(self._most, self._left)
        step = most if self._end == np.inf else _AT_ONCE
        while 0 <= self.memory[0] < most:
            call.whole[-1] = min(int(self.memory[0]) + step, most)
            passes = int(call.run())
            if passes:
                return passes
            if perf_counter() > self._end:
                raise self._broken_off("time limit", f"{self._bounded.seconds:g} s")
        if most < self._most and self.memory[0] >= most:
            raise self._broken_off("pass limit", f"{self._bounded.passes} passes")
        self._left -= max(int(self.memory[0]), 0) if self._bounded.passes is not None else 0
        return 0

    def _broken_off(self, outcome: str, limit: str) -> ActiveSetError:
        error = ActiveSetError(
            f"the search for the binding inequalities was broken off after {limit}",
            evidence={"rows": self.rows, "unknowns": self.n},
            next_step="allow more, or begin with a guess from a similar problem",
        )
        error.outcome = outcome
        return error

    @property
    def _most(self) -> int:
        """Passes after which a search is taken not to end."""
        return 100 + 5 * (self.rows + self.n)

    def _search_again(self) -> int:
        """From nothing, and with coarser tolerances: for rows that nearly depend on each other."""
        t = self.tolerances
        for factor in _COARSER:
            self.sides[:], self.start[:] = 0, 0.0
            coarser = Tolerances(factor * t.rank, factor * t.feasible, factor * t.dual)
            passes = self._passes(self._search_call(coarser, -1))
            if passes:
                return passes
        raise ActiveSetError(
            "the search for the binding inequalities of a hierarchy did not end",
            evidence={"rows": self.rows, "unknowns": self.n},
            next_step="scale the rows alike; nearly dependent rows decide by rounding",
        )

    def equations(self, problem: StackedHierarchy, sides: Sides) -> None:
        """One pass, with what binds given.

        Args:
            problem: The hierarchy.
            sides: (rows + n,).
        """
        self.load(problem)
        self.sides[:] = sides
        SEARCH["measure"](*self._measured)
        self._size = SEARCH["solve_equations"](*self._equations)

    def factor_equations(self, problem: StackedHierarchy, levels: int) -> None:
        """Factorise the equations of the first levels alone."""
        self.load(problem)
        SEARCH["factor_equations"](*self._factors, levels, self.rows, self.n, *self._factor_ends)

    def multipliers(self, level: int) -> Array:
        """Multipliers (rows + n,) of what bound in the last pass, for the optimum of a level.

        Args:
            level: Which; the number of levels stands for the least norm.
        """
        SEARCH["multipliers"](
            *self._at("A lower upper sides lengths"), self._levels, self.rows, self.n,
            *self._at("x values W z first column order active"), level, self._size,
            self.tolerances.feasible, self.tolerances.dual, *self._at("y found"),
        )  # fmt: skip
        return self.found.copy()

    def weakest(self, level: int) -> float:
        """A lower bound of the singular values of a level, with whatever bound in the last pass; 0 if it lacks rank."""
        rank = self.column[level + 1] - self.column[level]
        if 0 < rank < self.first[level + 1] - self.first[level]:
            return 0.0
        inverse = SEARCH["weakest"](*self._weak, level, self.n, self._T)
        return float("inf") if inverse == 0.0 else float(inverse**-0.5)

    def gram(self, level: int) -> Array:
        """B_kkᵀ B_kk (rank, rank), the upper half, of a level: its eigenvalues are squared singular values."""
        rank = SEARCH["gram"](*self._weak, level, self.n, self._T)
        return self.T.ravel()[: rank * rank].reshape(rank, rank).T

    def direction(self, level: int, coefficients: Array) -> Array:
        """A combination of the directions (n,) of a level, after `factor_equations`; forgets the last z.

        Args:
            level: Which.
            coefficients: (rank of the level,).
        """
        begin, end = int(self.column[level]), int(self.column[level + 1])
        self.z[:begin] = 0.0
        self.z[begin:end] = coefficients
        SEARCH["turned_back"](*self._turned, end, self.n, self.n, *self._turned_ends)
        return self.y[: self.n].copy()
