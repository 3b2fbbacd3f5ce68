"""Dyadic reduction of sparse indices: order and storage are planned once, from the pattern; machine code solves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.dyadic import NEGLIGIBLE_WISH, RANK_TOLERANCE, DyadicSolution, Index, overflow_error
from surefoot.solvers.dyadic_counts import OperationCounts, solution_counts
from surefoot.solvers.dyadic_layout import Layout, made_layout
from surefoot.solvers.dyadic_order import Stage, step_order
from surefoot.solvers.dyadic_pattern import Pattern, checked_pattern
from surefoot.solvers.dyadic_run import RUN

__all__ = ["DyadicPlan"]

_INVALID, _OUTSIDE = 1, 2


class _Call(NamedTuple):
    """What does not change from call to call.

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
