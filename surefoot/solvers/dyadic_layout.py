"""Row-wise sparse storage of B and the index vectors of a dyadic reduction (Busenhart 1994, 4.3.4).

Explicit and implicit rows are two vectors of numbers. A row holds all entries that are ever non-zero, in the order of
their columns, and last its right side, zero or not; the diagonal of U is not stored. A step is described by its rows,
the place of b_rp, and groups of entries that are consecutive in both rows.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.dyadic_order import Stage
from surefoot.solvers.dyadic_pattern import Pattern, Structure

__all__ = ["Layout", "Whole", "made_layout", "row_wise"]

Whole = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Layout:
    """Where everything is. All are vectors of int64; s steps, g groups, counted from 0.

    Args:
        upper_start: (n + 1,) where the explicit rows begin.
        upper_column: Columns of the stored entries of the explicit rows; n: right side.
        lower_start: (m + 1,) where the implicit rows begin.
        entry_from: (non-zeros of A,) their places in A, row after row.
        entry_to: (non-zeros of A,) their places in the implicit rows.
        zero_rows: Implicit rows whose right side must be 0.
        step_p: (s,) I_p: the explicit row.
        step_r: (s,) I_r: the implicit row, counted from 0.
        step_rp: (s,) I_rp: the place of b_rp.
        step_groups: (s + 1,) I_D: where the groups of each step begin.
        group_p: (g,) J_Dp: the first entry in the explicit rows.
        group_r: (g,) J_Dr: the first entry in the implicit rows.
        group_length: (g,) J_Dn.
    """

    upper_start: Whole
    upper_column: Whole
    lower_start: Whole
    entry_from: Whole
    entry_to: Whole
    zero_rows: Whole
    step_p: Whole
    step_r: Whole
    step_rp: Whole
    step_groups: Whole
    group_p: Whole
    group_r: Whole
    group_length: Whole


def row_wise(pattern: NDArray[np.bool_]) -> tuple[Whole, Whole]:
    """Row pointers (rows + 1,) and columns (non-zeros,), counted from 0, of a matrix (4.58).

    Args:
        pattern: (rows, columns) where it is non-zero.
    """
    pointers = np.concatenate([[0], np.cumsum(np.count_nonzero(pattern, axis=1))])
    return pointers.astype(np.int64), np.nonzero(pattern)[1].astype(np.int64)


def made_layout(pattern: Pattern, explicit_rhs: bool, stages: Iterable[Stage]) -> Layout:
    """The storage and the index vectors for a list of steps.

    Args:
        pattern: (m, n + 1) of the implicit rows.
        explicit_rhs: Whether wishes can be other than 0.
        stages: The steps.
    """
    n = pattern.shape[1] - 1
    steps = [pair for stage in stages for pair in stage]
    unions, ever = _filled(pattern, explicit_rhs, steps)
    stored = _matrix([row | 1 << n for row in ever], n + 1)
    stored[np.arange(n), np.arange(n)] = False
    upper_start, upper_column = row_wise(stored[:n])
    upper_at, lower_at = _places(stored[:n]), _places(stored[n:])
    groups = [
        _groups(upper_at[p], lower_at[r - n], _columns(union)) for (p, r), union in zip(steps, unions, strict=True)
    ]
    group_p, group_r, group_length = _vectors([group for of_step in groups for group in of_step], 3)
    step_p, step_r = _vectors(steps, 2)
    row, column = np.nonzero(pattern[:, :n])
    return Layout(
        upper_start=upper_start,
        upper_column=upper_column,
        lower_start=row_wise(stored[n:])[0],
        entry_from=row * n + column,
        entry_to=lower_at[row, column],
        zero_rows=np.flatnonzero(~pattern[:, n]),
        step_p=step_p,
        step_r=step_r - n,
        step_rp=lower_at[step_r - n, step_p],
        step_groups=np.cumsum([0, *map(len, groups)], dtype=np.int64),
        group_p=group_p,
        group_r=group_r,
        group_length=group_length,
    )


def _filled(pattern: Pattern, explicit_rhs: bool, steps: Iterable[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """For each step the columns right of p that it works on; for each row all columns that are ever non-zero."""
    structure = Structure(pattern, explicit_rhs)
    ever, unions = list(structure.rows), []
    for p, r in steps:
        both = structure.reduce(p, r)
        ever[p] |= both
        ever[r] |= both
        unions.append(both ^ (1 << p))
    return unions, ever


def _matrix(rows: list[int], columns: int) -> NDArray[np.bool_]:
    return np.array([[row >> j & 1 for j in range(columns)] for row in rows], dtype=bool).reshape(len(rows), columns)


def _places(stored: NDArray[np.bool_]) -> Whole:
    """Where each entry of a matrix is stored; −1: nowhere."""
    return np.where(stored, np.cumsum(stored).reshape(stored.shape) - 1, -1)


def _columns(bits: int) -> list[int]:
    return [j for j in range(bits.bit_length()) if bits >> j & 1]


def _groups(in_p: Whole, in_r: Whole, columns: list[int]) -> list[list[int]]:
    """(first in p, first in r, length) of runs of columns that follow each other in both rows."""
    groups: list[list[int]] = []
    for j in columns:
        p, r = int(in_p[j]), int(in_r[j])
        if groups and [p, r] == [groups[-1][0] + groups[-1][2], groups[-1][1] + groups[-1][2]]:
            groups[-1][2] += 1
        else:
            groups.append([p, r, 1])
    return groups


def _vectors(rows: list[Any], width: int) -> list[Whole]:
    """The columns of a table."""
    return [np.ascontiguousarray(column) for column in np.array(rows, dtype=np.int64).reshape(-1, width).T]
