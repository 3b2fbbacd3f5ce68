"""Factorisation of the Newton system of a staged program: a backward sweep over value functions.

The system, with hard equations C dw − δ dy = −c and everything else condensed into the Hessian:

    (H + diagonal + CᵀΘC) dw + Gᵀ dλ + Cᵀ dy = −h,     G dw = −gaps,     C dw − δ dy = −c

V_k(x_k, b) is the least value of the stages from k on, a quadratic in the state and in the border b = (the part of x_0
that end rows see, p). One stage is eliminated by pivots for its controls and its equations (`elimination`), after a
multiple ρ of CᵀC has made the former positive definite, which changes dy only. Equations that controls cannot meet go
on as a stiff part of V, through δ: redundant equations need no rank decision (Vanroye et al. 2023 pass them on
exactly). The inertia is right if and only if all pivots have the right sign (a large enough ρ given).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.elimination import SWEEP
from surefoot.solvers.staged.riccati.form import Form, Slopes
from surefoot.solvers.staged.riccati.layout import Layout, padded

_CONVEXIFY = (1e2, 1e6)  # multiples of CᵀC relative to the Hessian: first choice, and last
_STIFF = 1e-8  # δ relative to the size of C H⁻¹ Cᵀ


class WrongInertiaError(Exception):
    """The reduced Hessian is not positive definite."""


@dataclass(frozen=True)
class Quadratic:
    """Second-order part of the Newton system.

    Attributes:
        hessian: N + 1 blocks over (x_k, u_k, p), one after the other.
        ends: block over (x_0, x_N, p).
        diagonal: added to the Hessian, (variables,).
        weight: Θ of rows that are condensed, zero for hard equations, (rows,).
        hard: rows that remain equations, (rows,).
        give: D by which gaps give way, G dw − D dλ = −gaps, (gaps,); None where they are closed.
    """

    hessian: Array
    ends: Array
    diagonal: Array
    weight: Array
    hard: NDArray[np.bool_]
    give: Array | None = None


class Sweep:
    """Factors of one Newton system.

    Args:
        form: Sizes and places of rows.
        slopes: First derivatives.
        quadratic: Second-order part.
        memory: A layout, to be used if it fits; sweeps that share it overwrite each other.

    Raises:
        WrongInertiaError: The Hessian is not positive definite on the null space of the constraints.
    """

    def __init__(self, form: Form, slopes: Slopes, quadratic: Quadratic, memory: Layout | None = None) -> None:
        self._form, self._sizes, nx = form, form.sizes, form.sizes.states[0]
        seen = np.zeros(nx, dtype=bool)
        if len(form.end_rows):
            seen = (np.abs(slopes.ends[:, :nx]).sum(axis=0) + np.abs(quadratic.ends[:nx]).sum(axis=1)) > 0.0
        first = np.flatnonzero(seen & ~form.frozen[:nx])
        if memory is None or not np.array_equal(memory.first, first):
            memory = Layout(form, quadratic.hard, first)
        self.memory = memory
        self._weight, self.delta = padded(quadratic.weight), np.zeros(len(form.kept))
        self._slopes, self._soft = slopes, quadratic.give is not None
        self._give = np.zeros(0) if quadratic.give is None else np.ascontiguousarray(quadratic.give)
        self._factor(quadratic)
        self._close(quadratic)

    def _rows(self) -> tuple[int, ...]:
        form = self._form
        return *_at(self._slopes.values, form.columns, form.starts, self.memory.places), self._sizes.gaps

    def _factor(self, quadratic: Quadratic) -> None:
        m, form, stages = self.memory, self._form, self._sizes.stages
        H, E, diagonal = (np.ascontiguousarray(x) for x in (quadratic.hessian, quadratic.ends, quadratic.diagonal))
        done = SWEEP["factor"](
            *_at(m.sizes), stages, *_at(H, diagonal, form.still), *self._rows(),
            *_at(self._weight, m.hard, self.delta), self._soft, *_at(self._give, E), len(E), int(form.tables[-2]),
            *_at(m.factors, m.values, m.softened, *m.scratch, m.ones, m.small[0]), *_CONVEXIFY, _STIFF,
        )  # fmt: skip
        if not done:
            raise WrongInertiaError

    def _close(self, quadratic: Quadratic) -> None:
        """Factor the value function of the first state and the border."""
        s, nx, first = self._sizes, self._sizes.states[0], self.memory.first
        width = nx + self.memory.border
        V = self.memory.values[: width**2].reshape(width, width)
        at = np.concatenate([np.arange(nx), first, nx + np.arange(s.parameters)])  # v in (x_0, p)
        W = np.zeros((nx + s.parameters,) * 2)
        np.add.at(W, np.ix_(at, at), V)
        p = np.arange(nx, len(W))
        W[p, p] += quadratic.diagonal[s.starts[-1] :]
        frozen = np.concatenate([self._form.frozen[:nx], self._form.frozen[s.starts[-1] :]])
        self._at, self._free = at, np.flatnonzero(~frozen)
        self._start = _cholesky(W[np.ix_(self._free, self._free)]) if len(self._free) else np.zeros((0, 0))

    def solve(self, h: Array, gaps: Array, rows: Array) -> tuple[Array, Array, Array]:
        """Solution (dw, dλ, dy) of the system; dy is zero but for hard rows.

        Args:
            h: Gradient, (variables,).
            gaps: Residuals of gaps.
            rows: Residuals of rows; only hard ones count.
        """
        s, m, form = self._sizes, self.memory, self._form
        h, gaps, rows = (np.ascontiguousarray(x) for x in (h, gaps, rows))
        SWEEP["backward"](
            *_at(m.sizes), s.stages, *_at(h, form.still, gaps, rows), *self._rows(), *_at(self._weight, m.hard),
            self._soft, *_at(m.factors, m.values, m.softened, *m.small[:2], m.left, m.slopes),
        )  # fmt: skip
        v, z = m.small[:2]
        start = self._first_step(h)
        v[: len(start)] = start
        dw, dgaps, dy = np.zeros(s.variables), np.empty(s.gaps), np.zeros(len(form.kept))
        dw[form.shared] = start[s.states[0] + len(m.first) :]
        SWEEP["walk"](
            *_at(m.sizes), s.stages, *_at(v, gaps, rows), *self._rows(), *_at(self._weight, m.hard), self._soft,
            *_at(self._give, m.factors, m.values, m.left, m.slopes, z, dw, dgaps, dy),
        )  # fmt: skip
        return dw, dgaps, dy

    def _first_step(self, h: Array) -> Array:
        """(x_0, b) that minimises the value of all stages."""
        s, nx = self._sizes, self._sizes.states[0]
        total = np.zeros(nx + s.parameters)
        np.add.at(total, self._at, self.memory.slopes[: len(self._at)])
        total[nx:] += h[self._form.shared]
        step = np.zeros(len(total))
        if len(self._free):
            step[self._free] = -lapack.dpotrs(self._start, total[self._free], lower=1)[0]
        return step[self._at]

    def feedback(self, count: int | None = None) -> tuple[Array, ...]:
        """K_k (nu_k, nx_k) with p held; of the first stages only where a count is given."""
        out = []
        for nx, nu, _, hard, n, _, at, *_ in self.memory.sizes[:count].tolist():
            pivots = nu + hard
            R = self.memory.factors[at : at + pivots * n].reshape(pivots, n)
            K = blas.dtrsm(-1.0, R[:, :pivots], R[:, pivots : pivots + nx], lower=0)[:nu] if nu else np.zeros((0, nx))
            out.append(np.ascontiguousarray(K))
        return tuple(out)


def _at(*arrays: Array | NDArray[np.int64]) -> list[int]:
    """Addresses of contiguous arrays."""
    return [array.ctypes.data for array in arrays]


def _cholesky(A: Array) -> Array:
    """Lower factor in the order of Fortran; what is above the diagonal is arbitrary."""
    L, info = lapack.dpotrf(A.T if A.flags.c_contiguous else A, lower=1, clean=0)
    if info or not np.isfinite(L[-1, -1]):
        raise WrongInertiaError
    return L
