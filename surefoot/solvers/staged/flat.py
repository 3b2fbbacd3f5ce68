"""Derivatives of a staged program in one piece: what the Riccati sweep reads, without an array for each stage.

Functions may offer this themselves (`FlatFunctions`); for others, `flattened` joins their blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.problem import StagedFunctions, StagedProblem

Places = NDArray[np.int64]


@dataclass(frozen=True)
class Entries:
    """Entries of the Jacobian of gaps and rows that can differ from zero.

    Attributes:
        starts: where those of each gap and row begin, and their number, (gaps + rows + 1,).
        positions: where each is in the flat derivatives.
        columns: which of (x_k, u_k, p) it belongs to.
    """

    starts: Places
    positions: Places
    columns: Places


@runtime_checkable
class FlatFunctions(Protocol):
    """What `StagedFunctions` may have beside; arrays returned may be overwritten by the next call."""

    @property
    def entries(self) -> Entries:
        """Of the Jacobian."""
        ...

    def flat_derivatives(self, w: Array) -> tuple[Array, Array, Array]:
        """Gradient of the cost, numbers that `entries` refers to, and ∂e/∂(x_0, x_N, p)."""
        ...

    def flat_hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[Array, Array]:
        """As `hessian`, whose blocks of stages are one after the other."""
        ...


def flattened(problem: StagedProblem) -> FlatFunctions:
    """The functions of a problem in one piece."""
    functions = problem.functions
    return functions if isinstance(functions, FlatFunctions) else _Joined(problem, functions)


class _Joined:
    def __init__(self, problem: StagedProblem, functions: StagedFunctions) -> None:
        self._functions, s = functions, problem.sizes
        widths = [len(s.block(k)) for k in range(s.stages)]
        if problem.patterns is not None:
            blocks = [np.asarray(block) for block in (*problem.patterns.gaps, *problem.patterns.rows)]
        else:
            shapes = [*zip(s.states[1:], widths, strict=False), *zip(s.rows, widths, strict=True)]
            blocks = [np.ones(shape, dtype=bool) for shape in shapes]
        counts = np.concatenate([np.zeros(0, int), *(block.sum(axis=1) for block in blocks)])
        columns = np.concatenate([np.zeros(0, int), *(np.nonzero(block)[1] for block in blocks)])
        positions = np.flatnonzero(np.concatenate([np.zeros(0, bool), *(block.ravel() for block in blocks)]))
        self.entries = Entries(np.concatenate([[0], np.cumsum(counts)]), positions, columns)

    def flat_derivatives(self, w: Array) -> tuple[Array, Array, Array]:
        d = self._functions.derivatives(w)
        return d.gradient, np.concatenate([np.zeros(0), *(part.ravel() for part in (*d.gaps, *d.rows))]), d.end_rows

    def flat_hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[Array, Array]:
        blocks, ends = self._functions.hessian(w, cost, gaps, rows, end_rows)
        return np.concatenate([block.ravel() for block in blocks]), ends
