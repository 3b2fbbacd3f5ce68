"""Dyadic reduction of sparse indices: order and storage are planned once, from the pattern; machine code solves.

Row-wise sparse storage of B and the index vectors of a dyadic reduction (Busenhart 1994, 4.3.4).

Explicit and implicit rows are two vectors of numbers. A row holds all entries that are ever non-zero, in the order of
their columns, and last its right side, zero or not; the diagonal of U is not stored. A step is described by its rows,
the place of b_rp, and groups of entries that are consecutive in both rows.

The loops for `NativeCode` take these index vectors, and

    A (m n), b (m), z_d (n): the index                            d0 (n), d1 (m): its weights, changed on the way
    upper, lower: stored entries of explicit and implicit rows    upper_noise, lower_noise: bounds of their errors
    z (n), index (1): the solution

All but the index and its weights begin as zeros.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.codegen.loops import Floats, Ints, NativeCode
from surefoot.errors import ShapeError
from surefoot.solvers.dyadic.counts import OperationCounts, solution_counts
from surefoot.solvers.dyadic.order import Pattern, Stage, Structure, checked_pattern, step_order
from surefoot.solvers.dyadic.solve import NEGLIGIBLE_WISH, RANK_TOLERANCE, DyadicSolution, Index, overflow_error

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


_INVALID, _OUTSIDE = 1, 2


class _Call(NamedTuple):
    """Data that stays the same from call to call.

    Args:
        fixed: Sizes and the addresses of the index vectors.
        offsets: Where the arrays of numbers begin in their common memory, in bytes.
        zeros: What those after b, z_d, d0 and d1 begin with.
    """

    fixed: tuple[float, ...]
    offsets: tuple[int, ...]
    zeros: Array


@dataclass(frozen=True, eq=False)
class DyadicPlan:
    """How indices of one pattern are minimised (Busenhart 1994, 4.3): steps, storage, numbers of operations.

        plan = DyadicPlan(pattern)
        found = plan.solve(A, b, z_d, d0, d1)
        found.z, found.index

    Args:
        pattern: (m, n + 1) where [A b] can be non-zero.
        explicit_rhs: Whether wishes z_d can be other than 0.
        order: "greedy": by the least fill-in to be expected; "columns": column by column, rows in order.
        processors: How many steps of a stage may be made at a time; `solve` makes them one after the other.

    Raises:
        ShapeError: The pattern is not a matrix of bool, or there is no processor.
        UnknownNameError: There is no such order.
    """

    pattern: Pattern
    explicit_rhs: bool = True
    order: str = "greedy"
    processors: int = 1

    def __post_init__(self) -> None:
        object.__setattr__(self, "pattern", checked_pattern(self.pattern))
        _ = self.steps  # planned here and now, which also refuses a wrong order

    def __getstate__(self) -> dict[str, Any]:
        """Copies do not take the addresses."""
        return {name: value for name, value in self.__dict__.items() if name != "_call"}

    @cached_property
    def steps(self) -> tuple[Stage, ...]:
        """Stages of steps (p, r), rows of B counted from 0: explicit row p < n, implicit row n ≤ r < n + m."""
        return step_order(self.pattern, self.explicit_rhs, self.order, self.processors)

    @cached_property
    def counts(self) -> OperationCounts:
        """Operations of a solution in the form (4.36) to (4.38), back substitution included (table 6.17)."""
        return solution_counts(self.pattern, self.explicit_rhs, self.steps)

    @cached_property
    def layout(self) -> Layout:
        """Storage and index vectors."""
        return made_layout(self.pattern, self.explicit_rhs, self.steps)

    def solve(self, A: ArrayLike, b: ArrayLike, z_d: ArrayLike, d0: ArrayLike, d1: ArrayLike) -> DyadicSolution:
        """The minimum of an index, as `dyadic_solve` finds it.

        Args:
            A: (m, n) implicit rows.
            b: (m,) their right sides: A z + b = 0 is wanted.
            z_d: (n,) wishes.
            d0: (n,) or a number: weights of the wishes, not negative.
            d1: (m,) or a number: weights of the rules, not negative.

        Raises:
            ShapeError: Shapes do not fit, numbers are not finite or lead to such, weights are negative, entries lie
                outside the pattern.
        """
        m, n = self.pattern.shape[0], self.pattern.shape[1] - 1
        given = (
            _numbers(A, (m, n), "A"), _numbers(b, (m,), "b"), _numbers(z_d, (n,), "z_d"), _weights(d0, n, "d0"),
            _weights(d1, m, "d1"),
        )  # fmt: skip
        fixed, offsets, zeros = self._call
        memory = np.concatenate((*given[1:], zeros))
        start = memory.ctypes.data
        status = RUN["run_plan"](given[0].ctypes.data, *fixed, *[start + at for at in offsets])
        if status:
            self._refuse(status, *given)
        return DyadicSolution(memory[-n - 1 : -1].copy(), float(memory[-1]), memory[m + n : m + 2 * n].copy())

    @cached_property
    def _call(self) -> _Call:
        m, n = self.pattern.shape[0], self.pattern.shape[1] - 1
        at = self.layout
        fixed = (
            n, m, *_addresses(at.upper_start, at.upper_column, at.lower_start, at.entry_from, at.entry_to),
            len(at.entry_to), *_addresses(at.zero_rows), len(at.zero_rows), int(self.explicit_rhs), *_addresses(
                at.step_p, at.step_r, at.step_rp, at.step_groups, at.group_p, at.group_r, at.group_length
            ), len(at.step_p), RANK_TOLERANCE, NEGLIGIBLE_WISH,
        )  # fmt: skip
        upper, lower = int(at.upper_start[-1]), int(at.lower_start[-1])
        sizes = [m, n, n, m, upper, lower, upper, lower, n, 1]
        *offsets, size = accumulate(sizes, initial=0)
        return _Call(fixed, tuple(8 * k for k in offsets), np.zeros(size - offsets[4]))

    def _refuse(self, status: int, A: Array, b: Array, z_d: Array, d0: Array, d1: Array) -> None:
        """Say what a status of `run_plan` means."""
        if status == _INVALID:
            Index(A, b, z_d, d0, d1)  # raises, and says where
        if status == _OUTSIDE:
            outside = np.argwhere((np.column_stack([A, b]) != 0.0) & ~self.pattern)[:8]
            raise ShapeError(
                "entries are not zero where the pattern is",
                evidence={"at": [tuple(map(int, k)) for k in outside] or "z_d, without explicit_rhs"},
                next_step="make a plan from a pattern of all entries that can be non-zero",
            )
        raise overflow_error()


def _numbers(values: ArrayLike, shape: tuple[int, ...], name: str) -> Array:
    found = np.asarray(values, dtype=float, order="C")
    if found.shape != shape:
        raise ShapeError(f"`{name}` must be {shape}", evidence={"shape": found.shape})
    return found


def _weights(values: ArrayLike, count: int, name: str) -> Array:
    return np.full(count, float(values)) if np.ndim(values) == 0 else _numbers(values, (count,), name)  # type: ignore[arg-type]


def _addresses(*arrays: NDArray[np.int64]) -> tuple[int, ...]:
    return tuple(array.ctypes.data for array in arrays)


def all_within(x: Floats, count: int, least: float) -> int:
    """Whether all numbers are finite, and none is below the least."""
    good = 0
    for i in range(count):
        if x[i] >= least and x[i] <= 1.7976931348623157e308:
            good += 1
    return 1 if good == count else 0


def non_zeros(x: Floats, count: int) -> int:
    """How many numbers are not 0."""
    found = 0
    for i in range(count):
        if x[i] != 0.0:
            found += 1
    return found


def non_zeros_at(x: Floats, places: Ints, count: int) -> int:
    """How many numbers at some places are not 0."""
    found = 0
    for k in range(count):
        if x[places[k]] != 0.0:
            found += 1
    return found


def reduction_step(
    p: int, r: int, at: int, first: int, last: int, group_p: Ints, group_r: Ints, group_length: Ints, tolerance: float,
    negligible: float, d0: Floats, d1: Floats, upper: Floats, lower: Floats, upper_noise: Floats, lower_noise: Floats
) -> None:  # fmt: skip
    """The step (p, r) of (4.36) to (4.38), with row p as a weighted mean; b_rp is the entry at a place."""
    b_rp = lower[at]
    weight = d1[r]
    total = d0[p] + weight * b_rp * b_rp
    noise = lower_noise[at]
    if weight == 0.0 or total == 0.0:
        return
    if abs(b_rp) <= tolerance * noise and d0[p] <= negligible * weight * noise * noise:
        return
    kept = d0[p] / total
    gain = weight / total * b_rp
    d0[p] = total
    d1[r] = kept * weight
    for g in range(first, last):
        i = group_p[g]
        j = group_r[g]
        for k in range(group_length[g]):
            old_p = upper[i + k]
            old_r = lower[j + k]
            noise_p = upper_noise[i + k]
            noise_r = lower_noise[j + k]
            upper[i + k] = kept * old_p + gain * old_r
            lower[j + k] = old_r - b_rp * old_p
            upper_noise[i + k] = max(kept * noise_p, abs(gain) * noise_r)
            lower_noise[j + k] = max(noise_r, abs(b_rp) * max(noise_p, abs(old_p)))


def back_substitution(upper: Floats, upper_start: Ints, upper_column: Ints, n: int, z: Floats) -> None:
    """U z = z' (4.71), from the last row to the first."""
    for i in range(n - 1, -1, -1):
        last = upper_start[i + 1] - 1
        value = -upper[last]
        for k in range(upper_start[i], last):
            value -= upper[k] * z[upper_column[k]]
        z[i] = value


def are_valid(A: Floats, b: Floats, z_d: Floats, d0: Floats, d1: Floats, n: int, m: int) -> int:
    """Whether all numbers are finite and no weight is negative."""
    least = -1.7976931348623157e308
    good = all_within(A, m * n, least) + all_within(b, m, least) + all_within(z_d, n, least)
    return 1 if good + all_within(d0, n, 0.0) + all_within(d1, m, 0.0) == 5 else 0


def run_plan(
    A: Floats, n: int, m: int, upper_start: Ints, upper_column: Ints, lower_start: Ints, entry_from: Ints,
    entry_to: Ints, entries: int, zero_rows: Ints, zeros: int, explicit_rhs: int, step_p: Ints, step_r: Ints,
    step_rp: Ints, step_groups: Ints, group_p: Ints, group_r: Ints, group_length: Ints, steps: int, tolerance: float,
    negligible: float, b: Floats, z_d: Floats, d0: Floats, d1: Floats, upper: Floats, lower: Floats,
    upper_noise: Floats, lower_noise: Floats, z: Floats, index: Floats
) -> int:  # fmt: skip
    """Solve; returns 0, or 1: numbers are not valid, 2: entries outside the pattern, 3: the result is not finite."""
    if not are_valid(A, b, z_d, d0, d1, n, m):
        return 1
    outside = non_zeros(A, m * n) - non_zeros_at(A, entry_from, entries) + non_zeros_at(b, zero_rows, zeros)
    if outside > 0 or (explicit_rhs == 0 and non_zeros(z_d, n) > 0):
        return 2
    for k in range(entries):
        lower[entry_to[k]] = A[entry_from[k]]
    for i in range(n):
        upper[upper_start[i + 1] - 1] = -z_d[i]
    for i in range(m):
        lower[lower_start[i + 1] - 1] = b[i]
    for s in range(steps):
        reduction_step(
            step_p[s], step_r[s], step_rp[s], step_groups[s], step_groups[s + 1], group_p, group_r, group_length,
            tolerance, negligible, d0, d1, upper, lower, upper_noise, lower_noise
        )  # fmt: skip
    back_substitution(upper, upper_start, upper_column, n, z)
    for i in range(m):
        last = lower[lower_start[i + 1] - 1]
        index[0] += 0.5 * d1[i] * last * last
    return 0 if all_within(z, n, -1.7976931348623157e308) + all_within(index, 1, 0.0) == 2 else 3


_FUNCTIONS = (all_within, non_zeros, non_zeros_at, reduction_step, back_substitution, are_valid, run_plan)
RUN = NativeCode(_FUNCTIONS, entries=["run_plan"])
