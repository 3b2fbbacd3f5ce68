"""A staged program as one sparse program: all constraints g = (gaps, rows, end rows) over w."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.problem import Derivatives, Sizes, StagedProblem, Values

Numbers = NDArray[np.intp]


def all_constraints(values: Values) -> Array:
    """Gaps, rows and end rows one after the other."""
    return np.concatenate([values.gaps, values.rows, values.end_rows])


def constraint_bounds(problem: StagedProblem) -> tuple[Array, Array]:
    """Lower and upper ends of all constraints; gaps are zero."""
    gaps = np.zeros(problem.sizes.gaps)
    lower = np.concatenate([gaps, problem.row_lower, problem.end_lower])
    return lower, np.concatenate([gaps, problem.row_upper, problem.end_upper])


@dataclass(frozen=True)
class _Places:
    """Where the entries of blocks go: entry `taken[b]` of the flat block b to (row, column) of the whole."""

    taken: list[Numbers]
    rows: Numbers
    columns: Numbers

    def gather(self, blocks: Sequence[Array]) -> Array:
        """The entries of all blocks in the order of `rows` and `columns`."""
        return np.concatenate([np.zeros(0), *(b.ravel().take(t) for b, t in zip(blocks, self.taken, strict=True))])


class SparseForm:
    """Sparsity and entries of the Jacobian of g and of the upper triangle of the Lagrangian's Hessian, by columns.

    Args:
        problem: Its `patterns` tell which entries of blocks can differ from zero; without them all can.
    """

    def __init__(self, problem: StagedProblem) -> None:
        self.sizes, self._patterns = problem.sizes, problem.patterns
        jacobian = _places(self._jacobian_blocks())
        minus = np.arange(self.sizes.gaps)
        self._jacobian = jacobian
        rows = np.concatenate([jacobian.rows, minus])
        columns = np.concatenate([jacobian.columns, _next_states(self.sizes)])
        self._order = np.lexsort((rows, columns))
        self.jacobian_rows, self.jacobian_columns = rows[self._order], columns[self._order]
        self._hessian = _places(self._hessian_blocks(), upper=True)
        key = self._hessian.columns * self.sizes.variables + self._hessian.rows
        unique, self._sum = np.unique(key, return_inverse=True)
        self.hessian_rows, self.hessian_columns = unique % self.sizes.variables, unique // self.sizes.variables

    def _jacobian_blocks(self) -> Iterator[tuple[Numbers, Numbers, NDArray | None]]:
        s, p = self.sizes, self._patterns
        for k in range(s.stages - 1):
            yield np.arange(s.gap_starts[k], s.gap_starts[k + 1]), s.block(k), None if p is None else p.gaps[k]
        for k in range(s.stages):
            rows = s.gaps + np.arange(s.row_starts[k], s.row_starts[k + 1])
            yield rows, s.block(k), None if p is None else p.rows[k]
        yield s.gaps + int(s.row_starts[-1]) + np.arange(s.end_rows), s.end_block, None

    def _hessian_blocks(self) -> Iterator[tuple[Numbers, Numbers, NDArray | None]]:
        s, p = self.sizes, self._patterns
        for k in range(s.stages):
            yield s.block(k), s.block(k), None if p is None else p.hessian[k]
        if s.end_rows:
            yield s.end_block, s.end_block, None

    def jacobian(self, derivatives: Derivatives) -> Array:
        """Entries at (jacobian_rows, jacobian_columns)."""
        blocks = [*derivatives.gaps, *derivatives.rows, derivatives.end_rows]
        return np.concatenate([self._jacobian.gather(blocks), np.full(self.sizes.gaps, -1.0)])[self._order]

    def hessian(self, blocks: Sequence[Array], end_block: Array) -> Array:
        """Entries at (hessian_rows, hessian_columns): blocks that overlap are added."""
        entries = self._hessian.gather([*blocks, end_block] if self.sizes.end_rows else blocks)
        return np.bincount(self._sum, weights=entries, minlength=len(self.hessian_rows)).astype(float)

    def jacobian_matrix(self, derivatives: Derivatives) -> sparse.csc_array:
        """∂g/∂w (constraints, variables)."""
        places = (self.jacobian_rows, self.jacobian_columns)
        return sparse.csc_array(
            (self.jacobian(derivatives), places), shape=(self.sizes.constraints, self.sizes.variables)
        )


def _places(blocks: Iterator[tuple[Numbers, Numbers, NDArray | None]], upper: bool = False) -> _Places:
    """Places of all entries of blocks, or of those above the diagonal of the whole."""
    taken, rows, columns = [], [np.zeros(0, dtype=np.intp)], [np.zeros(0, dtype=np.intp)]
    for row, column, pattern in blocks:
        r, c = (x.ravel() for x in np.broadcast_arrays(row[:, None], column[None, :]))
        keep = np.ones(r.size, dtype=bool) if pattern is None else np.asarray(pattern, dtype=bool).ravel()
        entries = np.flatnonzero(keep & (r <= c) if upper else keep)
        taken.append(entries)
        rows.append(r[entries])
        columns.append(c[entries])
    return _Places(taken, np.concatenate(rows), np.concatenate(columns))


def _next_states(sizes: Sizes) -> Numbers:
    """Place in w of the state that each gap ends in."""
    parts = [np.arange(nx) + sizes.starts[k + 1] for k, nx in enumerate(sizes.states[1:])]
    return np.concatenate([np.zeros(0, dtype=np.intp), *parts]).astype(np.intp)
