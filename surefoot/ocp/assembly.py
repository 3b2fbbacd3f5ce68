"""The functions of a staged program: nodes of one structure are one batch, their derivatives are put in place.

Results of all batches are one flat array each, from which places known beforehand are read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen.loops import Floats, Ints, NativeCode
from surefoot.ocp.kernels import StageKernels
from surefoot.ocp.postures import JoinedKernels, stage_kernels
from surefoot.ocp.stage import Structure, functions_of
from surefoot.solvers.staged import Derivatives, Entries, Patterns, Sizes, Values

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


def fold(sizes: Ints, H: Floats, J: Floats, weights: Floats, shared: Ints, places: Ints, out: Floats) -> None:
    """Second derivatives H (n, width, width) of a batch and its weighted squares, to their places in `out`.

    H gains Σ w r rᵀ over the first rows r of J after the cost; its upper half counts and is overwritten.

    Args:
        sizes: Stages, width, rows of J, residuals, variables of a stage without the globals, globals.
        H: Second derivatives.
        J: First derivatives (n, rows, width).
        weights: Of squares (n, residuals).
        shared: For each stage and local parameter its number among the globals, or −1.
        places: Where the block of each stage begins in `out`.
        out: Blocks.
    """
    width = sizes[1]
    count = sizes[3]
    own = sizes[4]
    wide = own + sizes[5]
    for k in range(sizes[0]):
        for r in range(0, count, 4):
            r0 = (k * sizes[2] + 1 + r) * width
            r1 = (k * sizes[2] + 1 + min(r + 1, count - 1)) * width
            r2 = (k * sizes[2] + 1 + min(r + 2, count - 1)) * width
            r3 = (k * sizes[2] + 1 + min(r + 3, count - 1)) * width
            w0 = weights[k * count + r]
            w1 = weights[k * count + min(r + 1, count - 1)] if r + 1 < count else 0.0
            w2 = weights[k * count + min(r + 2, count - 1)] if r + 2 < count else 0.0
            w3 = weights[k * count + min(r + 3, count - 1)] if r + 3 < count else 0.0
            for i in range(width):
                f0 = w0 * J[r0 + i]
                f1 = w1 * J[r1 + i]
                f2 = w2 * J[r2 + i]
                f3 = w3 * J[r3 + i]
                at = (k * width + i) * width
                if not (f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and f3 == 0.0):
                    for j in range(i, width):
                        H[at + j] += f0 * J[r0 + j] + f1 * J[r1 + j] + f2 * J[r2 + j] + f3 * J[r3 + j]
        for i in range(own):
            at = (k * width + i) * width
            to = places[k] + i * wide
            for j in range(i, own):
                out[to + j] = H[at + j]
            for j in range(i + 1, own):
                out[places[k] + j * wide + i] = H[at + j]
        if wide > own:
            for i in range(wide):
                for j in range(max(own, i), wide):
                    out[places[k] + i * wide + j] = 0.0
                    out[places[k] + j * wide + i] = 0.0
            for b in range(own, width):
                j = shared[k * (width - own) + b - own]
                if j >= 0:
                    for i in range(own):
                        out[places[k] + i * wide + own + j] = H[(k * width + i) * width + b]
                        out[places[k] + (own + j) * wide + i] = H[(k * width + i) * width + b]
                    for a in range(own, b + 1):
                        i = shared[k * (width - own) + a - own]
                        if i >= 0:
                            out[places[k] + (own + i) * wide + own + j] = H[(k * width + a) * width + b]
                            out[places[k] + (own + j) * wide + own + i] = H[(k * width + a) * width + b]


_FOLD = NativeCode([fold])


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
        self._given: tuple[Array, list[list[Array]]] | None = None
        self._values = self._first = False  # whether the results are those at the point given last

    # -- evaluation -----------------------------------------------------------------------------------------------

    def arguments(self, w: Array, batch: StageBatch, kernels: StageKernels | JoinedKernels) -> list[Array]:
        """Arguments x, u, p, d of the kernels, (n, …) each; u is omitted where there are no controls."""
        z = np.concatenate([w, self.constants])[batch.columns]
        ends = np.cumsum([kernels.shapes[name][0] for name in kernels.shapes if name != "d"])
        return [*(np.ascontiguousarray(part) for part in np.split(z, ends[:-1], axis=1)), batch.data]

    def _at(self, w: Array) -> list[list[Array]]:
        """Arguments of all batches; results of an earlier point are not valid any more."""
        if self._given is None or not np.array_equal(self._given[0], w):
            self._given = w.copy(), [self.arguments(w, batch, kernels) for batch, kernels in self.batches]
            self._values = self._first = False
        return self._given[1]

    def _slices(self, batch: StageBatch) -> tuple[slice, slice, slice]:
        """Places of residuals, next states and rows among the functions of a stage."""
        values, _, _ = batch.structure.sizes
        ends = 1 + np.cumsum([0, len(values.residuals), len(values.gap), len(values.rows)])
        return slice(1, ends[1]), slice(ends[1], ends[2]), slice(ends[2], ends[3])

    def stage_values(self, w: Array) -> list[tuple[StageBatch, Array]]:
        """All functions (n, m) of every batch; kept until w changes."""
        given, m = self._at(w), self._memory
        if not self._values:
            for (_, kernels), arguments, out in zip(self.batches, given, m.values, strict=True):
                out[:] = kernels.values(*arguments)
            self._values = True
        return [(batch, values) for (batch, _), values in zip(self.batches, m.values, strict=True)]

    def values(self, w: Array) -> Values:
        """Cost and constraints."""
        found, m, cost = self.stage_values(w), self._memory, 0.0
        for (batch, values), places in zip(found, m.slices, strict=True):
            residual = values[:, places[0]]
            cost += float(values[:, 0].sum() + 0.5 * np.einsum("nr,nr,nr->", batch.weights, residual, residual))
        return Values(cost, m.all_values[m.gaps] - w[m.after], m.all_values[m.rows], self._ends(w))

    def _ends(self, w: Array) -> Array:
        s = self.sizes
        last, end = s.starts[-2], s.starts[-1]
        first, final = w[: s.states[0]], w[last : last + s.states[-1]]
        return np.asarray(self.ends.first @ first + self.ends.last @ final + self.ends.parameters @ w[end:])

    def _jacobians(self, w: Array) -> list[Array]:
        """Jacobians (n, m, nz) of all batches; kept for the Hessian at the same point."""
        given, m = self._at(w), self._memory
        if not self._first:
            for (_, kernels), arguments, out in zip(self.batches, given, m.jacobians, strict=True):
                _into(out, kernels, "jacobian", arguments)
            self._first = True
        return m.jacobians

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
        for i, row in enumerate(places):
            free = np.flatnonzero((row >= 0) & (row < count))
            to, source = (np.concatenate([np.arange(own), own + at]) for at in (row[free], free))
            if axes == 1:
                wide[i][..., to] = blocks[i][..., source]
            else:
                wide[i][np.ix_(to, to)] = blocks[i][np.ix_(source, source)]
        return wide

    def flat_derivatives(self, w: Array) -> tuple[Array, Array, Array]:
        """Gradient, Jacobians of all stages that `entries` refers to, and those of end rows."""
        s, m, e = self.sizes, self._memory, self.ends
        gradient = np.zeros(s.variables + len(self.constants))
        parts = zip(self._jacobians(w), self.stage_values(w), m.slices, strict=True)
        for J, (batch, found), (residual, _, _) in parts:
            factors = np.ones((len(J), 1, residual.stop))
            np.multiply(batch.weights, found[:, residual], out=factors[:, 0, 1:])
            np.add.at(gradient, batch.columns, (factors @ J[:, : residual.stop])[:, 0])
        return gradient[: s.variables], m.all_jacobians, np.hstack([e.first, e.last, e.parameters])

    def derivatives(self, w: Array) -> Derivatives:
        """Gradient and Jacobian blocks."""
        gradient, _, ends = self.flat_derivatives(w)
        gaps: list[Any] = [None] * (self.sizes.stages - 1)
        rows: list[Any] = [None] * self.sizes.stages
        for (batch, _), J in zip(self.batches, self._jacobians(w), strict=True):
            _, gap, row = self._slices(batch)
            wide = self._wide(batch, J)
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    gaps[k] = wide[i, gap]
                rows[k] = wide[i, row][batch.active[i]]
        return Derivatives(gradient, gaps, rows, ends)

    def flat_hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[Array, Array]:
        """Second derivatives of the Lagrangian, block after block; end rows are linear."""
        m, found, jacobians = self._memory, self.stage_values(w), self._jacobians(w)
        m.all_multipliers[m.gaps], m.all_multipliers[m.rows] = gaps, rows
        for b, (batch, kernels) in enumerate(self.batches):
            residual, multipliers = m.slices[b][0], m.multipliers[b]
            weights = np.ascontiguousarray(cost * batch.weights)
            multipliers[:, 0], multipliers[:, residual] = cost, weights * found[b][1][:, residual]
            (n, count, width), H = jacobians[b].shape, m.hessians[b]
            if self.gauss_newton:
                H[:] = 0.0
            else:
                _into(H, kernels, "hessian", (*self._at(w)[b], multipliers))
            shared, places = m.shared[b]
            own = width - shared.shape[1]
            sizes = np.array([n, width, count, weights.shape[1], own, self.sizes.parameters])
            arrays = (sizes, H, jacobians[b], weights, shared, places, m.blocks)
            _FOLD["fold"](*(array.ctypes.data for array in arrays))
        ends = len(self.sizes.end_block)
        return m.blocks, np.zeros((ends, ends))

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives of the Lagrangian; end rows are linear."""
        flat, ends = self.flat_hessian(w, cost, gaps, rows, end_rows)
        widths = [len(self.sizes.block(k)) for k in range(self.sizes.stages)]
        parts = np.split(flat, np.cumsum(np.square(widths))[:-1])
        return [part.reshape(n, n) for part, n in zip(parts, widths, strict=True)], ends

    def forget(self) -> None:
        """Data have changed: what is kept for the last point is not valid any more."""
        self._given = None

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

    @property
    def entries(self) -> Entries:
        """Entries of the Jacobian that can differ from zero."""
        return self._memory.entries

    @cached_property
    def _memory(self) -> _Memory:
        return _Memory(self)


class _Memory:
    """Results of all batches, and places in them.

    Args:
        functions: Whose results.
    """

    def __init__(self, functions: StageFunctions) -> None:
        s, batches = functions.sizes, functions.batches
        self.slices = [functions._slices(batch) for batch, _ in batches]
        counts = [(len(batch.stages), kernels.count) for batch, kernels in batches]
        widths = [batch.columns.shape[1] for batch, _ in batches]
        self.all_values, self.values = _views(counts)
        self.all_multipliers, self.multipliers = _views(counts)
        self.all_jacobians, self.jacobians = _views([(*c, nz) for c, nz in zip(counts, widths, strict=True)])
        _, self.hessians = _views([(c[0], nz, nz) for c, nz in zip(counts, widths, strict=True)])
        self.after = np.flatnonzero(
            np.concatenate([_is_state(s, k) for k in range(s.stages)] + [np.zeros(s.parameters, bool)])
        )
        blocks = np.array([len(s.block(k)) ** 2 for k in range(s.stages)])
        self.blocks, places = np.zeros(int(blocks.sum())), np.cumsum(blocks) - blocks
        self.shared = []
        self.gaps, self.rows = np.zeros(s.gaps, dtype=np.int64), np.zeros(int(s.row_starts[-1]), dtype=np.int64)
        found: list[tuple[Indices, Indices, Indices]] = []
        begin = first = 0
        for (batch, kernels), (_, gap, row), (n, m), nz in zip(batches, self.slices, counts, widths, strict=True):
            own = s.states[batch.stages[0]] + s.controls[batch.stages[0]]
            globals_ = batch.columns[:, own:] - s.starts[-1]
            globals_ = np.where((globals_ >= 0) & (globals_ < s.parameters), globals_, -1)
            self.shared.append((np.ascontiguousarray(globals_, dtype=np.int64), places[batch.stages]))
            numbers = np.full((n, m), -1)
            for i, k in enumerate(batch.stages):
                if gap.stop > gap.start:
                    numbers[i, gap] = np.arange(s.gap_starts[k], s.gap_starts[k + 1])
                numbers[i, row.start + batch.active[i]] = s.gaps + np.arange(s.row_starts[k], s.row_starts[k + 1])
            columns = np.hstack([np.tile(np.arange(own), (n, 1)), np.where(globals_ < 0, -1, own + globals_)])
            r, c = np.nonzero(kernels.slopes)
            number, column = numbers[:, r], columns[:, c]
            used = (number >= 0) & (column >= 0)
            place = first + (np.arange(n)[:, None] * m + r) * nz + c
            found.append((number[used], place[used], column[used]))
            at = begin + np.arange(n * m).reshape(n, m)
            for target, low, high in ((self.gaps, 0, s.gaps), (self.rows, s.gaps, s.gaps + len(self.rows))):
                mine = (numbers >= low) & (numbers < high)
                target[numbers[mine] - low] = at[mine]
            begin, first = begin + n * m, first + n * m * nz
        number, place, column = (np.concatenate(parts) for parts in zip(*found, strict=True))
        order = np.argsort(number, kind="stable")
        starts = np.searchsorted(number[order], np.arange(s.gaps + len(self.rows) + 1))
        self.entries = Entries(starts, place[order], column[order])


def _into(out: Array, kernels: StageKernels | JoinedKernels, name: str, arguments: Sequence[Array]) -> None:
    """Results of a kernel, into an array that is there already: new ones of this size cost as much as the kernel."""
    if isinstance(kernels, StageKernels):
        getattr(kernels, name)(*arguments, out=out)
    else:
        out[:] = getattr(kernels, name)(*arguments)


def _views(shapes: Sequence[tuple[int, ...]]) -> tuple[Array, list[Array]]:
    """One flat array, and parts of it in these shapes."""
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes])
    flat = np.zeros(int(ends[-1]))
    return flat, [part.reshape(shape) for part, shape in zip(np.split(flat, ends[:-1]), shapes, strict=True)]


def _is_state(s: Sizes, k: int) -> NDArray[np.bool_]:
    """Of the variables of a stage, those that a gap leads to."""
    return (np.arange(s.states[k] + s.controls[k]) < s.states[k]) & (k > 0)
