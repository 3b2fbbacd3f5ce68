"""Which groups can hold together: points or proofs, remembered."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_program import least_elastic
from surefoot.solvers.explain_projection import Verdict, outside, project

__all__ = ["Oracle"]

Numbers = NDArray[np.float64]
_MANY_UNKNOWNS, _FEW_ENTRIES = 600, 5


class Oracle:
    """Judges subsets of groups, with some of them relaxed.

    Args:
        rows: The rows of all groups, with ends that are wider by the tolerance.
        tolerance: That tolerance.

    Attributes:
        proofs: Multipliers (rows,) of all rows, of every proof so far.
        by_programs: Whether HiGHS is asked at once: for problems that are large and sparse, as those over time.
    """

    def __init__(self, rows: ScaledRows, tolerance: float) -> None:
        self.rows, self.tolerance = rows, tolerance
        self.proofs: list[Numbers] = []
        self._last = np.zeros(len(rows.columns))
        self.by_programs = _suits_programs(rows)

    def judge(self, groups: Sequence[int] | None = None, amounts: Numbers | None = None) -> Verdict:
        """Whether groups can hold together; multipliers are for all rows.

        Args:
            groups: Their numbers; all if left out.
            amounts: (groups,) how far groups are relaxed, in their units; rows then have a little more room, so that
                the least amount that helps does help.
        """
        at = np.arange(len(self.rows.upper)) if groups is None else np.flatnonzero(self.rows.rows_of(groups))
        rows = self.rows if groups is None else self.rows.only(at)
        room = 0.0 if amounts is None else amounts[rows.group] * rows.measure + 0.1 * self.tolerance
        found = self._found(rows, rows.lower - room, rows.upper + room)
        if found.multipliers is None:
            self._last = found.x
            return found
        multipliers = np.zeros(len(self.rows.upper))
        multipliers[at] = found.multipliers
        self.proofs.append(multipliers)
        return found._replace(multipliers=multipliers)

    def _found(self, rows: ScaledRows, lower: Numbers, upper: Numbers) -> Verdict:
        accuracy = 0.01 * self.tolerance
        found = None if self.by_programs else project(rows.A, lower, upper, self._last, accuracy)
        return self._by_program(rows, lower, upper) if found is None else found

    def _by_program(self, rows: ScaledRows, lower: Numbers, upper: Numbers) -> Verdict:
        """The same by HiGHS: the least sum of violations, and its multipliers."""
        found = least_elastic(rows.with_ends(lower, upper), np.ones(rows.groups), np.ones(len(lower)))
        if found is None:
            raise SurefootError("HiGHS finds no violation that is large enough, which cannot be")
        if np.abs(outside(rows.A @ found.x, lower, upper)).max(initial=0.0) <= 0.1 * self.tolerance:
            return Verdict(found.x)
        y = found.multipliers
        return Verdict(found.x, np.where(np.abs(y) > 1e-9 * np.abs(y).max(), y, 0.0), found.cost)


def _suits_programs(rows: ScaledRows) -> bool:
    """Few entries in each row, or many unknowns: bases of simplex methods are then nearly triangular."""
    if not sparse.issparse(rows.A):
        return False
    return bool(rows.A.shape[1] > _MANY_UNKNOWNS or rows.A.nnz < _FEW_ENTRIES * rows.A.shape[0])
