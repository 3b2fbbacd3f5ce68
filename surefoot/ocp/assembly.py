"""The functions of a staged program: nodes of one structure are one batch, their derivatives are put in place."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.postures import JoinedKernels, stage_kernels
from surefoot.ocp.stage import Structure, functions_of
from surefoot.solvers.staged import Derivatives, Patterns, Sizes, Values

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class StageBatch:
    """All stages of one structure.

    Args:
        structure: The structure.
        stages: (n,) numbers of the stages.
        columns: (n, nx + nu + np) places of their arguments in w, constants after the end of w.
        data: (n, nd).
        weights: (n, residuals) weights of squared residuals.
        active: n arrays: rows that have a bound.
    """

    structure: Structure
    stages: Indices
    columns: Indices
    data: Array
    weights: Array
    active: tuple[Indices, ...]


@dataclass(frozen=True, eq=False)
class LinearEnds:
    """End rows e = first x_0 + last x_N + globals p."""

    first: Array
    last: Array
    parameters: Array


class StageFunctions:
    """Values and derivatives on the whole horizon (`StagedFunctions`).

    Args:
        sizes: Of the program.
        batches: Its stages.
        constants: Numbers that stages take as parameters without being variables.
        ends: End rows.
    """

    def __init__(self, sizes: Sizes, batches: Sequence[StageBatch], constants: Array, ends: LinearEnds) -> None:
        self.sizes, self.constants, self.ends = sizes, constants, ends
        self.gauss_newton = False
        """Whether second derivatives are those of weighted squares alone: cheap, never negative."""
        self.batches = [(batch, stage_kernels(batch.structure)) for batch in batches]
        self._values: tuple[Array, list[tuple[StageBatch, Array]]] | None = None
        self._first: tuple[Array, list[Array]] | None = None

    # -- evaluation -----------------------------------------------------------------------------------------------

    def arguments(self, w: Array, batch: StageBatch, kernels: StageKernels | JoinedKernels) -> list[Array]:
        """Arguments x, u, p, d of the kernels, (n, …) each; u is omitted where there are no controls."""
        z = np.concatenate([w, self.constants])[batch.columns]
        ends = np.cumsum([kernels.shapes[name][0] for name in kernels.shapes if name != "d"])
        return [*(np.ascontiguousarray(part) for part in np.split(z, ends[:-1], axis=1)), batch.data]

    def _slices(self, batch: StageBatch) -> tuple[slice, slice, slice]:
        """Places of residuals, next states and rows among the functions of a stage."""
        values, _, _ = batch.structure.sizes
        ends = 1 + np.cumsum([0, len(values.residuals), len(values.gap), len(values.rows)])
        return slice(1, ends[1]), slice(ends[1], ends[2]), slice(ends[2], ends[3])

    def stage_values(self, w: Array) -> list[tuple[StageBatch, Array]]:
        """All functions (n, m) of every batch; kept until w changes."""
        if self._values is None or not np.array_equal(self._values[0], w):
            found = [(b, k.values(*self.arguments(w, b, k))) for b, k in self.batches]
            self._values = w.copy(), found
        return self._values[1]

    def values(self, w: Array) -> Values:
        """Cost and constraints."""
        s, cost = self.sizes, 0.0
        gaps, rows = np.zeros(s.gaps), np.zeros(int(s.row_starts[-1]))
        for batch, found in self.stage_values(w):
            residual, gap, row = self._slices(batch)
            cost += float(found[:, 0].sum() + 0.5 * (batch.weights * found[:, residual] ** 2).sum())
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    start = s.starts[k + 1]
                    gaps[s.gap_starts[k] : s.gap_starts[k + 1]] = found[i, gap] - w[start : start + s.states[k + 1]]
                rows[s.row_starts[k] : s.row_starts[k + 1]] = found[i, row][batch.active[i]]
        return Values(cost, gaps, rows, self._ends(w))

    def _ends(self, w: Array) -> Array:
        s = self.sizes
        last, end = s.starts[-2], s.starts[-1]
        first, final = w[: s.states[0]], w[last : last + s.states[-1]]
        return np.asarray(self.ends.first @ first + self.ends.last @ final + self.ends.parameters @ w[end:])

    def _jacobians(self, w: Array) -> list[Array]:
        """Jacobians (n, m, nz) of all batches; kept for the Hessian at the same point."""
        if self._first is None or not np.array_equal(self._first[0], w):
            self._first = w.copy(), [k.jacobian(*self.arguments(w, b, k)) for b, k in self.batches]
        return self._first[1]

    def undefined(self, w: Array) -> list[tuple[str, int]]:
        """Blocks whose values or derivatives are not finite, each with the number of a stage."""
        found = []
        for (batch, values), J in zip(self.stage_values(w), self._jacobians(w), strict=True):
            lost = ~(np.isfinite(values) & np.isfinite(J).all(axis=2))
            for name, start, size in functions_of(batch.structure):
                found += [(name, int(k)) for k in batch.stages[lost[:, start : start + size].any(axis=1)]]
        return found

    def _wide(self, batch: StageBatch, blocks: Array, axes: int = 1) -> Array:
        """Columns (and rows, if 2 axes) over (x, u, p local) as ones over (x, u, p global)."""
        s = batch.structure
        own, count = s.states + s.controls + s.slacks, self.sizes.parameters
        places = batch.columns[:, own:] - self.sizes.starts[-1]
        if not count:
            return blocks[..., :own] if axes == 1 else blocks[..., :own, :own]
        shape = (*blocks.shape[: blocks.ndim - axes], *(own + count,) * axes)
        wide = np.zeros(shape)
        if axes == 1:
            wide[..., :own] = blocks[..., :own]
        else:
            wide[..., :own, :own] = blocks[..., :own, :own]
        for i, row in enumerate(places):
            free = np.flatnonzero((row >= 0) & (row < count))
            if axes == 1:
                wide[i][..., own + row[free]] = blocks[i][..., own + free]
            elif len(free):
                wide[i][:own, own + row[free]] = blocks[i][:own, own + free]
                wide[i][own + row[free], :own] = blocks[i][own + free, :own]
                wide[i][np.ix_(own + row[free], own + row[free])] = blocks[i][np.ix_(own + free, own + free)]
        return wide

    def derivatives(self, w: Array) -> Derivatives:
        """Gradient and Jacobian blocks."""
        s = self.sizes
        gradient = np.zeros(s.variables + len(self.constants))
        gaps: list[Any] = [None] * (s.stages - 1)
        rows: list[Any] = [None] * s.stages
        for (batch, _), J, (_, found) in zip(self.batches, self._jacobians(w), self.stage_values(w), strict=True):
            residual, gap, row = self._slices(batch)
            push = J[:, 0] + np.einsum("nr,nrz->nz", batch.weights * found[:, residual], J[:, residual])
            np.add.at(gradient, batch.columns, push)
            wide = self._wide(batch, J)
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    gaps[k] = wide[i, gap]
                rows[k] = wide[i, row][batch.active[i]]
        e = self.ends
        return Derivatives(gradient[: s.variables], gaps, rows, np.hstack([e.first, e.last, e.parameters]))

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives of the Lagrangian; end rows are linear."""
        s = self.sizes
        blocks: list[Any] = [None] * s.stages
        for (batch, kernels), J, (_, found) in zip(self.batches, self._jacobians(w), self.stage_values(w), strict=True):
            residual, gap, row = self._slices(batch)
            m = np.zeros(found.shape)
            m[:, 0], m[:, residual] = cost, cost * batch.weights * found[:, residual]
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    m[i, gap] = gaps[s.gap_starts[k] : s.gap_starts[k + 1]]
                m[i, row.start + batch.active[i]] = rows[s.row_starts[k] : s.row_starts[k + 1]]
            R = J[:, residual]
            H = R.transpose(0, 2, 1) @ ((cost * batch.weights)[:, :, None] * R)
            if not self.gauss_newton:
                H += kernels.hessian(*self.arguments(w, batch, kernels), m)
            wide = self._wide(batch, H, axes=2)
            for i, k in enumerate(batch.stages):
                blocks[k] = wide[i]
        ends = self.ends.first.shape[1] + self.ends.last.shape[1] + self.ends.parameters.shape[1]
        return blocks, np.zeros((ends, ends))

    def forget(self) -> None:
        """Data have changed: what is kept for the last point is not valid any more."""
        self._values = self._first = None

    # -- structure ------------------------------------------------------------------------------------------------

    def patterns(self) -> Patterns:
        """Entries that can differ from zero."""
        s = self.sizes
        gaps: list[Any] = [None] * (s.stages - 1)
        rows: list[Any] = [None] * s.stages
        hessians: list[Any] = [None] * s.stages
        for batch, kernels in self.batches:
            J, H = kernels.patterns
            residual, gap, row = self._slices(batch)
            H = H | (J[residual].astype(float).T @ J[residual].astype(float) > 0.0)
            n = len(batch.stages)
            wide = self._wide(batch, np.broadcast_to(J, (n, *J.shape))) > 0.0
            square = self._wide(batch, np.broadcast_to(H, (n, *H.shape)), axes=2) > 0.0
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    gaps[k] = wide[i, gap]
                rows[k] = wide[i, row][batch.active[i]]
                hessians[k] = square[i]
        return Patterns(gaps, rows, hessians)
