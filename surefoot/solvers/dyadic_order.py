"""The order of the steps of a dyadic reduction, chosen from the pattern alone (Busenhart 1994, 4.3.3).

A step fills the rows it takes part in. The greedy order takes next the step with the least cost to be expected from
what it fills in (4.55); k processors make up to k steps with different rows at a time.
"""

from __future__ import annotations

from collections.abc import Callable

from surefoot.errors import ShapeError, one_of
from surefoot.solvers.dyadic_pattern import Pair, Pattern, Structure

__all__ = ["ORDERS", "Stage", "fill_in_index", "step_order"]

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
        """What to sort by."""
        if pair not in self._known:
            self._known[pair] = fill_in_index(self._structure, *pair)
        return self._known[pair], -pair[1]

    def forget(self, columns: int) -> None:
        """J(p, r) depends on row p and on the implicit rows with an entry in column p: forget it for changed ones."""
        self._known = {pair: cost for pair, cost in self._known.items() if not columns >> pair[0] & 1}
