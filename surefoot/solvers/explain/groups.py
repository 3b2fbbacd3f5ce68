"""Named groups of rows: what a person calls one constraint, and all of them as one block of scaled rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
import scipy.sparse as sparse
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError

INFINITE = 1e20
"""Ends of at least this size count as none, as in HiGHS."""
_SPARSE_BELOW = 0.1  # share of entries that are not zero below which rows are stored sparse
_EQUILIBRATIONS = 3
_NOISE, _NOISE_OF_ALL = 1e-12, 1e-14  # entries that are nothing beside the largest of a group, and of all
_NOISE_OF_ENDS = 1e-6  # of the largest end of an equation, what is its rounding


@dataclass(frozen=True, eq=False)
class Group:
    """One constraint as a person names it: lower ≤ A x ≤ upper, all its rows (over time, over joints) together.

    A relaxation of r lets every row leave its ends by r · `scale`; it is the largest violation of the rows, in `unit`.

    Args:
        name: Unique among the groups.
        A: (rows, n), dense or a sparse array of scipy; (n,) is one row.
        lower: (rows,) or a number; −inf where there is no such end. An equation has lower = upper.
        upper: The same above.
        weight: What one unit of relaxation costs among the others, positive.
        unit: Of a relaxation, as "Nm"; "" for a number without one.
        may_relax: False: nobody can give way here, as with laws of physics.
        scale: How far a row moves for one unit: (rows,) or a number, not negative. 0.01 with rows in m and unit "cm";
            0 for rows that stay as they are.
        place: Where or when, with its preposition, as "in phase 3" or "at t = 1.20 s".
    """

    name: str
    A: Any
    lower: ArrayLike
    upper: ArrayLike
    weight: float = 1.0
    unit: str = ""
    may_relax: bool = True
    scale: ArrayLike = 1.0
    place: str = ""

    @classmethod
    def bounds(cls, name: str, lower: ArrayLike, upper: ArrayLike, variables: int, **options: Any) -> Self:
        """Simple bounds: lower ≤ x ≤ upper.

        Args:
            name: Of the group.
            lower: (n,) or a number; −inf where there is none.
            upper: The same above.
            variables: n.
            **options: As in the constructor.
        """
        return cls(name, sparse.eye_array(variables, format="csr"), lower, upper, **options)


@dataclass(frozen=True, eq=False)
class ScaledRows:
    """All rows in one block, for x = columns · (unknowns of the block); the ends are wider by the tolerance.

    Args:
        A: (rows, n) of unit length (or zero), dense or CSR.
        lower: (rows,) ends, −inf for none.
        upper: (rows,) ends, inf for none; a row has one end only where the two exclude each other.
        group: (rows,) number of the group of each row.
        measure: (rows,) how far a row moves for one unit of relaxation of its group.
        size: (rows,) what 1 is in the numbers of the row before.
        origin: (rows,) number of the row among all rows as they were given.
        columns: (n,) what 1 is of each unknown.
        groups: How many groups there are.
    """

    A: Any
    lower: Array
    upper: Array
    group: NDArray[np.intp]
    measure: Array
    size: Array
    origin: NDArray[np.intp]
    columns: Array
    groups: int

    def only(self, chosen: NDArray) -> ScaledRows:
        """Some rows: by their numbers, or (rows,) whether a row is one of them."""
        parts = {name: getattr(self, name)[chosen] for name in _BY_ROW}
        return replace(self, **parts)

    def with_given_ends(self, tolerance: float) -> ScaledRows:
        """The rows with ends as given, without the tolerance; their middle where these cross by less than it."""
        lower, upper = self.lower + tolerance, self.upper - tolerance
        crossed = lower > upper
        lower[crossed] = upper[crossed] = 0.5 * (lower[crossed] + upper[crossed])
        return replace(self, lower=lower, upper=upper)


_BY_ROW = ("A", "lower", "upper", "group", "measure", "size", "origin")


def scaled_rows(groups: Sequence[Group], variables: int | None, tolerance: float) -> ScaledRows:
    """The rows of all groups in one block, scaled so that units do not matter.

    Rows and columns are equilibrated (Ruiz 2001), and rows then have unit length; the unknowns are measured by what
    the ends of rows ask of them (lower quartile). So a row counts as kept if it is violated by no more than `tolerance`
    times the largest change that a typical size of x makes in it. Entries of A below 1e-12 times the largest of their
    group are rounding, and count as zero.

    Args:
        groups: With names that differ.
        variables: n; as the first group has it if omitted.
        tolerance: Share of a row's size by which its ends are wider.

    Raises:
        ShapeError: Shapes do not fit, numbers are not finite, names repeat; with the group and its rows.
    """
    names = [group.name for group in groups]
    if repeated := sorted({name for name in names if names.count(name) > 1}):
        raise ShapeError("names of groups repeat", evidence={"names": repeated}, next_step="give each its own name")
    n = _unknowns(groups) if variables is None else int(variables)
    parts = [_checked(group, n) for group in groups]
    A = _stacked([part[0] for part in parts], n)
    lower, upper, moves = (np.concatenate([np.zeros(0), *(part[k] for part in parts)]) for k in (1, 2, 3))
    owner = np.repeat(np.arange(len(groups)), [part[0].shape[0] for part in parts])
    A, columns, size = _equilibrated(_without_noise(A, owner), lower, upper, owner)
    low, high = lower / size - tolerance, upper / size + tolerance
    rows = ScaledRows(A, low, high, owner, moves / size, size, np.arange(len(size)), columns, len(groups))
    return _uncrossed(rows)


def _unknowns(groups: Sequence[Group]) -> int:
    if not groups:
        raise ShapeError("there is no group", next_step="give at least one Group(name, A, lower, upper)")
    return int(np.shape(groups[0].A)[-1]) if np.ndim(groups[0].A) or sparse.issparse(groups[0].A) else 0


def _checked(group: Group, n: int) -> tuple[Any, Array, Array, Array]:
    """A, lower, upper and the scale of each row."""
    name = f"group `{group.name}`"
    A = group.A if sparse.issparse(group.A) else np.atleast_2d(np.asarray(group.A, dtype=float))
    if A.ndim != 2 or A.shape[1] != n:
        raise ShapeError(f"A of {name} must be (rows, {n})", evidence={"shape": A.shape})
    wrong = _rows_not_finite(A)
    if len(wrong):
        raise ShapeError(f"A of {name} is not finite", evidence={"rows": wrong.tolist()})
    lower, upper, scale = (_per_row(group, what, A.shape[0]) for what in ("lower", "upper", "scale"))
    lower, upper = np.where(lower <= -INFINITE, -np.inf, lower), np.where(upper >= INFINITE, np.inf, upper)
    wrong = np.isnan(lower) | np.isnan(upper) | (lower == np.inf) | (upper == -np.inf)
    if wrong.any():
        raise ShapeError(
            f"ends of {name} are NaN, or infinite on the wrong side",
            evidence={"rows": np.flatnonzero(wrong).tolist()},
            next_step="give −inf as lower or inf as upper end where there is none, and no NaN",
        )
    if not (np.isfinite(group.weight) and group.weight > 0.0):
        raise ShapeError(f"weight of {name} must be positive", evidence={"weight": group.weight})
    if not (np.isfinite(scale) & (scale >= 0.0)).all():
        raise ShapeError(f"scales of {name} must not be negative", evidence={"scale": scale.tolist()})
    return A, lower, upper, scale


def _per_row(group: Group, what: str, rows: int) -> Array:
    found = np.asarray(getattr(group, what), dtype=float)
    if found.shape not in ((), (rows,)):
        raise ShapeError(
            f"`{what}` of group `{group.name}` must be a number or ({rows},)", evidence={"shape": found.shape}
        )
    return np.array(np.broadcast_to(found, (rows,)))


def _rows_not_finite(A: Any) -> NDArray[np.intp]:
    if not sparse.issparse(A):
        return np.flatnonzero(~np.isfinite(A).all(axis=1))
    if A.format in ("csr", "csc", "coo") and np.isfinite(A.data).all():
        return np.zeros(0, dtype=np.intp)
    entries = sparse.coo_array(A)
    return np.unique(entries.coords[0][~np.isfinite(entries.data)])


def _stacked(parts: Sequence[Any], n: int) -> Any:
    """All rows, dense or as CSR, whichever is less work."""
    count = sum(part.shape[0] for part in parts)
    filled = sum(part.nnz if sparse.issparse(part) else np.count_nonzero(part) for part in parts)
    if filled < _SPARSE_BELOW * count * n or not count:
        return sparse.vstack([sparse.csr_array((0, n)), *map(sparse.csr_array, parts)], format="csr", dtype=float)
    return np.ascontiguousarray(np.concatenate([part.toarray() if sparse.issparse(part) else part for part in parts]))


def _without_noise(A: Any, owner: NDArray[np.intp]) -> Any:
    """A with zeros for entries that are nothing but rounding beside those of their group, or beside all."""
    largest = _largest(abs(A), 1)
    of_group = np.zeros(owner.max(initial=-1) + 1)
    np.maximum.at(of_group, owner, largest)
    least = np.maximum(_NOISE * of_group[owner], _NOISE_OF_ALL * largest.max(initial=0.0))
    if not sparse.issparse(A):
        A[np.abs(A) < least[:, None]] = 0.0
        return A
    A.data[np.abs(A.data) < np.repeat(least, np.diff(A.indptr))] = 0.0
    A.eliminate_zeros()
    return A


def _equilibrated(A: Any, lower: Array, upper: Array, owner: NDArray[np.intp]) -> tuple[Any, Array, Array]:
    """A scaled, what 1 is of each unknown (n,), and what 1 is in each row (rows,)."""
    row, column = np.ones(A.shape[0]), np.ones(A.shape[1])
    for _ in range(_EQUILIBRATIONS):
        now = _scaled(abs(A), row, column)
        row /= np.sqrt(_largest(now, 1))
        column /= np.sqrt(_largest(now, 0))
    A = _scaled(A, np.ones(len(row)), column)
    length = np.sqrt(np.asarray((A * A).sum(axis=1)))
    zero = length == 0.0
    typical = _typical(lower[~zero] / length[~zero], upper[~zero] / length[~zero])
    A = _scaled(A, 1.0 / np.where(zero, 1.0, length), np.ones(len(column)))
    size = np.where(zero, _size_of_zeros(length * typical, lower, upper, owner), length * typical)
    return A, column * typical, size


def _size_of_zeros(size: Array, lower: Array, upper: Array, owner: NDArray[np.intp]) -> Array:
    """What 1 is in rows of zeros (rows,): as in other rows of the group, or else the larger of their ends."""
    of_group = np.zeros(owner.max(initial=-1) + 1)
    np.maximum.at(of_group, owner, size)
    ends = np.maximum(*(np.where(np.isfinite(end), np.abs(end), 0.0) for end in (lower, upper)))
    return np.where(of_group[owner] > 0.0, of_group[owner], np.where(ends > 0.0, ends, 1.0))


def _scaled(A: Any, row: Array, column: Array) -> Any:
    """Rows and columns of A times factors."""
    if sparse.issparse(A):
        place = np.repeat(row, np.diff(A.indptr))
        return sparse.csr_array((A.data * place * column[A.indices], A.indices, A.indptr), shape=A.shape)
    out = A * row[:, None]
    out *= column
    return out


def _largest(A: Any, axis: int) -> Array:
    """Largest entry of each row (axis 1) or column (0) of entries that are not negative; 1 where there is none."""
    if 0 in A.shape:
        return np.ones(A.shape[1 - axis])
    found = A.max(axis=axis)
    found = found.toarray().ravel() if sparse.issparse(found) else found
    return np.where(found > 0.0, found, 1.0)


def _typical(lower: Array, upper: Array) -> float:
    """Lower quartile of the ends that are neither infinite nor zero but for rounding; 1 if there are none.

    Equations ask for x of their size, whose rounding must not count: it is no less than 1e-6 of their largest end.
    """
    ends = np.abs(np.concatenate([lower, upper]))
    found = ends[np.isfinite(ends) & (ends > 0.0)]
    if not len(found):
        return 1.0
    found = found[found > 1e-12 * np.median(found)]
    quartile = float(np.quantile(found, 0.25, method="nearest"))
    return max(quartile, _NOISE_OF_ENDS * float(np.abs(lower[lower == upper]).max(initial=0.0)))


def _uncrossed(rows: ScaledRows) -> ScaledRows:
    """Rows whose ends exclude each other become two rows with one end each."""
    crossed = rows.lower > rows.upper
    if not crossed.any():
        return rows
    order = np.concatenate([np.arange(len(crossed)), np.flatnonzero(crossed)])
    out = rows.only(order)
    out.lower[: len(crossed)][crossed] = -np.inf
    out.upper[len(crossed) :] = np.inf
    return out
