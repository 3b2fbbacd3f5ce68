"""The staged program as the interior point sees it: scaled, with equations and inequalities told apart.

All rows are one vector c(w): stage by stage its own rows and states that are fixed after stage 0, then end rows; rows
without bounds are dropped. Fixed states count as equations because the gap before them needs their multiplier; other
fixed variables are frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.certificate import transposed_product
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.riccati.elimination import SWEEP
from surefoot.solvers.staged.solution import Multipliers
from surefoot.solvers.staged.watch import TimedFunctions

_LARGEST_GRADIENT = 100.0  # rows and costs with larger gradients are scaled (Wächter and Biegler 2006, section 3.8)
_EQUAL = 1e-10  # relative distance of bounds that count as equal


@dataclass(frozen=True)
class Point:
    """Cost, gaps and rows at w, scaled."""

    cost: float
    gaps: Array
    rows: Array


@dataclass(frozen=True)
class Slopes:
    """First derivatives, scaled.

    Attributes:
        gradient: of the cost.
        values: entries of ∂(F, c)/∂(x_k, u_k, p), gaps first, then rows, as `Form.starts` and `Form.columns` say.
        ends: end rows over (x_0, x_N, p), dense.
    """

    gradient: Array
    values: Array
    ends: Array


class Form:
    """Evaluates the program in the order of the interior point.

    Args:
        problem: The staged program.
        functions: Its functions, timed.
        w: Where gradients are measured for scaling; None: nothing is scaled.
    """

    def __init__(self, problem: StagedProblem, functions: TimedFunctions, w: Array | None) -> None:
        self.problem, self.sizes, self._functions = problem, problem.sizes, functions
        fixed = _equal(problem.lower, problem.upper)
        late = self._of_states()
        late[: self.sizes.states[0]] = False
        self.frozen = fixed & ~late
        self.fixed_states = np.flatnonzero(fixed & late)
        self.still = (self.frozen & ~self._of_states()).astype(np.int64)  # frozen controls
        self.still[self.sizes.starts[-1] :] = 0
        self.lower, self.upper = (
            np.where(fixed, end, b) for end, b in ((-np.inf, problem.lower), (np.inf, problem.upper))
        )
        states = problem.lower[self.fixed_states]
        lower = np.concatenate([problem.row_lower, states, problem.end_lower])
        upper = np.concatenate([problem.row_upper, states, problem.end_upper])
        kept = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
        self.kept: NDArray[np.intp] = kept[np.argsort(self._stages_of_rows()[kept], kind="stable")]
        self._place_variables()
        self._place_rows()
        self.cost_scale, self.row_scale = 1.0, np.ones(len(self.kept))
        self._entry_scale = np.ones(len(self.columns))
        if w is not None:
            self._measure(w)
        self.row_lower, self.row_upper = lower[self.kept] * self.row_scale, upper[self.kept] * self.row_scale
        self.equation = _equal(self.row_lower, self.row_upper)

    def _place_variables(self) -> None:
        """Places of the states that gaps lead to, and of p."""
        states = self._of_states()
        states[: self.sizes.states[0]] = False
        self._after = np.flatnonzero(states)
        self.shared = slice(int(self.sizes.starts[-1]), self.sizes.variables)

    def _of_states(self) -> NDArray[np.bool_]:
        """Which variables are states."""
        s, out = self.sizes, np.zeros(self.sizes.variables, dtype=bool)
        for k in range(s.stages):
            out[s.starts[k] : s.starts[k] + s.states[k]] = True
        return out

    def _stages_of_rows(self) -> NDArray[np.intp]:
        """Stage of each of (rows, fixed states, end rows); end rows come after all stages."""
        s = self.sizes
        own = np.repeat(np.arange(s.stages), s.rows)
        states = np.searchsorted(s.starts, self.fixed_states, side="right") - 1
        return np.concatenate([own, states, np.full(s.end_rows, s.stages)]).astype(np.intp)

    def _place_rows(self) -> None:
        """Entries of gaps and kept rows: where they are in the flat derivatives, and their columns."""
        s, count, entries = self.sizes, int(self.sizes.row_starts[-1]), self._functions.entries
        blocks = [*(s.block(k) for k in range(s.stages)), s.end_block]
        self.variables = np.concatenate(blocks).astype(np.int64)
        self.tables = np.concatenate([[0], np.cumsum([len(block) for block in blocks])])  # where they begin
        of_rows, states, width = self._stages_of_rows(), len(self.fixed_states), len(s.end_block)
        stages = np.concatenate([np.repeat(np.arange(s.stages - 1), s.states[1:]), of_rows]).astype(np.intp)
        alone = self.fixed_states - s.starts[of_rows[count : count + states]]  # columns of the only entries
        positions = np.concatenate([entries.positions, np.full(states + s.end_rows * width, -1)])
        columns = np.concatenate([entries.columns, alone, np.tile(np.arange(width), s.end_rows)])
        lengths = np.concatenate([np.diff(entries.starts), np.ones(states, int), np.full(s.end_rows, width)])
        columns = columns + np.repeat(self.tables[stages], lengths)
        begins = np.cumsum(lengths) - lengths
        kept = np.concatenate([np.arange(s.gaps), s.gaps + self.kept])
        lengths = lengths[kept]
        order = np.repeat(begins[kept] - (np.cumsum(lengths) - lengths), lengths) + np.arange(lengths.sum())
        moving = self.still[self.variables[columns[order]]] == 0
        rows = np.repeat(np.arange(len(kept)), lengths)[moving]
        order = order[moving]
        self.row_of_entry = rows
        self.columns, self._positions = (np.ascontiguousarray(x[order], dtype=np.int64) for x in (columns, positions))
        self.starts = np.searchsorted(rows, np.arange(len(kept) + 1)).astype(np.int64)
        stage = of_rows[self.kept]
        self.end_rows = np.flatnonzero(stage == s.stages)
        self._ends_kept = self.kept[self.end_rows] - count - states
        self.row_starts = np.searchsorted(np.minimum(stage, s.stages - 1), np.arange(s.stages + 1))
        self._units = np.flatnonzero((self._positions < 0) & (rows < s.gaps + len(self.kept) - len(self.end_rows)))
        self._tail = len(rows) - len(self.end_rows) * width
        self._positions[self._positions < 0] = 0

    def _measure(self, w: Array) -> None:
        """Choose scales so that no gradient at w exceeds 100."""
        gradient, entries, ends = self._functions.flat_derivatives(w)
        self.cost_scale = min(1.0, _LARGEST_GRADIENT / max(float(np.abs(gradient).max(initial=0.0)), 1e-300))
        largest, gaps = np.full(self.sizes.gaps + len(self.kept), 1e-300), self.sizes.gaps
        np.maximum.at(largest, self.row_of_entry, np.abs(self._gathered(entries, ends)))
        self.row_scale = np.minimum(1.0, _LARGEST_GRADIENT / largest[gaps:])
        self._entry_scale = np.concatenate([np.ones(gaps), self.row_scale])[self.row_of_entry]

    def point(self, w: Array) -> Point:
        """Values at w."""
        v = self._functions.values(w)
        rows = np.concatenate([v.rows, w[self.fixed_states], v.end_rows])[self.kept]
        return Point(self.cost_scale * v.cost, v.gaps.copy(), self.row_scale * rows)

    def slopes(self, w: Array) -> Slopes:
        """First derivatives at w."""
        gradient, entries, ends = self._functions.flat_derivatives(w)
        values = self._gathered(entries, ends)
        values *= self._entry_scale
        gradient = np.where(self.frozen, 0.0, self.cost_scale * gradient)
        return Slopes(gradient, values, ends[self._ends_kept] * self.row_scale[self.end_rows, None])

    def _gathered(self, entries: Array, ends: Array) -> Array:
        values: Array = entries.take(self._positions) if len(entries) else np.zeros(len(self._positions))
        values[self._units] = 1.0
        values[self._tail :] = ends[self._ends_kept].ravel()
        return values

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array) -> tuple[Array, Array]:
        """Second derivatives of cost·f + gaps·F + rows·c, (x_k, u_k, p) and (x_0, x_N, p); frozen entries are kept."""
        count, states = int(self.sizes.row_starts[-1]), len(self.fixed_states)
        y = np.zeros(count + states + self.sizes.end_rows)
        y[self.kept] = rows * self.row_scale
        return self._functions.flat_hessian(w, cost * self.cost_scale, gaps, y[:count], y[count + states :])

    def product(self, slopes: Slopes, w: Array) -> tuple[Array, Array]:
        """Jacobian times a vector: gaps and rows."""
        out, count = np.empty(len(self.starts) - 1), self.sizes.gaps
        SWEEP["multiply"](*self._matrix(slopes), len(out), w.ctypes.data, out.ctypes.data)
        return out[:count] - w[self._after], out[count:]

    def transposed(self, slopes: Slopes, gaps: Array, rows: Array) -> Array:
        """Transposed Jacobian times multipliers of gaps and rows; zero for frozen variables."""
        out, y = np.zeros(self.sizes.variables), np.concatenate([gaps, rows])
        SWEEP["transpose"](*self._matrix(slopes), len(y), y.ctypes.data, out.ctypes.data)
        out[self._after] -= gaps
        out[self.frozen] = 0.0
        return out

    def _matrix(self, slopes: Slopes) -> tuple[int, ...]:
        return (
            slopes.values.ctypes.data, self.columns.ctypes.data, self.starts.ctypes.data, self.variables.ctypes.data,
        )  # fmt: skip

    def multipliers(self, w: Array, gaps: Array, rows: Array, bounds: Array) -> Multipliers:
        """Multipliers of the program as it was given, from those of the scaled one.

        Args:
            w: Variables, where the multipliers of frozen ones are evaluated.
            gaps: Of gaps.
            rows: Of kept rows.
            bounds: Of bounds on w: upper minus lower.
        """
        count, states = int(self.sizes.row_starts[-1]), len(self.fixed_states)
        y = np.zeros(count + states + self.sizes.end_rows)
        y[self.kept] = rows * self.row_scale / self.cost_scale
        own, ends = y[:count], y[count + states :]
        out = bounds / self.cost_scale
        out[self.fixed_states] = y[count : count + states]
        d = self._functions.derivatives(w)
        slope = d.gradient + transposed_product(self.sizes, d, gaps / self.cost_scale, own, ends)
        out[self.frozen] = -slope[self.frozen]
        return Multipliers(gaps / self.cost_scale, own, ends, out)

    def rows_of(self, multipliers: Multipliers) -> tuple[Array, Array, Array]:
        """Inverse of `multipliers`: of gaps, of kept rows and of bounds, scaled."""
        m, scale = multipliers, self.cost_scale
        rows = np.concatenate([m.rows, m.bounds[self.fixed_states], m.end_rows])[self.kept]
        free = np.where(self.frozen, 0.0, m.bounds)
        free[self.fixed_states] = 0.0
        return m.gaps * scale, rows * scale / self.row_scale, free * scale


def _equal(lower: Array, upper: Array) -> NDArray[np.bool_]:
    return upper - lower <= _EQUAL * np.maximum(1.0, np.abs(np.where(np.isfinite(lower), lower, 0.0)))
