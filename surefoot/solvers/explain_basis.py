"""Bases from which HiGHS goes on: optimal for one relaxation, and dual feasible for any other.

Where the least share t of what is violated is found, its multipliers y are those of a proof. Divided by what they ask
of a group, Σ |y| measure, they are dual feasible for the least relaxation of this group alone; for the least cost of
many they are so if they are divided by the largest of what they ask of a group for its cost. The basis is that of t,
with

    t                      ↔  r of the group that bears the conflict                                  [explain.swap]
    the slack of a bond    ↔  s at the end that y names, for the rows of all groups that may give way

so that a dual simplex method (Lemke 1954) needs no first phase: only rows and bounds that x leaves are to be mended.
The other way round, the optimum of one relaxation becomes a basis with t, from which another begins: of all bases that
are known, at that whose multipliers bound it best.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import highspy
import numpy as np
from highspy import HighsBasisStatus
from numpy.typing import NDArray

__all__ = ["Basis", "Relief", "basis_of", "extended", "go_to", "swapped"]

Numbers = NDArray[np.float64]
Places = NDArray[np.int32]


class Relief(NamedTuple):
    """Columns with which rows of a group give way.

    Args:
        rows: (k,) numbers of the rows; those with two ends come twice.
        sides: (k,) 1 for s⁺ (upper ends), −1 for s⁻.
        columns: (k,) of s.
        moves: (k,) how far a row moves for one unit of the group.
        shared: Column of r for groups of several rows, in units that move some row by 1; None for one row.
        bonds: (k,) rows of the model that bind s to r; −1 where there is none.
        places: (k,) rows of the model; −1 for bounds of x.
        unknowns: (k,) columns of the x that are bounded; −1 for others.
    """

    rows: NDArray[np.intp]
    sides: Numbers
    columns: Places
    moves: Numbers
    shared: int | None
    bonds: Places
    places: Places
    unknowns: Places


class Basis(NamedTuple):
    """Which columns and rows of a model are basic, or at which end.

    Args:
        columns: Of x, t and reliefs.
        rows: Of the rows of the model, and of bonds.
        multipliers: (rows,) of the proof.
    """

    columns: list[HighsBasisStatus]
    rows: list[HighsBasisStatus]
    multipliers: Numbers


def basis_of(highs: highspy.Highs, shape: tuple[int, int], reliefs: Iterable[Relief], proof: Numbers) -> Basis | None:
    """The present basis without reliefs, with t, the last column before them; None if there is no such basis.

    Where one group bears the conflict, t takes the place of its r, and bonds that of their s [explain.swap]. If s and
    its bond are basic, the multiplier of the row is zero: the row takes the place of s.

    Args:
        highs: At an optimum.
        shape: Rows and columns of the model without reliefs.
        reliefs: Those of the model.
        proof: (rows,) multipliers there.
    """
    basic, found = HighsBasisStatus.kBasic, highs.getBasis()
    columns, rows = list(found.col_status), list(found.row_status)
    besides = (columns[shape[1] :] + rows[shape[0] :]).count(basic)
    for relief in reliefs:
        parts = (part.tolist() for part in (relief.columns, relief.bonds, relief.places, relief.unknowns))
        for s, bond, row, x in zip(*parts, strict=True):
            if bond >= 0 and columns[s] == rows[bond] == basic:
                part, at = (columns, x) if x >= 0 else (rows, row)
                besides -= part[at] != basic
                part[at] = basic
    besides += columns[shape[1] - 1] == basic
    if not found.valid or besides != len(rows) - shape[0] + 1:
        return None
    columns[shape[1] - 1] = basic
    return Basis(columns[: shape[1]], rows[: shape[0]], proof)


def extended(basis: Basis, shape: tuple[int, int]) -> Basis:
    """The basis of a model with more columns, which are zero, and more rows, which do not bind.

    Args:
        basis: At which t is least.
        shape: Rows and columns of the model as it is now.
    """
    rows = basis.rows + [HighsBasisStatus.kBasic] * (shape[0] - len(basis.rows))
    columns = basis.columns + [HighsBasisStatus.kLower] * (shape[1] - len(basis.columns))
    return Basis(columns, rows, basis.multipliers)


def swapped(basis: Basis, whole: int, bearer: Relief, reliefs: Iterable[Relief]) -> Basis:
    """The basis at which one group bears the conflict [explain.swap]; as it is if the proof asks nothing of this group.

    Args:
        basis: At which t is least, with columns and rows for all reliefs.
        whole: Column of t.
        bearer: Of the group that bears it.
        reliefs: Of all groups that may give way.
    """
    columns, rows, y = list(basis.columns), list(basis.rows), basis.multipliers
    asked = np.maximum(bearer.sides * y[bearer.rows], 0.0) * bearer.moves
    if not asked.any():
        return basis
    columns[whole] = HighsBasisStatus.kLower
    columns[int(bearer.columns[asked.argmax()]) if bearer.shared is None else bearer.shared] = HighsBasisStatus.kBasic
    for relief in reliefs:
        named = (relief.bonds >= 0) & (relief.sides * y[relief.rows] > 0.0)
        for column, bond in zip(relief.columns[named].tolist(), relief.bonds[named].tolist(), strict=True):
            columns[column], rows[bond] = HighsBasisStatus.kBasic, HighsBasisStatus.kUpper
    return Basis(columns, rows, y)


def go_to(highs: highspy.Highs, basis: Basis) -> None:
    """Let HiGHS begin at a basis.

    Args:
        highs: With a model of this shape.
        basis: Where to begin.
    """
    out = highspy.HighsBasis()
    out.col_status, out.row_status, out.valid, out.alien = basis.columns, basis.rows, True, False
    highs.setBasis(out)
