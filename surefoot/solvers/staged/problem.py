"""The staged nonlinear program: what optimal control hands to a solver, as arrays only.

    minimise    Σ_k f_k(x_k, u_k, p)
    subject to  F_k(x_k, u_k, p) − x_{k+1} = 0            (gaps,     k = 0 … N−1)
                lower_k ≤ c_k(x_k, u_k, p) ≤ upper_k      (rows,     k = 0 … N; equal bounds make an equation)
                lower ≤ e(x_0, x_N, p) ≤ upper            (end rows: periodicity, symmetry)
                lower ≤ w ≤ upper                         (bounds; equal bounds fix a variable)

The variables of all stages and the global ones (durations, parameters) are one vector
w = (x_0, u_0, x_1, u_1, …, x_N, u_N, p). One call evaluates a quantity on the whole horizon, so that stages of one
structure are one batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError


@dataclass(frozen=True)
class Sizes:
    """Numbers of variables and rows.

    Attributes:
        states: nx_k of the N + 1 stages.
        controls: nu_k of the N + 1 stages; the last is 0 where a problem ends in a state.
        rows: number of rows c_k of the N + 1 stages.
        parameters: number of global variables p.
        end_rows: number of rows that couple x_0, x_N and p.
    """

    states: tuple[int, ...]
    controls: tuple[int, ...]
    rows: tuple[int, ...]
    parameters: int = 0
    end_rows: int = 0

    @cached_property
    def stages(self) -> int:
        """N + 1."""
        return len(self.states)

    @cached_property
    def starts(self) -> NDArray[np.intp]:
        """Place of x_k in w, (N + 2,); the last is the place of p."""
        return np.concatenate([[0], np.cumsum(np.add(self.states, self.controls))]).astype(np.intp)

    @cached_property
    def row_starts(self) -> NDArray[np.intp]:
        """Place of the rows of stage k among all rows, (N + 2,)."""
        return np.concatenate([[0], np.cumsum(self.rows)]).astype(np.intp)

    @cached_property
    def gap_starts(self) -> NDArray[np.intp]:
        """Place of gap k among all gaps, (N + 1,)."""
        return np.concatenate([[0], np.cumsum(self.states[1:])]).astype(np.intp)

    @cached_property
    def variables(self) -> int:
        """Length of w."""
        return int(self.starts[-1]) + self.parameters

    @cached_property
    def gaps(self) -> int:
        """Number of all gaps."""
        return int(self.gap_starts[-1])

    @property
    def constraints(self) -> int:
        """Number of gaps, rows and end rows."""
        return self.gaps + int(self.row_starts[-1]) + self.end_rows

    def block(self, k: int) -> NDArray[np.intp]:
        """Places of (x_k, u_k, p) in w."""
        return np.concatenate(
            [np.arange(self.starts[k], self.starts[k + 1]), np.arange(self.starts[-1], self.variables)]
        )

    @cached_property
    def end_block(self) -> NDArray[np.intp]:
        """Places of (x_0, x_N, p) in w."""
        first, last, p = self.starts[0], self.starts[-2], np.arange(self.starts[-1], self.variables)
        parts = [np.arange(self.states[0]) + first, np.arange(self.states[-1]) + last, p]
        return np.concatenate(parts).astype(np.intp)


@dataclass(frozen=True)
class Values:
    """Cost and constraints at w: `gaps` F_k − x_{k+1}, `rows` and `end_rows` one after the other, stage by stage."""

    cost: float
    gaps: Array
    rows: Array
    end_rows: Array


@dataclass(frozen=True)
class Derivatives:
    """First derivatives at w.

    Attributes:
        gradient: of the cost, (variables,).
        gaps: ∂F_k/∂(x_k, u_k, p), N blocks (nx_{k+1}, nx_k + nu_k + np); the −1 of x_{k+1} is understood.
        rows: ∂c_k/∂(x_k, u_k, p), N + 1 blocks (rows_k, nx_k + nu_k + np).
        end_rows: ∂e/∂(x_0, x_N, p), (end_rows, nx_0 + nx_N + np).
    """

    gradient: Array
    gaps: list[Array]
    rows: list[Array]
    end_rows: Array


class StagedFunctions(Protocol):
    """Evaluates a staged program on the whole horizon. Arrays returned may be overwritten by the next call."""

    def values(self, w: Array) -> Values:
        """Cost and constraints."""
        ...

    def derivatives(self, w: Array) -> Derivatives:
        """Gradient and Jacobian blocks."""
        ...

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives of cost·f + gaps·F + rows·c + end_rows·e.

        Returns:
            N + 1 symmetric blocks over (x_k, u_k, p), and one over (x_0, x_N, p) for the end rows.
        """
        ...


@dataclass(frozen=True)
class Patterns:
    """Which entries of blocks can differ from zero at some w; blocks have the shapes of derivatives.

    Attributes:
        gaps: N blocks of truth values.
        rows: N + 1 blocks.
        hessian: N + 1 blocks, symmetric.
    """

    gaps: Sequence[NDArray[np.bool_]]
    rows: Sequence[NDArray[np.bool_]]
    hessian: Sequence[NDArray[np.bool_]]


@dataclass(frozen=True)
class StagedProblem:
    """Sizes, bounds, first guess and functions of a staged program.

    Attributes:
        sizes: numbers of variables and rows.
        functions: evaluation on the whole horizon.
        w0: first guess, (variables,).
        lower, upper: bounds on w, (variables,).
        row_lower, row_upper: bounds on all stage rows.
        end_lower, end_upper: bounds on the end rows.
        row_names: name of every stage row ("torque limit left_knee @ swing"), for reports; may be empty.
    """

    sizes: Sizes
    functions: StagedFunctions
    w0: Array
    lower: Array
    upper: Array
    row_lower: Array
    row_upper: Array
    end_lower: Array = field(default_factory=lambda: np.zeros(0))
    end_upper: Array = field(default_factory=lambda: np.zeros(0))
    row_names: tuple[str, ...] = ()
    end_names: tuple[str, ...] = ()
    patterns: Patterns | None = None

    def __post_init__(self) -> None:
        s = self.sizes
        if not len(s.states) == len(s.controls) == len(s.rows) or not s.states:
            raise ShapeError(
                "sizes of a staged program must be given for the same stages",
                evidence={"states": len(s.states), "controls": len(s.controls), "rows": len(s.rows)},
            )
        rows = int(s.row_starts[-1])
        lengths = {"w0": s.variables, "lower": s.variables, "upper": s.variables, "row_lower": rows, "row_upper": rows}
        lengths |= {"end_lower": s.end_rows, "end_upper": s.end_rows}
        for name, length in lengths.items():
            given = np.asarray(getattr(self, name), dtype=float)
            if given.shape != (length,) or np.isnan(given).any() or (name == "w0" and not np.isfinite(given).all()):
                raise ShapeError(
                    f"`{name}` of a staged program must be {length} numbers",
                    evidence={"shape": given.shape, "not finite": int((~np.isfinite(given)).sum())},
                )
        for names, length in ((self.row_names, rows), (self.end_names, s.end_rows)):
            if names and len(names) != length:
                raise ShapeError(f"{len(names)} names are given for {length} rows")
        for low, high, what in (
            (self.lower, self.upper, self.variable_name),
            (self.row_lower, self.row_upper, lambda k: self.constraint_name(s.gaps + k)),
            (self.end_lower, self.end_upper, lambda k: self.constraint_name(s.gaps + rows + k)),
        ):
            crossed = np.flatnonzero(np.asarray(low) > np.asarray(high))
            if len(crossed):
                k = int(crossed[0])
                raise ShapeError(f"bounds of {what(k)} exclude each other", evidence={"bounds": [low[k], high[k]]})

    def variable_name(self, k: int) -> str:
        """How messages call w[k]: "x[3] of stage 5"."""
        s = self.sizes
        if k >= s.starts[-1]:
            return f"p[{k - s.starts[-1]}]"
        stage = int(np.searchsorted(s.starts, k, side="right")) - 1
        place = k - int(s.starts[stage])
        nx = s.states[stage]
        return f"x[{place}] of stage {stage}" if place < nx else f"u[{place - nx}] of stage {stage}"

    def constraint_name(self, k: int) -> str:
        """How messages call constraint k among gaps, rows and end rows: its own name where it has one."""
        s = self.sizes
        if k < s.gaps:
            stage = int(np.searchsorted(s.gap_starts, k, side="right")) - 1
            return f"gap {k - s.gap_starts[stage]} of stage {stage}"
        k -= s.gaps
        if k < s.row_starts[-1]:
            stage = int(np.searchsorted(s.row_starts, k, side="right")) - 1
            return f"{self.row_names[k] if self.row_names else f'row {k - s.row_starts[stage]}'} of stage {stage}"
        k -= int(s.row_starts[-1])
        return self.end_names[k] if self.end_names else f"end row {k}"
