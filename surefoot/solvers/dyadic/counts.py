"""Arithmetic operations of a dyadic reduction (Busenhart 1994, tables 4.1, 4.2, 6.17 and 6.18)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from surefoot.solvers.dyadic.order import Pattern, Stage, Structure


class OperationCounts(NamedTuple):
    """Numbers of floating point operations.

    Args:
        adds: Additions.
        subs: Subtractions.
        mults: Multiplications.
        divs: Divisions.
    """

    adds: int
    subs: int
    mults: int
    divs: int

    @property
    def total(self) -> int:
        """All operations."""
        return sum(self)


def gauss_counts(unknowns: int) -> OperationCounts:
    """Gaussian elimination as the tables have it: n³ additions and multiplications, whatever is zero."""
    return OperationCounts(unknowns**3, 0, unknowns**3, 0)


def reduction_counts(pattern: Pattern, explicit_rhs: bool, stages: Iterable[Stage]) -> OperationCounts:
    """The steps alone, all processors together: table 4.1, in the form (4.36) to (4.38).

    Args:
        pattern: (m, n + 1) of the implicit rows.
        explicit_rhs: Whether wishes can be other than 0.
        stages: The steps.
    """
    return _sum(count for stage in _stage_counts(Structure(pattern, explicit_rhs), stages) for count in stage)


def path_counts(pattern: Pattern, explicit_rhs: bool, stages: Iterable[Stage]) -> OperationCounts:
    """The steps that decide how long several processors take: the costliest one of each stage (table 4.2).

    Args:
        pattern: (m, n + 1) of the implicit rows.
        explicit_rhs: Whether wishes can be other than 0.
        stages: The steps.
    """
    per_stage = _stage_counts(Structure(pattern, explicit_rhs), stages)
    return _sum(max(stage, key=lambda counts: counts.total) for stage in per_stage)


def solution_counts(pattern: Pattern, explicit_rhs: bool, stages: Iterable[Stage]) -> OperationCounts:
    """The steps and the back substitution: a subtraction and a multiplication for each entry of U beside its diagonal.

    Args:
        pattern: (m, n + 1) of the implicit rows.
        explicit_rhs: Whether wishes can be other than 0.
        stages: The steps.
    """
    structure = Structure(pattern, explicit_rhs)
    steps = _sum(count for stage in _stage_counts(structure, stages) for count in stage)
    n = structure.n
    beside = sum((row & ((1 << n) - 1)).bit_count() - 1 for row in structure.rows[:n])
    return _sum([steps, OperationCounts(0, beside, beside, 0)])


def _stage_counts(structure: Structure, stages: Iterable[Stage]) -> list[list[OperationCounts]]:
    """For each stage the counts of its steps; the structure is reduced."""
    return [[_step_counts(structure, p, r) for p, r in stage] for stage in stages]


def _step_counts(structure: Structure, p: int, r: int) -> OperationCounts:
    """Table 4.1, with the entries right of p: of row p before the step, of row r after it."""
    row_p = structure.rows[p].bit_count() - 1
    row_r = structure.reduce(p, r).bit_count() - 1
    return OperationCounts(1 + row_r, row_p, 3 + row_r + row_p, 2)


def _sum(counts: Iterable[OperationCounts]) -> OperationCounts:
    total = (0, 0, 0, 0)
    for count in counts:
        total = tuple(a + b for a, b in zip(total, count, strict=True))  # type: ignore[assignment]
    return OperationCounts(*total)
