"""The staged program as the interior point sees it: scaled, with equations and inequalities told apart.

All rows are one vector c(w) = (rows, states that are fixed after stage 0, end rows); rows without bounds are dropped.
Fixed states count as equations because the gap before them needs their multiplier; other fixed variables are frozen.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged.certificate import transposed_product
from surefoot.solvers.staged.problem import Derivatives, StagedProblem
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
    """First derivatives, scaled. `rows[k]` has the rows of stage k over (x_k, u_k, p), `ends` over (x_0, x_N, p)."""

    gradient: Array
    gaps: list[Array]
    rows: list[Array]
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
        late = np.zeros(self.sizes.variables, dtype=bool)
        for k in range(1, self.sizes.stages):
            late[self.sizes.starts[k] : self.sizes.starts[k] + self.sizes.states[k]] = True
        self.frozen = fixed & ~late
        self.fixed_states = np.flatnonzero(fixed & late)
        each = [(k, self._controls_frozen(k)) for k in range(self.sizes.stages)]
        self._frozen_controls = [(k, still) for k, still in each if len(still)]
        self.lower, self.upper = (
            np.where(fixed, end, b) for end, b in ((-np.inf, problem.lower), (np.inf, problem.upper))
        )
        states = problem.lower[self.fixed_states]
        lower = np.concatenate([problem.row_lower, states, problem.end_lower])
        upper = np.concatenate([problem.row_upper, states, problem.end_upper])
        self.kept = np.flatnonzero(np.isfinite(lower) | np.isfinite(upper))
        self._place_variables()
        self._place_rows()
        self._place_matrix()
        self.cost_scale, self.row_scale = 1.0, np.ones(len(self.kept))
        if w is not None:
            self._measure(w)
        self.row_lower, self.row_upper = lower[self.kept] * self.row_scale, upper[self.kept] * self.row_scale
        self.equation = _equal(self.row_lower, self.row_upper)

    def _place_variables(self) -> None:
        """Slices of (x_k, u_k), of the state after it, of gap k, and of p."""
        s = self.sizes
        starts, gaps = s.starts.tolist(), s.gap_starts.tolist()
        self.own = [slice(starts[k], starts[k + 1]) for k in range(s.stages)]
        self.after = [slice(starts[k], starts[k] + s.states[k]) for k in range(1, s.stages)]
        self.gap = [slice(gaps[k], gaps[k + 1]) for k in range(s.stages - 1)]
        self.shared = slice(starts[-1], s.variables)

    def _controls_frozen(self, k: int) -> NDArray[np.intp]:
        """Places in (x_k, u_k, p)."""
        s = self.sizes
        return s.states[k] + np.flatnonzero(self.frozen[s.starts[k] + s.states[k] : s.starts[k + 1]])

    def _place_rows(self) -> None:
        """Numbers among kept rows of each stage: own rows, then fixed states; and of end rows."""
        s, count = self.sizes, int(self.sizes.row_starts[-1])
        number = np.full(count + len(self.fixed_states) + s.end_rows, -1)
        number[self.kept] = np.arange(len(self.kept))
        self._own = [number[s.row_starts[k] : s.row_starts[k + 1]] for k in range(s.stages)]
        stage = np.searchsorted(s.starts, self.fixed_states, side="right") - 1
        self._states = [np.flatnonzero(stage == k) for k in range(s.stages)]
        self.stage_rows = [
            np.concatenate([self._own[k][self._own[k] >= 0], number[count + self._states[k]]]) for k in range(s.stages)
        ]
        ends = number[count + len(self.fixed_states) :]
        self._ends_kept = np.flatnonzero(ends >= 0)
        self.end_rows = ends[self._ends_kept]

    def _measure(self, w: Array) -> None:
        """Choose scales so that no gradient at w exceeds 100."""
        d = self._functions.derivatives(w)
        self.cost_scale = min(1.0, _LARGEST_GRADIENT / max(float(np.abs(d.gradient).max(initial=0.0)), 1e-300))
        largest = np.ones(len(self.kept))
        slopes = self._slopes(d)
        for k, C in enumerate(slopes.rows):
            largest[self.stage_rows[k]] = np.abs(C).max(axis=1, initial=1e-300)
        largest[self.end_rows] = np.abs(slopes.ends).max(axis=1, initial=1e-300)
        self.row_scale = np.minimum(1.0, _LARGEST_GRADIENT / largest)

    def point(self, w: Array) -> Point:
        """Values at w."""
        v = self._functions.values(w)
        rows = np.concatenate([v.rows, w[self.fixed_states], v.end_rows])[self.kept]
        return Point(self.cost_scale * v.cost, v.gaps.copy(), self.row_scale * rows)

    def slopes(self, w: Array) -> Slopes:
        """First derivatives at w."""
        return self._slopes(self._functions.derivatives(w))

    def _slopes(self, d: Derivatives) -> Slopes:
        rows = [self._stage_jacobian(k, d.rows[k]) for k in range(self.sizes.stages)]
        ends = d.end_rows[self._ends_kept] * self.row_scale[self.end_rows, None]
        gaps = list(d.gaps)
        for k, still in self._frozen_controls:
            rows[k][:, still] = 0.0
            if k + 1 < self.sizes.stages:
                gaps[k] = gaps[k].copy()
                gaps[k][:, still] = 0.0
        return Slopes(np.where(self.frozen, 0.0, self.cost_scale * d.gradient), gaps, rows, ends)

    def _stage_jacobian(self, k: int, own: Array) -> Array:
        """Rows of stage k over (x_k, u_k, p): kept rows and fixed states, scaled."""
        kept, states = self._own[k] >= 0, self._states[k]
        out = np.zeros((len(self.stage_rows[k]), own.shape[1]))
        count = int(kept.sum())
        np.multiply(own if count == len(own) else own[kept], self.row_scale[self._own[k][kept], None], out=out[:count])
        out[count + np.arange(len(states)), self.fixed_states[states] - self.sizes.starts[k]] = 1.0
        return out

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array) -> tuple[list[Array], Array]:
        """Second derivatives of cost·f + gaps·F + rows·c, (x_k, u_k, p) and (x_0, x_N, p); frozen entries are kept."""
        count, states = int(self.sizes.row_starts[-1]), len(self.fixed_states)
        y = np.zeros(count + states + self.sizes.end_rows)
        y[self.kept] = rows * self.row_scale
        return self._functions.hessian(w, cost * self.cost_scale, gaps, y[:count], y[count + states :])

    def product(self, slopes: Slopes, w: Array) -> tuple[Array, Array]:
        """Jacobian times a vector: gaps and rows."""
        count, rows = self.sizes.gaps, np.empty(len(self.kept))
        found = self._matrix(slopes) @ w
        rows[self._order] = found[count:]
        return found[:count] - w[self._after], rows

    def _matrix(self, slopes: Slopes) -> sparse.csr_array:
        """∂(F, c)/∂w with dense blocks: gaps, then rows stage by stage, then end rows; kept with the slopes."""
        if "matrix" not in vars(slopes):
            data = np.concatenate([part.ravel() for part in (*slopes.gaps, *slopes.rows, slopes.ends)])
            shape = (len(self._ends_of_rows) - 1, self.sizes.variables)
            vars(slopes)["matrix"] = sparse.csr_array((data, self._columns, self._ends_of_rows), shape=shape)
        found: sparse.csr_array = vars(slopes)["matrix"]
        return found

    def _place_matrix(self) -> None:
        """Columns and row ends of `_matrix`, and the numbers of its rows after the gaps."""
        s = self.sizes
        blocks = [(s.block(k), s.states[k + 1]) for k in range(s.stages - 1)]
        blocks += [(s.block(k), len(self.stage_rows[k])) for k in range(s.stages)]
        blocks.append((s.end_block, len(self.end_rows)))
        widths = np.concatenate([np.full(count, len(columns)) for columns, count in blocks])
        self._columns = np.concatenate([np.tile(columns, count) for columns, count in blocks])
        self._ends_of_rows = np.concatenate([[0], np.cumsum(widths)])
        self._order = np.concatenate([*self.stage_rows, self.end_rows])
        self._after = np.concatenate([np.zeros(0, dtype=np.intp), *(np.r_[part] for part in self.after)])

    def transposed(self, slopes: Slopes, gaps: Array, rows: Array) -> Array:
        """Transposed Jacobian times multipliers of gaps and rows; zero for frozen variables."""
        out: Array = np.concatenate([gaps, rows[self._order]]) @ self._matrix(slopes)
        out[self._after] -= gaps
        out[self.frozen] = 0.0
        return out

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
