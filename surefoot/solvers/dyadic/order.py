"""The order of the steps of a dyadic reduction, chosen from the pattern alone (Busenhart 1994, 4.3.3).

A step fills the rows it takes part in. The greedy order takes next the step with the least cost to be expected from
what it fills in (4.55); k processors make up to k steps with different rows at a time.

Which entries of B can be non-zero, and how a reduction step changes that: no numbers needed (Busenhart 1994, 4.3.2).

Rows of B are counted from 0: rows 0 … n−1 are explicit (row p has its 1 in column p), rows n … n+m−1 implicit. Column n
is the right side. A set of columns is one integer, with bit j for column j.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import ShapeError, one_of

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


Stage = tuple[Pair, ...]
"""Steps that different processors make at the same time."""
ORDERS = ("columns", "greedy")
_SCALAR_PART = 5
"""Cost of (4.36) over that of one element of (4.37) or (4.38)."""


def step_order(
    pattern: Pattern, explicit_rhs: bool = True, order: str = "greedy", processors: int = 1
) -> tuple[Stage, ...]:
    """The stages of a reduction; with one processor each stage is one step.

    Args:
        pattern: (m, n + 1) where the implicit rows and their right sides can be non-zero.
        explicit_rhs: Whether wishes can be other than 0.
        order: "columns": column by column, rows in order. "greedy": the least fill-in index first, of equal ones the
            last row.
        processors: How many steps are made at a time, at most.
    """
    if order not in ORDERS:
        raise one_of("order", order, ORDERS)
    if processors < 1:
        raise ShapeError("a reduction needs at least one processor", evidence={"processors": processors})
    structure = Structure(pattern, explicit_rhs)
    urgency = _Greedy(structure) if order == "greedy" else _ByColumns()
    stages = []
    while pairs := structure.admissible():
        stage = _disjoint(sorted(pairs, key=urgency.key), processors)
        for p, r in stage:
            urgency.forget(structure.reduce(p, r))
        stages.append(stage)
    return tuple(stages)


def fill_in_index(structure: Structure, p: int, r: int) -> int:
    """What the fill-in of a step (p, r) is expected to cost until the end of the reduction: J(p, r), (4.49) and (4.55).

    Args:
        structure: Where B is non-zero now.
        p: Explicit row.
        r: Implicit row whose first entry is in column p.
    """
    rows, n = structure.rows, structure.n
    new_in_p, new_in_r = rows[r] & ~rows[p], rows[p] & ~rows[r]
    count_p = new_in_p.bit_count()
    total = new_in_r.bit_count()
    for i in range(n, n + structure.m):
        row = rows[i]
        if row >> p & 1:
            new = new_in_r if i == r else new_in_p & ~row
            total += count_p
            if new:
                total += _cost_of_new((row >> (p + 1)).bit_count(), new.bit_count(), new >> n & 1)
    return total


def _cost_of_new(before: int, new: int, in_right_side: int) -> int:
    """(1 + v_i) Δv_i plus (4.54) for one row: entries right of p before, new ones, and whether b is one of these."""
    return (1 + before) * new + _SCALAR_PART * (new - in_right_side) + new * (new - 1) // 2


def _disjoint(pairs: list[Pair], count: int) -> Stage:
    """The first pairs of a list of which no two share a row (each implicit row is in one pair only)."""
    chosen: dict[int, Pair] = {}
    for p, r in pairs:
        if len(chosen) == count:
            break
        chosen.setdefault(p, (p, r))
    return tuple(chosen.values())


class _ByColumns:
    """Column by column, rows in order."""

    key: Callable[[Pair], Pair] = staticmethod(lambda pair: pair)

    def forget(self, columns: int) -> None:
        """Nothing is remembered."""


class _Greedy:
    """The least fill-in index first, of equal ones the last row; kept until a row changes that it depends on."""

    def __init__(self, structure: Structure) -> None:
        self._structure = structure
        self._known: dict[Pair, int] = {}

    def key(self, pair: Pair) -> tuple[int, int]:
        """Sort key."""
        if pair not in self._known:
            self._known[pair] = fill_in_index(self._structure, *pair)
        return self._known[pair], -pair[1]

    def forget(self, columns: int) -> None:
        """J(p, r) depends on row p and on the implicit rows with an entry in column p: forget it for changed ones."""
        self._known = {pair: cost for pair, cost in self._known.items() if not columns >> pair[0] & 1}
