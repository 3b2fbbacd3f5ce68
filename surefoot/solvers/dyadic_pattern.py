"""Which entries of B can be non-zero, and how a reduction step changes that: no numbers needed (Busenhart 1994, 4.3.2).

Rows of B are counted from 0: rows 0 … n−1 are explicit (row p has its 1 in column p), rows n … n+m−1 implicit. Column n
is the right side. A set of columns is one integer, with bit j for column j.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ShapeError

__all__ = ["Pair", "Pattern", "Structure", "checked_pattern"]

Pattern = NDArray[np.bool_]
"""(m, n + 1): where the implicit rows and their right sides can be non-zero."""
Pair = tuple[int, int]
"""(p, r): a reduction step, in which explicit row p makes the first entry of implicit row r zero."""


def checked_pattern(pattern: NDArray) -> Pattern:
    """A pattern that cannot be changed.

    Args:
        pattern: (m, n + 1) of bool.

    Raises:
        ShapeError: It is not a matrix of bool, or has no column of an unknown.
    """
    given = np.asarray(pattern)
    if given.ndim != 2 or given.shape[1] < 2 or given.dtype != np.bool_:
        raise ShapeError(
            "a pattern must be a matrix (m, n + 1) of bool",
            evidence={"shape": given.shape, "type": given.dtype},
            next_step="give e.g. np.column_stack([A, b]) != 0, with all entries that are ever non-zero",
        )
    found = given.copy()
    found.setflags(write=False)
    return found


class Structure:
    """Which entries of B are non-zero, at some point of a reduction.

    Args:
        pattern: (m, n + 1) of the implicit rows.
        explicit_rhs: Whether wishes can be other than 0.
    """

    def __init__(self, pattern: Pattern, explicit_rhs: bool) -> None:
        m, columns = pattern.shape
        self.n, self.m = columns - 1, m
        right_side = explicit_rhs << self.n
        self.rows = [1 << p | right_side for p in range(self.n)] + [_bits(row) for row in pattern]
        """The non-zero columns of each row of B."""

    def pivot(self, r: int) -> int:
        """The column of the first entry of a row; n or −1 if there is nothing left to reduce."""
        row = self.rows[r]
        return (row & -row).bit_length() - 1

    def admissible(self) -> list[Pair]:
        """The steps that can be made now: one for each implicit row that is not reduced."""
        pairs = ((self.pivot(r), r) for r in range(self.n, self.n + self.m))
        return [(p, r) for p, r in pairs if 0 <= p < self.n]

    def reduce(self, p: int, r: int) -> int:
        """Make a step: both rows then have all columns that one of them had. Returns these, p included.

        Args:
            p: Explicit row.
            r: Implicit row whose first entry is in column p.
        """
        both = self.rows[p] | self.rows[r]
        self.rows[p], self.rows[r] = both, both ^ (1 << p)
        return both


def _bits(row: NDArray[np.bool_]) -> int:
    """A set of columns as one integer."""
    return sum(1 << int(j) for j in np.flatnonzero(row))
