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

from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

import numpy as np

from surefoot.arrays import Array

__all__ = ["Derivatives", "Sizes", "StagedFunctions", "StagedProblem", "Values"]


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

    @property
    def stages(self) -> int:
        """N + 1."""
        return len(self.states)

    @cached_property
    def starts(self) -> Array:
        """Place of x_k in w, (N + 2,); the last is the place of p."""
        return np.concatenate([[0], np.cumsum(np.add(self.states, self.controls))])

    @cached_property
    def row_starts(self) -> Array:
        """Place of the rows of stage k among all rows, (N + 2,)."""
        return np.concatenate([[0], np.cumsum(self.rows)])

    @cached_property
    def gap_starts(self) -> Array:
        """Place of gap k among all gaps, (N + 1,)."""
        return np.concatenate([[0], np.cumsum(self.states[1:])])

    @property
    def variables(self) -> int:
        """Length of w."""
        return int(self.starts[-1]) + self.parameters


@dataclass(frozen=True)
class Values:
    """Cost and constraints at w: `gaps`, `rows` and `end_rows` one after the other, stage by stage."""

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
