"""Staged programs with known answers: quadratic ones in numpy, nonlinear ones with CasADi's derivatives."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import casadi
import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.staged import Derivatives, Sizes, StagedProblem, Values


def split(sizes: Sizes, w: Array) -> tuple[list[Array], Array]:
    """(x_k, u_k, p) of every stage, and (x_0, x_N, p)."""
    return [w[sizes.block(k)] for k in range(sizes.stages)], w[sizes.end_block]


def next_states(sizes: Sizes, w: Array) -> Array:
    parts = [w[sizes.starts[k] : sizes.starts[k] + sizes.states[k]] for k in range(1, sizes.stages)]
    return np.concatenate([np.zeros(0), *parts])


@dataclass
class QuadraticFunctions:
    """½ zᵀ H_k z + h_k·z with z = (x_k, u_k, p); F_k = A_k z + a_k; c_k = C_k z; e = E (x_0, x_N, p)."""

    sizes: Sizes
    H: list[Array]
    h: list[Array]
    A: list[Array]
    a: list[Array]
    C: list[Array]
    E: Array

    def values(self, w: Array) -> Values:
        blocks, ends = split(self.sizes, w)
        cost = sum(0.5 * z @ H @ z + h @ z for z, H, h in zip(blocks, self.H, self.h, strict=True))
        gaps = np.concatenate([np.zeros(0), *(A @ z + a for z, A, a in zip(blocks, self.A, self.a, strict=False))])
        rows = np.concatenate([C @ z for z, C in zip(blocks, self.C, strict=True)])
        return Values(float(cost), gaps - next_states(self.sizes, w), rows, self.E @ ends)

    def derivatives(self, w: Array) -> Derivatives:
        gradient = np.zeros(self.sizes.variables)
        for k, z in enumerate(split(self.sizes, w)[0]):
            gradient[self.sizes.block(k)] += self.H[k] @ z + self.h[k]
        return Derivatives(gradient, self.A, self.C, self.E)

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        ends = len(self.sizes.end_block)
        return [cost * H for H in self.H], np.zeros((ends, ends))


Stage = Callable[[Any, Any, Any, int], tuple[Any, Any, Any]]
"""(x, u, p, k) → cost, next state (None at the end), rows (None for none)."""


class CasadiFunctions:
    """Stage functions written in CasADi's symbols, all derivatives exact."""

    def __init__(self, sizes: Sizes, stage: Stage, ends: Callable[[Any, Any, Any], Any] | None = None) -> None:
        self.sizes = sizes
        self._stages = [self._built(stage, k) for k in range(sizes.stages)]
        x0, xN, p = (casadi.SX.sym(n, m) for n, m in zip("abp", self._end_sizes(), strict=True))
        e = ends(x0, xN, p) if ends else casadi.SX(0, 1)
        lam, z = casadi.SX.sym("lam", sizes.end_rows), casadi.vertcat(x0, xN, p)
        second = casadi.hessian(casadi.dot(lam, e), z)[0]
        self._ends = casadi.Function("e", [z, lam], [e, casadi.jacobian(e, z), second])

    def _end_sizes(self) -> tuple[int, int, int]:
        return self.sizes.states[0], self.sizes.states[-1], self.sizes.parameters

    def _built(self, stage: Stage, k: int) -> tuple[Any, Any, Any]:
        s = self.sizes
        x, u, p = casadi.SX.sym("x", s.states[k]), casadi.SX.sym("u", s.controls[k]), casadi.SX.sym("p", s.parameters)
        f, F, c = stage(x, u, p, k)
        F = casadi.SX(0, 1) if F is None or k + 1 == s.stages else F
        c = casadi.SX(0, 1) if c is None else c
        z = casadi.vertcat(x, u, p)
        lam_f, lam_F, lam_c = casadi.SX.sym("s"), casadi.SX.sym("l", F.shape[0]), casadi.SX.sym("m", s.rows[k])
        L = lam_f * f + casadi.dot(lam_F, F) + casadi.dot(lam_c, c)
        first = [casadi.gradient(f, z), casadi.jacobian(F, z), casadi.jacobian(c, z)]
        return (
            casadi.Function("v", [z], [f, F, c]),
            casadi.Function("d", [z], first),
            casadi.Function("h", [z, lam_f, lam_F, lam_c], [casadi.hessian(L, z)[0]]),
        )

    def values(self, w: Array) -> Values:
        blocks, ends = split(self.sizes, w)
        parts = [[_flat(v) for v in f[0](z)] for f, z in zip(self._stages, blocks, strict=True)]
        gaps = np.concatenate([part[1] for part in parts]) - next_states(self.sizes, w)
        rows = np.concatenate([part[2] for part in parts])
        e = _flat(self._ends(ends, np.zeros(self.sizes.end_rows))[0])
        return Values(float(sum(part[0][0] for part in parts)), gaps, rows, e)

    def derivatives(self, w: Array) -> Derivatives:
        blocks, ends = split(self.sizes, w)
        parts = [[np.array(v) for v in f[1](z)] for f, z in zip(self._stages, blocks, strict=True)]
        gradient = np.zeros(self.sizes.variables)
        for k, part in enumerate(parts):
            gradient[self.sizes.block(k)] += part[0].ravel()
        e = np.array(self._ends(ends, np.zeros(self.sizes.end_rows))[1]).reshape(self.sizes.end_rows, len(ends))
        return Derivatives(gradient, [part[1] for part in parts[:-1]], [part[2] for part in parts], e)

    def hessian(self, w: Array, cost: float, gaps: Array, rows: Array, end_rows: Array) -> tuple[list[Array], Array]:
        blocks, ends = split(self.sizes, w)
        s, out = self.sizes, []
        for k, z in enumerate(blocks):
            gap = gaps[s.gap_starts[k] : s.gap_starts[k + 1]] if k + 1 < s.stages else np.zeros(0)
            out.append(np.array(self._stages[k][2](z, cost, gap, rows[s.row_starts[k] : s.row_starts[k + 1]])))
        return out, np.array(self._ends(ends, end_rows)[2])


def _flat(matrix: Any) -> Array:
    return np.array(matrix).ravel()


def free(n: int) -> tuple[Array, Array]:
    return np.full(n, -np.inf), np.full(n, np.inf)


def regulator(N: int = 12) -> tuple[StagedProblem, tuple[Array, ...]]:
    """A double integrator with an LQ cost; x_0 is fixed. Also A, B, Q, R and x_0."""
    A, B = np.array([[1.0, 0.1], [0.0, 1.0]]), np.array([[0.005], [0.1]])
    Q, R, x0 = np.diag([2.0, 0.5]), np.array([[0.3]]), np.array([1.0, -0.4])
    sizes = Sizes((2,) * (N + 1), (1,) * N + (0,), (0,) * (N + 1))
    H = [np.block([[Q, np.zeros((2, 1))], [np.zeros((1, 2)), R]])] * N + [Q]
    functions = QuadraticFunctions(
        sizes, H, [np.zeros(len(h)) for h in H], [np.hstack([A, B])] * N, [np.zeros(2)] * N,
        [np.zeros((0, len(h))) for h in H], np.zeros((0, 4)),
    )  # fmt: skip
    lower, upper = free(sizes.variables)
    lower[:2] = upper[:2] = x0
    empty = np.zeros(0)
    problem = StagedProblem(sizes, functions, np.zeros(sizes.variables), lower, upper, empty, empty)
    return problem, (A, B, Q, R, x0)


def random_program(seed: int, convex: bool = True) -> StagedProblem:
    """A random staged quadratic program with all kinds of constraints; feasible by construction."""
    rng = np.random.default_rng(seed)
    N = int(rng.integers(2, 6))
    states = tuple(int(n) for n in rng.integers(1, 5, N + 1))
    controls = (*(int(n) for n in rng.integers(1, 4, N)), 0)
    rows = tuple(int(n) for n in rng.integers(0, 3, N + 1))
    sizes = Sizes(states, controls, rows, int(rng.integers(0, 3)), int(rng.integers(0, 2)))
    blocks = [len(sizes.block(k)) for k in range(N + 1)]
    roots = [rng.normal(size=(n, n)) for n in blocks]
    A = [rng.normal(size=(states[k + 1], blocks[k])) for k in range(N)]
    C = [rng.normal(size=(rows[k], blocks[k])) for k in range(N + 1)]
    E = rng.normal(size=(sizes.end_rows, len(sizes.end_block)))
    inside = rng.normal(size=sizes.variables)
    zero = [np.zeros(n) for n in states[1:]]
    H = [r @ r.T + 1e-2 * np.eye(len(r)) for r in roots]
    functions = QuadraticFunctions(sizes, H, [3.0 * rng.normal(size=n) for n in blocks], A, zero, C, E)
    values = functions.values(inside)
    functions.a = [-values.gaps[sizes.gap_starts[k] : sizes.gap_starts[k + 1]] for k in range(N)]
    lower, upper = _around(rng, inside, 0.4, fixed=0.05)
    row_lower, row_upper = _around(rng, values.rows, 0.4, fixed=0.2)
    end_lower, end_upper = _around(rng, values.end_rows, 0.4, fixed=0.5)
    w0 = rng.normal(size=sizes.variables)
    return StagedProblem(sizes, functions, w0, lower, upper, row_lower, row_upper, end_lower, end_upper)


def _around(rng: np.random.Generator, at: Array, share: float, fixed: float) -> tuple[Array, Array]:
    """Bounds around a point; `share` of the ends are infinite, and `fixed` of the bounds equal."""
    lower, upper = at - rng.uniform(0.1, 2.0, at.shape), at + rng.uniform(0.1, 2.0, at.shape)
    lower[rng.random(at.shape) < share] = -np.inf
    upper[rng.random(at.shape) < share] = np.inf
    equal = rng.random(at.shape) < fixed
    lower[equal] = upper[equal] = at[equal]
    return lower, upper


@cache
def swing_up(N: int = 24, force: float = 10.0) -> StagedProblem:
    """Minimum time for a pendulum on a torque of ±`force`/2 from hanging to upright; p is the duration."""
    sizes = Sizes((2,) * (N + 1), (1,) * N + (0,), (0,) * (N + 1), parameters=1)

    def slope(x: Any, u: Any) -> Any:
        return casadi.vertcat(x[1], u[0] - 9.81 * casadi.sin(x[0]))

    def stage(x: Any, u: Any, p: Any, k: int) -> tuple[Any, Any, Any]:
        if k == N:
            return p[0], None, None
        h = p[0] / N
        k1 = slope(x, u)
        k2 = slope(x + 0.5 * h * k1, u)
        k3 = slope(x + 0.5 * h * k2, u)
        k4 = slope(x + h * k3, u)
        return 1e-3 * h * u[0] ** 2, x + h / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4), None

    lower, upper = free(sizes.variables)
    controls = np.concatenate([np.arange(s + 2, s + 3) for s in sizes.starts[:-2]])
    lower[controls], upper[controls] = -0.5 * force, 0.5 * force
    lower[-1], upper[-1] = 0.2, 10.0
    lower[:2] = upper[:2] = 0.0
    last = slice(int(sizes.starts[-2]), int(sizes.starts[-2]) + 2)
    lower[last] = upper[last] = [np.pi, 0.0]
    w0 = np.zeros(sizes.variables)
    w0[sizes.starts[:-1]] = np.linspace(0.0, np.pi, N + 1)
    w0[-1] = 2.0
    empty = np.zeros(0)
    return StagedProblem(sizes, CasadiFunctions(sizes, stage), w0, lower, upper, empty, empty)


def periodic(N: int = 10) -> StagedProblem:
    """A driven oscillator whose motion repeats: x_N = x_0, nothing else is fixed; p is its stiffness, best at 2."""
    sizes = Sizes((2,) * (N + 1), (1,) * N + (0,), (1,) * N + (0,), parameters=1, end_rows=2)
    h = 1.5 / N

    def stage(x: Any, u: Any, p: Any, k: int) -> tuple[Any, Any, Any]:
        if k == N:
            return 0.1 * (p[0] - 2.0) ** 2, None, None
        drive = np.cos(2.0 * np.pi * k / N)
        speed = x[1] + h * (u[0] - p[0] * casadi.sin(x[0]) + drive)
        cost = h * (u[0] ** 2 + 0.1 * (x[0] - 0.3) ** 2)
        return cost, casadi.vertcat(x[0] + h * speed, speed), x[0] + 0.1 * x[1]

    lower, upper = free(sizes.variables)
    lower[-1], upper[-1] = 0.5, 5.0
    functions = CasadiFunctions(sizes, stage, lambda a, b, p: b - a)
    w0 = np.append(np.zeros(sizes.variables - 1), 1.0)
    rows, zero = np.ones(N), np.zeros(2)
    return StagedProblem(sizes, functions, w0, lower, upper, -0.2 * rows, 0.5 * rows, zero, zero)


def redundant(N: int = 6) -> StagedProblem:
    """A cart that follows a circle; the same equations are given twice, once out of scale."""
    sizes = Sizes((4,) * (N + 1), (2,) * N + (0,), (2,) * N + (0,))
    h = 0.2

    def stage(x: Any, u: Any, p: Any, k: int) -> tuple[Any, Any, Any]:
        if k == N:
            return casadi.sumsqr(x[:2] - casadi.vertcat(0.0, 1.0)), None, None
        after = casadi.vertcat(x[:2] + h * x[2:] + h * h * u, x[2:] + h * u)
        circle = after[0] ** 2 + after[1] ** 2 - 1.0
        cost = h * (casadi.sumsqr(u) + casadi.sumsqr(x[2:]))
        return cost, after, casadi.vertcat(circle, 300.0 * circle)

    lower, upper = free(sizes.variables)
    start = np.array([1.0, 0.0, 0.0, 0.0])
    lower[:4] = upper[:4] = start
    w0 = np.zeros(sizes.variables)
    for k in range(N + 1):
        w0[sizes.starts[k] : sizes.starts[k] + 4] = start
    zero = np.zeros(2 * N)
    return StagedProblem(sizes, CasadiFunctions(sizes, stage), w0, lower, upper, zero, zero)


def too_far(N: int = 8) -> StagedProblem:
    """A mass that cannot reach its goal: |u| ≤ 1 as rows, from rest at 0 to rest at 10 in 2 s."""
    h = 2.0 / N
    sizes = Sizes((2,) * (N + 1), (1,) * N + (0,), (1,) * N + (2,))

    def stage(x: Any, u: Any, p: Any, k: int) -> tuple[Any, Any, Any]:
        if k == N:
            return casadi.SX(0.0), None, casadi.vertcat(x[0], casadi.sinh(x[1]))
        return h * u[0] ** 2, casadi.vertcat(x[0] + h * x[1] + 0.5 * h * h * u[0], x[1] + h * u[0]), u[0]

    lower, upper = free(sizes.variables)
    lower[:2] = upper[:2] = 0.0
    names = ("force limit",) * N + ("goal position", "goal speed")
    row_lower, row_upper = np.append(-np.ones(N), [10.0, 0.0]), np.append(np.ones(N), [10.0, 0.0])
    functions = CasadiFunctions(sizes, stage)
    return StagedProblem(
        sizes, functions, np.zeros(sizes.variables), lower, upper, row_lower, row_upper, row_names=names
    )  # fmt: skip
