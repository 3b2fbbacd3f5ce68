"""Factorisation of the Newton system of a staged program: a backward sweep over value functions.

The system, with hard equations C dw − δ dy = −c and everything else condensed into the Hessian:

    (H + diagonal + CᵀΘC) dw + Gᵀ dλ + Cᵀ dy = −h,     G dw = −gaps,     C dw − δ dy = −c

V_k(x_k, b) is the least value of the stages from k on, a quadratic in the state and in the border b = (the part of x_0
that end rows see, p). One stage is eliminated by Cholesky factors of its controls and of its equations, after a
multiple ρ of CᵀC has made the former positive definite, which changes dy only. Equations that controls cannot meet go
on as a stiff part of V, through δ: redundant equations need no rank decision (Vanroye et al. 2023 pass them on
exactly). The inertia is right if and only if all factorisations succeed (a large enough ρ given).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas, lapack

from surefoot.arrays import Array
from surefoot.solvers.staged.riccati.blocks import Blocks, Quadratic
from surefoot.solvers.staged.riccati.form import Form, Slopes
from surefoot.solvers.staged.riccati.products import add_sandwich, add_squares

_CONVEXIFY = (1e2, 1e6)  # multiples of CᵀC relative to the Hessian: first choice, and last
_STIFF = 1e-8  # δ relative to the size of C H⁻¹ Cᵀ


class WrongInertiaError(Exception):
    """The reduced Hessian is not positive definite."""


@dataclass(frozen=True)
class _Stage:
    """What one stage leaves behind: v = (x, b) are the variables before it.

    y' = −equations⁻ᵀ prices v + …, and u = −controls⁻ᵀ (columns y' + states v) + ….
    """

    value: Array  # V_k over v
    controls: Array  # Cholesky factor, lower
    equations: Array  # Cholesky factor, lower
    columns: Array  # controls⁻¹ Cuᵀ
    states: Array  # controls⁻¹ Muv
    prices: Array  # equations⁻¹ (columnsᵀ states − Cv)
    held: Array  # Cv
    convex: Array  # ρ of the hard rows
    jacobian: Array  # of the hard rows, over (x, u, b)
    rows: NDArray[np.intp]  # numbers of the hard rows


class Sweep:
    """Factors of one Newton system.

    Args:
        form: Sizes and places of rows.
        slopes: First derivatives.
        quadratic: Second-order part.

    Raises:
        WrongInertiaError: The Hessian is not positive definite on the null space of the constraints.
    """

    def __init__(self, form: Form, slopes: Slopes, quadratic: Quadratic) -> None:
        self._form, self._slopes, self._sizes = form, slopes, form.sizes
        s, self._blocks = self._sizes, Blocks(form, slopes, quadratic)
        self._first, self._border = self._blocks.first, self._blocks.border
        self._hard = [quadratic.hard[self._blocks.rows(k)] for k in range(s.stages)]
        self.delta = np.zeros(len(form.kept))
        self._places = [self._blocks.columns(k) for k in range(s.stages)] if len(self._first) else []
        self._stages: list[_Stage] = []
        self._give = quadratic.give
        self._lifts = [np.zeros((0, 0))] * s.stages  # from the gradient of V_k to that seen from before the gap
        self._seen = [np.zeros((0, 0))] * s.stages  # V_k seen from before the gap
        value = np.zeros((self._border, self._border))
        for k in reversed(range(s.stages)):
            self._stages.insert(0, self._eliminate(k, value, quadratic))
            value = self._seen[k] = self._soften(k, self._stages[0].value)
        self._close(quadratic)

    def _eliminate(self, k: int, after: Array, quadratic: Quadratic) -> _Stage:
        """Value function before stage k from the one after it."""
        s, nx, nu = self._sizes, self._sizes.states[k], self._sizes.controls[k]
        rows, hard, C = self._blocks.rows(k), self._hard[k], self._blocks.jacobian(k)
        M = self._blocks.hessian(k)
        size = max(1.0, float(np.abs(quadratic.hessian[k]).max(initial=0.0)))
        length = np.maximum(np.einsum("ij,ij->i", C[hard], C[hard]), 1e-12)
        weight = quadratic.weight[rows]
        weight[hard] = _CONVEXIFY[0] * size / length
        self.delta[rows[hard]] = _STIFF * length / size
        add_squares(M, C, weight)
        if k + 1 < s.stages:
            G, n = self._blocks.wide(k, self._slopes.gaps[k]), s.states[k + 1]
            add_sandwich(M, after[:n, :n], G)
            if self._border:
                cross, b = G.T @ after[:n, n:], nx + nu
                M[:, b:] += cross
                M[b:] += cross.T
                M[b:, b:] += after[n:, n:]
        C = C[hard]
        try:
            return self._stage(k, M, C, weight[hard])
        except WrongInertiaError:
            if not hard.any():
                raise
            more = (_CONVEXIFY[1] / _CONVEXIFY[0] - 1.0) * weight[hard]
            return self._stage(k, M + C.T @ (more[:, None] * C), C, weight[hard] + more)

    def _soften(self, k: int, value: Array) -> Array:
        """V_k as a function of where the gap before it would end: V − V_:x (P + D⁻¹)⁻¹ V_x:."""
        if self._give is None or not k:
            return value
        n = self._sizes.states[k]
        K = value[:n, :n].copy()
        K.ravel()[:: n + 1] += 1.0 / self._give[self._sizes.gap_starts[k - 1] : self._sizes.gap_starts[k]]
        self._lifts[k] = lapack.dpotrs(_cholesky(K), value[:n], lower=1)[0].T
        softer: Array = value - self._lifts[k] @ value[:n]
        return 0.5 * (softer + softer.T)

    def _stage(self, k: int, M: Array, C: Array, convex: Array) -> _Stage:
        """Eliminate controls and equations from M over z = (x, u, b)."""
        nx, nu, m = self._sizes.states[k], self._sizes.controls[k], len(C)
        u, rows = slice(nx, nx + nu), self._blocks.rows(k)[self._hard[k]]
        b, v = slice(nx + nu, len(M)), nx + self._border
        Mu = M[u]
        Cv = np.hstack([C[:, :nx], C[:, b]]) if self._border else C[:, :nx]
        L = _cholesky(Mu[:, u]) if nu else np.zeros((0, 0), order="F")
        Y = np.empty((nu, m + Cv.shape[1]), order="F")
        Y[:, :m], Y[:, m : m + nx], Y[:, m + nx :] = C[:, u].T, Mu[:, :nx], Mu[:, b]
        if nu:
            Y = blas.dtrsm(1.0, L, Y, lower=1, overwrite_b=1)
        Y1, Y2 = Y[:, :m], Y[:, m:]
        value = np.empty((v, v))
        value[:nx, :nx], value[:nx, nx:], value[nx:, :nx], value[nx:, nx:] = M[:nx, :nx], M[:nx, b], M[b, :nx], M[b, b]
        value -= Y2.T @ Y2
        if not m:
            return _Stage(value, L, np.zeros((0, 0), order="F"), Y1, Y2, Cv, Cv, convex, C, rows)
        S = Y1.T @ Y1
        delta = self.delta[rows]
        S.ravel()[:: m + 1] += delta / (1.0 - delta * convex)
        E = _cholesky(S)
        T = blas.dtrsm(1.0, E, np.asfortranarray(Y1.T @ Y2 - Cv), lower=1, overwrite_b=1)
        value += T.T @ T
        return _Stage(value, L, E, Y1, Y2, T, Cv, convex, C, rows)

    def _close(self, quadratic: Quadratic) -> None:
        """Factor the value function of the first state and the border."""
        s, nx = self._sizes, self._sizes.states[0]
        V = self._stages[0].value
        at = np.concatenate([np.arange(nx), self._first, nx + np.arange(s.parameters)])  # v in (x_0, p)
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
        s, N = self._sizes, self._sizes.stages
        slope = np.zeros(self._border)
        slopes = [np.zeros(0)] * N
        own: list[tuple[Array, Array]] = []
        for k in reversed(range(N)):
            slope, steps = self._backward(k, h, gaps, rows, slope)
            own.insert(0, steps)
            if k and self._give is not None:
                slope = slope - self._lifts[k] @ slope[: s.states[k]]
            slopes[k] = slope
        v = self._first_step(h, slopes[0])
        b = v[s.states[0] :]
        dw, dgaps, dy = np.zeros(s.variables), np.empty(s.gaps), np.zeros(len(self._form.kept))
        dw[self._form.shared] = b[len(self._first) :]
        for k in range(N):
            if k:
                gap = self._form.gap[k - 1]
                dgaps[gap] = self._seen[k][: s.states[k]] @ v + slopes[k][: s.states[k]]
                if self._give is not None:
                    v[: s.states[k]] -= self._give[gap] * dgaps[gap]
            x = self._forward(k, v, own[k], gaps, rows, dw, dy)
            v = np.concatenate([x, b])
        return dw, dgaps, dy

    def _backward(self, k: int, h: Array, gaps: Array, rows: Array, after: Array) -> tuple[Array, tuple[Array, Array]]:
        """Gradient of V_k, and the constant parts of controls⁻¹ mu and of multipliers."""
        s, nx, nu, stage = self._sizes, self._sizes.states[k], self._sizes.controls[k], self._stages[k]
        m = np.zeros(nx + nu + self._border)
        m[: nx + nu] = h[self._form.own[k]]
        m[nx : nx + nu][self._form.frozen[self._form.own[k]][nx:]] = 0.0
        if k + 1 < s.stages:
            n, V = s.states[k + 1], self._seen[k + 1]
            r = gaps[self._form.gap[k]]
            push = V[:, :n] @ r + after
            part = push[:n] @ self._slopes.gaps[k]
            if self._places:
                m[self._places[k]] += part
            else:
                m += part
            m[nx + nu :] += push[n:]
        else:
            m[nx + nu :] += after
        c = np.zeros(0)
        if len(stage.convex):
            c = rows[stage.rows]
            m += (stage.convex * c) @ stage.jacobian
        mu = m[nx : nx + nu]
        mv = np.concatenate([m[:nx], m[nx + nu :]])
        push = blas.dtrsv(stage.controls, mu, lower=1) if nu else mu
        if not len(c):
            return mv - push @ stage.states, (push, c)
        y = lapack.dpotrs(stage.equations, c - push @ stage.columns, lower=1)[0]
        return mv - (push + stage.columns @ y) @ stage.states + y @ stage.held, (push, y)

    def _first_step(self, h: Array, slope: Array) -> Array:
        """(x_0, b) that minimises the value of all stages."""
        s, nx = self._sizes, self._sizes.states[0]
        total = np.zeros(nx + s.parameters)
        np.add.at(total, self._at, slope)
        total[nx:] += h[self._form.shared]
        step = np.zeros(len(total))
        if len(self._free):
            step[self._free] = -lapack.dpotrs(self._start, total[self._free], lower=1)[0]
        return step[self._at]

    def _forward(
        self, k: int, v: Array, own: tuple[Array, Array], gaps: Array, rows: Array, dw: Array, dy: Array
    ) -> Array:
        """Write the step of stage k; the next state."""
        s, nx, stage = self._sizes, self._sizes.states[k], self._stages[k]
        push, y = own[0] + stage.states @ v, own[1]
        if len(y):
            y = y - blas.dtrsv(stage.equations, stage.prices @ v, lower=1, trans=1)
            push += stage.columns @ y
        u = -blas.dtrsv(stage.controls, push, lower=1, trans=1) if len(push) else push
        z = np.concatenate([v[:nx], u, v[nx:]])
        dw[self._form.own[k]] = z[: nx + len(u)]
        if len(y):
            dy[stage.rows] = y + stage.convex * (stage.jacobian @ z + rows[stage.rows])
        if k + 1 == s.stages:
            return np.zeros(0)
        z = z[self._places[k]] if self._places else z
        return self._slopes.gaps[k] @ z + gaps[self._form.gap[k]]

    def feedback(self, count: int | None = None) -> tuple[Array, ...]:
        """K_k (nu_k, nx_k) with p held; of the first stages only where a count is given."""
        out = []
        for stage, nx in zip(self._stages[:count], self._sizes.states[:count], strict=True):
            K = stage.states[:, :nx]
            if len(stage.convex):
                K = K - stage.columns @ blas.dtrsm(1.0, stage.equations, stage.prices[:, :nx], lower=1, trans_a=1)
            out.append(np.ascontiguousarray(blas.dtrsm(-1.0, stage.controls, K, lower=1, trans_a=1) if len(K) else K))
        return tuple(out)


def _cholesky(A: Array) -> Array:
    """Lower factor in the order of Fortran; what is above the diagonal is arbitrary."""
    L, info = lapack.dpotrf(A.T if A.flags.c_contiguous else A, lower=1, clean=0)
    if info or not np.isfinite(L[-1, -1]):
        raise WrongInertiaError
    return L
