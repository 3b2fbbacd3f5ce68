"""A linear program in HiGHS that is kept from question to question.

    min costs · x   with   low ≤ x,   lower ≤ A x ≤ upper        [explain.model]

Only ends of rows differ between questions, so that a simplex method goes on from the last basis. Of many dense rows
only those are given to HiGHS that some optimum without them has violated: most never are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array

Places = NDArray[np.intp]
OPTIMAL, INFEASIBLE, UNKNOWN = "kOptimal", "kInfeasible", "kUnknown"
"""How a search ended, as HiGHS calls it."""
_OPTIONS: Mapping[str, Any] = {
    "output_flag": False,
    "threads": 1,
    "parallel": "off",
    "presolve": "off",
    "solver": "simplex",
    "dual_feasibility_tolerance": 1e-9,
}
_METHODS: tuple[Mapping[str, Any], ...] = (
    {},
    {"simplex_scale_strategy": 0},
    {"solver": "ipm"},
    {"solver": "ipm", "run_crossover": "off"},
)
_LEAST_TOLERANCE = 1e-10  # of HiGHS
_MANY_ENTRIES, _MANY_IN_ROW = 20_000, 15  # of A, from which HiGHS gets rows only once they are violated
_MOST_PIVOTS = 50  # for each row and column; searches that take more go round in circles
_ROUNDING_OF_RAYS = 1e-6  # sum of what rays leave of unknowns; HiGHS searches on for a cleaner one
_ROUNDING_OF_ENTRIES = 1e-9  # of a model; smaller ones are omitted
_NOTHING = 1e-10  # multipliers below this share of the largest are rounding


def outside(values: Array, lower: Array, upper: Array) -> Array:
    """How far values (rows,) lie above (+) or below (−) their ends (rows,)."""
    return values - np.minimum(np.maximum(values, lower), upper)


class Model:
    """A program, and where HiGHS stands with it.

    Args:
        rows: A, (rows, n), CSR.
        ends: Lower and upper ends (rows,).
        costs: (n,).
        low: (n,) least values of x.
        accuracy: Violation of a row that counts as none.
    """

    def __init__(self, rows: Any, ends: tuple[Array, Array], costs: Array, low: Array, accuracy: float) -> None:
        self.rows, self.ends, self.accuracy = rows, ends, max(accuracy, 1.5 * _LEAST_TOLERANCE)
        self._place = np.full(rows.shape[0], -1, dtype=np.int32)
        import highspy  # slow to import, and seldom needed

        self._highs, lp = highspy.Highs(), highspy.HighsLp()
        lp.num_col_, lp.col_cost_, lp.col_lower_, lp.col_upper_ = len(low), costs, low, np.full(len(low), np.inf)
        self._set_options(
            {**_OPTIONS, "primal_feasibility_tolerance": max(min(0.1 * accuracy, 1e-9), _LEAST_TOLERANCE)}
        )
        self._highs.passModel(lp)
        if rows.nnz <= max(_MANY_ENTRIES, _MANY_IN_ROW * rows.shape[0]):
            self._add(np.arange(rows.shape[0]))

    def set_ends(self, lower: Array, upper: Array) -> None:
        """Give rows other ends (rows,)."""
        at = np.flatnonzero(((lower != self.ends[0]) | (upper != self.ends[1])) & (self._place >= 0))
        self.ends = lower, upper
        if len(at):
            self._highs.changeRowsBounds(len(at), self._place[at], lower[at], upper[at])

    def attempts(self, *first: Mapping[str, Any]) -> Iterator[str]:
        """Solve with the options `first`, then by one method after the other, anew; an optimum keeps all rows."""
        for k, method in enumerate((*first, *_METHODS)):
            if k:
                self._highs.clearSolver()
                self._add(np.flatnonzero(self._place < 0))
            status = self._run(method)
            while status == OPTIMAL and (beyond := self._violated()).any():
                new = np.flatnonzero(beyond & (self._place < 0))
                if not len(new):
                    status = UNKNOWN
                    break
                self._add(new)
                status = self._run(method)
            yield status

    @property
    def x(self) -> Array:
        """(n,) at an optimum."""
        return np.array(self._highs.getSolution().col_value)

    @property
    def multipliers(self) -> Array:
        """(rows,) at an optimum, positive at upper ends."""
        return self._of_all_rows(self._highs.getSolution().row_dual)

    @property
    def ray(self) -> Array:
        """(rows,) multipliers that HiGHS takes for a proof that no x keeps the rows; zero if it has none."""
        _, there, ray = self._highs.getDualRay()
        return self._of_all_rows(ray if there else np.zeros(self._highs.getNumRow()))

    def _violated(self) -> NDArray[np.bool_]:
        return np.abs(outside(self.rows @ self.x, *self.ends)) > self.accuracy

    def _of_all_rows(self, duals: Any) -> Array:
        out, known = np.zeros(len(self._place)), self._place >= 0
        out[known] = -np.array(duals, dtype=np.float64)[self._place[known]]
        return np.where(np.abs(out) > _NOTHING * np.abs(out).max(initial=0.0), out, 0.0)

    def _add(self, at: Places) -> None:
        """Give rows to HiGHS."""
        rows, (lower, upper) = self.rows[at], self.ends
        self._place[at] = self._highs.getNumRow() + np.arange(len(at))
        starts, index = rows.indptr[:-1].astype(np.int32), rows.indices.astype(np.int32)
        self._highs.addRows(len(at), lower[at], upper[at], rows.nnz, starts, index, rows.data)

    def _run(self, method: Mapping[str, Any]) -> str:
        pivots = _MOST_PIVOTS * (self._highs.getNumRow() + self._highs.getNumCol())
        usual = {name: self._highs.getOptionValue(name)[1] for name in method}
        self._set_options({**method, "small_matrix_value": _ROUNDING_OF_RAYS, "simplex_iteration_limit": pivots})
        self._highs.run()
        self._set_options({**usual, "small_matrix_value": _ROUNDING_OF_ENTRIES})
        return str(self._highs.getModelStatus().name)

    def _set_options(self, options: Mapping[str, Any]) -> None:
        for name, value in options.items():
            self._highs.setOptionValue(name, value)
