"""FATROP through its C interface (Vanroye et al. 2023): whole-horizon callbacks over one batch of stages.

Stage k of FATROP has controls u_k and states (x_k, b); b = (x_0 where end rows need it, p) stays constant. Bounds
become inequalities, fixed variables equations. Constant states obey linear equations that hold from the start, so all
copies of b agree in every iterate.
"""

from __future__ import annotations

import ctypes as c
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.staged import fatrop_library as library
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.solution import Iteration, Multipliers, Outcome, Progress, SolverOptions, StagedSolution
from surefoot.solvers.staged.watch import TimedFunctions, Watch

Numbers = NDArray[np.intp]


def solve_fatrop(
    problem: StagedProblem, options: SolverOptions, progress: Progress | None, warm: StagedSolution | None
) -> StagedSolution:
    """Solve a staged program by FATROP; a warm start is primal only.

    Args:
        problem: The staged program.
        options: Limits and settings.
        progress: Called in every iteration.
        warm: Earlier solution to start from.
    """
    fatrop, _ = library.libraries()
    functions, watch = TimedFunctions(problem), Watch(options, progress)
    with watch:
        calls = _Calls(problem, functions, watch, problem.w0 if warm is None else warm.w)
        solver = fatrop.fatrop_ocp_c_create(c.addressof(calls.interface), None, None)
        calls.stop = lambda: fatrop.fatrop_ocp_c_set_option_int(solver, b"max_iter", 0)
        try:
            fatrop.fatrop_ocp_c_set_option_double(solver, b"tol", options.tolerance)
            fatrop.fatrop_ocp_c_set_option_int(solver, b"max_iter", options.max_iterations)
            fatrop.fatrop_ocp_c_set_option_int(solver, b"print_level", 0)
            if options.barrier is not None:
                fatrop.fatrop_ocp_c_set_option_double(solver, b"mu_init", options.barrier)
            flag = fatrop.fatrop_ocp_c_solve(solver)
            if calls.error is not None:
                raise calls.error
            statistics, dims = fatrop.fatrop_ocp_c_get_stats(solver)[0], fatrop.fatrop_ocp_c_get_dims(solver)[0]
            w = calls.chain.variables(_vector(fatrop.fatrop_ocp_c_get_primal(solver)))
            multipliers = calls.chain.multipliers(_vector(fatrop.fatrop_ocp_c_get_dual(solver)), dims)
            counted = watch.table[-1].number if watch.table else 0  # those of restoration as well
            iterations = min(max(int(statistics.iterations), counted), options.max_iterations)
        finally:
            fatrop.fatrop_ocp_c_destroy(solver)
        outcome: Outcome = "solved" if flag == 0 else watch.limit() or "failed"
        if outcome == "failed" and iterations >= options.max_iterations:
            outcome = "iteration limit"
        return StagedSolution(
            success=outcome == "solved",
            outcome=outcome,
            w=w,
            multipliers=multipliers,
            cost=float(functions.values(w).cost),
            iterations=iterations,
            kkt_residual=np.nan,
            message=f"FATROP: {outcome}",
            table=tuple(watch.table),
            seconds=watch.seconds(functions),
        )


def _vector(vector: Any) -> Array:
    return _numbers(vector[0].pa, vector[0].m).copy()


def _numbers(address: int, count: int) -> Array:
    return np.ctypeslib.as_array((c.c_double * count).from_address(address)) if count else np.zeros(0)


@dataclass(frozen=True)
class _Rows:
    """Rows of a stage in this order: own rows, variables (in w; `places` in (u, x, b)), end rows, copies of x_0."""

    own: Numbers
    variables: Numbers
    ends: Numbers
    places: Numbers
    copies: int

    @property
    def count(self) -> int:
        return len(self.own) + len(self.variables) + len(self.ends) + self.copies


class _Chain:
    """Places of a staged program's variables and rows in FATROP's vectors."""

    def __init__(self, problem: StagedProblem) -> None:
        self.problem, self.sizes = problem, problem.sizes
        s = self.sizes
        self.first = s.states[0] if s.end_rows else 0
        self.border = self.first + s.parameters
        self.widths = [s.controls[k] + s.states[k] + self.border for k in range(s.stages)]
        self.offsets = np.concatenate([[0], np.cumsum(self.widths)])
        self.places = [self._places(k) for k in range(s.stages)]
        fixed = problem.lower == problem.upper
        bounded = ~fixed & (np.isfinite(problem.lower) | np.isfinite(problem.upper))
        rows, ends = problem.row_lower == problem.row_upper, problem.end_lower == problem.end_upper
        two = [(problem.row_lower, problem.row_upper), (problem.end_lower, problem.end_upper)]
        real, real_ends = (np.isfinite(low) | np.isfinite(high) for low, high in two)
        self.equations = [self._rows(k, rows, fixed, ends, copies=True) for k in range(s.stages)]
        self.inequalities = [
            self._rows(k, ~rows & real, bounded, ~ends & real_ends, copies=False) for k in range(s.stages)
        ]
        self.where = np.empty(s.variables, dtype=np.intp)
        for k in reversed(range(s.stages)):
            self.where[s.block(k)] = self.offsets[k] + self.places[k]

    def _places(self, k: int) -> Numbers:
        """Of (x_k, u_k, p) in (u, x, b)."""
        nu, nx, s = self.sizes.controls[k], self.sizes.states[k], self.sizes
        parts = [nu + np.arange(nx), np.arange(nu), nu + nx + self.first + np.arange(s.parameters)]
        return np.concatenate(parts).astype(np.intp)

    def _rows(self, k: int, rows: Array, variables: Array, ends: Array, copies: bool) -> _Rows:
        s = self.sizes
        own = np.flatnonzero(rows[s.row_starts[k] : s.row_starts[k + 1]])
        last = s.variables if k == 0 else s.starts[k + 1]
        chosen = np.flatnonzero(variables[s.starts[k] : s.starts[k + 1]]) + s.starts[k]
        if k == 0:
            chosen = np.concatenate([chosen, np.flatnonzero(variables[s.starts[-1] : last]) + s.starts[-1]])
        at = self.places[k][np.searchsorted(s.block(k), chosen)] if len(chosen) else np.zeros(0, dtype=np.intp)
        end = np.flatnonzero(ends) if k + 1 == s.stages else np.zeros(0, dtype=np.intp)
        return _Rows(own, chosen, end, at, self.first if copies and k == 0 else 0)

    def start(self, w: Array) -> list[Array]:
        """(u, x, b) of every stage."""
        b = np.concatenate([w[: self.first], w[self.sizes.starts[-1] :]])
        out = []
        for k in range(self.sizes.stages):
            z = np.empty(self.widths[k])
            z[self.places[k]] = w[self.sizes.block(k)]
            z[len(z) - self.border :] = b
            out.append(z)
        return out

    def variables(self, primal: Array) -> Array:
        """w; p is taken from the first stage."""
        return primal[self.where]

    @property
    def ends(self) -> Numbers:
        """Places of (x_0, x_N, p) in the last stage."""
        nu, nx, s = self.sizes.controls[-1], self.sizes.states[-1], self.sizes
        copy, p = nu + nx + np.arange(self.first), nu + nx + self.first + np.arange(s.parameters)
        return np.concatenate([copy, nu + np.arange(nx), p]).astype(np.intp)

    def multipliers(self, dual: Array, dims: Any) -> Multipliers:
        """Multipliers of the program from FATROP's."""
        s = self.sizes
        gaps, rows = np.empty(s.gaps), np.zeros(int(s.row_starts[-1]))
        ends, bounds = np.zeros(s.end_rows), np.zeros(s.variables)
        for k in range(s.stages):
            if k + 1 < s.stages:
                gaps[s.gap_starts[k] : s.gap_starts[k + 1]] = dual[dims.dyn_eq_offs[k] :][: s.states[k + 1]]
            for place, offset in ((self.equations[k], dims.g_offs[k]), (self.inequalities[k], dims.g_ineq_offs[k])):
                own, variables = len(place.own), len(place.variables)
                rows[s.row_starts[k] + place.own] = dual[offset:][:own]
                bounds[place.variables] = dual[offset + own :][:variables]
                ends[place.ends] = dual[offset + own + variables :][: len(place.ends)]
        return Multipliers(gaps, rows, ends, bounds)


class _Calls:
    """FATROP's callbacks. An error inside is kept, and the solver stopped: it cannot cross native code."""

    def __init__(self, problem: StagedProblem, functions: TimedFunctions, watch: Watch, w0: Array) -> None:
        self.chain, self._problem, self._functions, self._watch = _Chain(problem), problem, functions, watch
        self.error: BaseException | None = None
        self.stop: Callable[[], object] = int
        self._pack = library.libraries()[1].blasfeo_pack_dmat
        chain, s = self.chain, problem.sizes
        start = chain.start(np.clip(w0, problem.lower, problem.upper))
        self._blocks = [
            [self._constant(k, rows) for rows in (chain.equations[k], chain.inequalities[k])] for k in range(s.stages)
        ]
        self._steps = [self._constant_step(k) for k in range(s.stages - 1)]
        names: list[tuple[str, Any, Callable[..., int]]] = [
            ("get_nx", library.DIM_K, lambda k, _: s.states[k] + chain.border),
            ("get_nu", library.DIM_K, lambda k, _: s.controls[k]),
            ("get_ng", library.DIM_K, lambda k, _: chain.equations[k].count),
            ("get_ng_ineq", library.DIM_K, lambda k, _: chain.inequalities[k].count),
            ("get_n_stage_params", library.DIM_K, lambda k, _: 0),
            ("get_n_global_params", library.DIM, lambda _: 0),
            ("get_horizon_length", library.DIM, lambda _: s.stages),
            ("get_bounds", library.BOUNDS, self._bounds),
            ("get_initial_xk", library.GET, lambda to, k, _: _put(to, start[k][s.controls[k] :])),
            ("get_initial_uk", library.GET, lambda to, k, _: _put(to, start[k][: s.controls[k]])),
            ("hessian", library.HESSIAN, self._guarded(self._hessian)),
            ("jacobian", library.JACOBIAN, self._guarded(self._jacobian)),
            ("violation", library.VIOLATION, self._guarded(self._violation)),
            ("gradient", library.COST, self._guarded(self._gradient)),
            ("cost", library.COST, self._guarded(self._cost)),
        ]
        self.interface = library.Interface()
        self._kept = [kind(call) for _, kind, call in names]
        for (name, _, _), call in zip(names, self._kept, strict=True):
            setattr(self.interface, name, call)

    def _constant(self, k: int, rows: _Rows) -> Array:
        """Transposed Jacobian of rows, filled where it never changes."""
        out = np.zeros((self.chain.widths[k], rows.count), order="F")
        out[rows.places, len(rows.own) + np.arange(len(rows.variables))] = 1.0
        copies, nu = np.arange(rows.copies), self.chain.sizes.controls[k]
        last = rows.count - rows.copies + copies
        out[nu + copies, last] = -1.0
        out[nu + self.chain.sizes.states[k] + copies, last] = 1.0
        return out

    def _constant_step(self, k: int) -> Array:
        s, border = self.chain.sizes, np.arange(self.chain.border)
        out = np.zeros((self.chain.widths[k], s.states[k + 1] + self.chain.border), order="F")
        out[s.controls[k] + s.states[k] + border, s.states[k + 1] + border] = 1.0
        return out

    def _guarded(self, call: Callable[..., None]) -> Callable[..., int]:
        def guarded(*arguments: Any) -> int:
            if self.error is None:
                try:
                    call(*arguments)
                except BaseException as error:  # noqa: BLE001  raised again after the solve
                    self.error = error
                    self.stop()
            return 1

        return guarded

    def _bounds(self, low: Any, high: Any, k: int, _: Any) -> int:
        p, s, rows = self._problem, self.chain.sizes, self.chain.inequalities[k]
        own = s.row_starts[k] + rows.own
        _put(low, np.concatenate([p.row_lower[own], p.lower[rows.variables], p.end_lower[rows.ends]]))
        return _put(high, np.concatenate([p.row_upper[own], p.upper[rows.variables], p.end_upper[rows.ends]]))

    def _w(self, address: int) -> Array:
        return self.chain.variables(_numbers(address, int(self.chain.offsets[-1])))

    def _hessian(self, scale: float, at: int, lam: int, _a: Any, _b: Any, matrices: Any, dims: Any, _u: Any) -> None:
        w, chain, dims = self._w(at), self.chain, dims[0]
        last = chain.sizes.stages - 1
        ends = dims.g_ineq_offs[last] + chain.inequalities[last].count
        length = max([ends, dims.g_offs[last] + chain.equations[last].count] + [
            dims.dyn_eq_offs[k] + chain.sizes.states[k + 1] + chain.border for k in range(last)
        ])  # fmt: skip
        m = chain.multipliers(_numbers(lam, length), dims)
        blocks, end_block = self._functions.hessian(w, scale, m.gaps, m.rows, m.end_rows)
        for k, H in enumerate(blocks):
            whole = np.zeros((chain.widths[k],) * 2, order="F")
            whole[np.ix_(chain.places[k], chain.places[k])] = H
            if k == last and chain.sizes.end_rows:
                whole[np.ix_(chain.ends, chain.ends)] += end_block
            self._store(whole, matrices, k)
        self._note(w)

    def _note(self, w: Array) -> None:
        """FATROP asks for one Hessian in every iteration."""
        v, p = self._functions.values(w), self._problem
        outside = np.concatenate([np.abs(v.gaps), p.row_lower - v.rows, v.rows - p.row_upper, [0.0]])
        unknown = (np.nan,) * 6
        self._watch.note(Iteration(len(self._watch.table), v.cost, float(outside.max()), *unknown))
        if self._watch.limit() in ("interrupted", "time limit"):
            self.stop()

    def _jacobian(self, at: int, _a: Any, _b: Any, steps: Any, equations: Any, others: Any, _d: Any, _u: Any) -> None:
        d, chain, s = self._functions.derivatives(self._w(at)), self.chain, self.chain.sizes
        for k in range(s.stages):
            if k + 1 < s.stages:
                self._steps[k][chain.places[k], : s.states[k + 1]] = d.gaps[k].T
                self._store(self._steps[k], steps, k)
            pairs = ((chain.equations[k], equations), (chain.inequalities[k], others))
            for block, (rows, to) in zip(self._blocks[k], pairs, strict=True):
                block[chain.places[k], : len(rows.own)] = d.rows[k][rows.own].T
                first = len(rows.own) + len(rows.variables)
                if len(rows.ends):
                    block[:, first : first + len(rows.ends)] = 0.0
                    block[chain.ends, first : first + len(rows.ends)] = d.end_rows[rows.ends].T
                self._store(block, to, k)

    def _violation(self, at: int, _a: Any, _b: Any, to: int, dims: Any, _u: Any) -> None:
        w, chain, s, p = self._w(at), self.chain, self.chain.sizes, self._problem
        v, dims = self._functions.values(w), dims[0]
        z = _numbers(at, int(chain.offsets[-1]))
        for k in range(s.stages):
            if k + 1 < s.stages:
                out = _numbers(to + 8 * dims.dyn_eq_offs[k], s.states[k + 1] + chain.border)
                out[: s.states[k + 1]] = v.gaps[s.gap_starts[k] : s.gap_starts[k + 1]]
                here, after = (z[chain.offsets[j] : chain.offsets[j + 1]] for j in (k, k + 1))
                out[s.states[k + 1] :] = (here[-chain.border :] - after[-chain.border :]) if chain.border else 0.0
            own = s.row_starts[k] + chain.equations[k].own
            rows, nu = chain.equations[k], s.controls[k]
            fixed = [v.rows[own] - p.row_lower[own], (w - p.lower)[rows.variables]]
            copy = z[nu + s.states[k] :][: rows.copies] - z[nu:][: rows.copies]
            ends = v.end_rows[rows.ends] - p.end_lower[rows.ends]
            _numbers(to + 8 * dims.g_offs[k], rows.count)[:] = np.concatenate([*fixed, ends, copy])
            rows = chain.inequalities[k]
            parts = [v.rows[s.row_starts[k] + rows.own], w[rows.variables], v.end_rows[rows.ends]]
            _numbers(to + 8 * dims.g_ineq_offs[k], rows.count)[:] = np.concatenate(parts)

    def _gradient(self, scale: float, at: int, _a: Any, _b: Any, to: int, _d: Any, _u: Any) -> None:
        out = _numbers(to, int(self.chain.offsets[-1]))
        out[:] = 0.0
        out[self.chain.where] = scale * self._functions.derivatives(self._w(at)).gradient

    def _cost(self, scale: float, at: int, _a: Any, _b: Any, to: int, _d: Any, _u: Any) -> None:
        _numbers(to, 1)[0] = scale * self._functions.values(self._w(at)).cost

    def _store(self, matrix: Array, to: Any, k: int) -> None:
        """Pack a matrix in the order of Fortran into FATROP's k-th one."""
        if matrix.size:
            address = c.addressof(to.contents) + k * c.sizeof(library.Matrix)
            self._pack(*matrix.shape, matrix.ctypes.data, matrix.shape[0], address, 0, 0)


def _put(to: Any, values: Array) -> int:
    for k, value in enumerate(values):
        to[k] = value
    return 0
