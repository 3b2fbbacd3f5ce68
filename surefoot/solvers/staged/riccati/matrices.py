"""The matrix of one stage of the Riccati sweep, filled and eliminated: loops for `NativeCode`, see `elimination`."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from surefoot.codegen.loops import Floats, Ints


def add_products(
    A: Floats, stride: int, first: int, last: int, X: Floats, x_at: int, x_stride: int, S: Floats, s_at: int,
    weight: Floats, w_at: int, count: int, upper: int
) -> None:  # fmt: skip
    """A[i, j] += Σ_l weight[t] X[t, i] S[t, j] for rows i from first to last; for j ≥ i only where `upper`."""
    for t in range(0, count, 8):
        x0 = x_at + t * x_stride
        x1 = x_at + min(t + 1, count - 1) * x_stride
        x2 = x_at + min(t + 2, count - 1) * x_stride
        x3 = x_at + min(t + 3, count - 1) * x_stride
        x4 = x_at + min(t + 4, count - 1) * x_stride
        x5 = x_at + min(t + 5, count - 1) * x_stride
        x6 = x_at + min(t + 6, count - 1) * x_stride
        x7 = x_at + min(t + 7, count - 1) * x_stride
        s0 = s_at + t * stride
        s1 = s_at + min(t + 1, count - 1) * stride
        s2 = s_at + min(t + 2, count - 1) * stride
        s3 = s_at + min(t + 3, count - 1) * stride
        s4 = s_at + min(t + 4, count - 1) * stride
        s5 = s_at + min(t + 5, count - 1) * stride
        s6 = s_at + min(t + 6, count - 1) * stride
        s7 = s_at + min(t + 7, count - 1) * stride
        w0 = weight[w_at + t]
        w1 = weight[w_at + t + 1] if t + 1 < count else 0.0
        w2 = weight[w_at + t + 2] if t + 2 < count else 0.0
        w3 = weight[w_at + t + 3] if t + 3 < count else 0.0
        w4 = weight[w_at + t + 4] if t + 4 < count else 0.0
        w5 = weight[w_at + t + 5] if t + 5 < count else 0.0
        w6 = weight[w_at + t + 6] if t + 6 < count else 0.0
        w7 = weight[w_at + t + 7] if t + 7 < count else 0.0
        for i in range(first, last):
            f0 = w0 * X[x0 + i]
            f1 = w1 * X[x1 + i]
            f2 = w2 * X[x2 + i]
            f3 = w3 * X[x3 + i]
            f4 = w4 * X[x4 + i]
            f5 = w5 * X[x5 + i]
            f6 = w6 * X[x6 + i]
            f7 = w7 * X[x7 + i]
            at = i * stride
            if not (f4 == 0.0 and f5 == 0.0 and f6 == 0.0 and f7 == 0.0):
                for j in range(i * upper, stride):
                    A[at + j] += (
                        f0 * S[s0 + j] + f1 * S[s1 + j] + f2 * S[s2 + j] + f3 * S[s3 + j]
                        + f4 * S[s4 + j] + f5 * S[s5 + j] + f6 * S[s6 + j] + f7 * S[s7 + j]
                    )  # fmt: skip
            else:
                if not (f0 == 0.0 and f1 == 0.0 and f2 == 0.0 and f3 == 0.0):
                    for j in range(i * upper, stride):
                        A[at + j] += f0 * S[s0 + j] + f1 * S[s1 + j] + f2 * S[s2 + j] + f3 * S[s3 + j]


def eliminate(A: Floats, n: int, positive: int, pivots: int, weight: Floats) -> int:
    """Eliminate the first unknowns: rows of R and V take the place of A's; 0 where a pivot has the wrong sign.

    `weight` (pivots,) is scratch.
    """
    for b in range(0, pivots, 8):
        e = min(b + 8, pivots)
        for i in range(b, e):
            if i > b:
                add_products(A, n, i, i + 1, A, b * n, n, A, b * n, weight, b, i - b, 1)
            sign = 1.0 if i < positive else -1.0
            pivot = sign * A[i * n + i]
            if not (pivot > 0.0 and pivot < 1e300):
                return 0
            scale = sign / sqrt(pivot)
            for j in range(i, n):
                A[i * n + j] *= scale
            weight[i] = -sign
        add_products(A, n, e, n, A, b * n, n, A, b * n, weight, b, e - b, 1)
    return 1


def put_hessian(
    A: Floats, n: int, H: Floats, at: int, nx: int, nu: int, m: int, np: int, diagonal: Floats, own: int
) -> None:
    """A ← Hessian over (x, u, p) with the diagonal of x and u."""
    width = nx + nu + np
    x = nu + m
    p = n - np
    for i in range(n * n):
        A[i] = 0.0
    for a in range(nu):
        row = at + (nx + a) * width
        for c in range(a, nu):
            A[a * n + c] = H[row + nx + c]
        for c in range(nx):
            A[a * n + x + c] = H[row + c]
        for c in range(np):
            A[a * n + p + c] = H[row + nx + nu + c]
        A[a * n + a] += diagonal[own + nx + a]
    for a in range(nx):
        row = at + a * width
        for c in range(a, nx):
            A[(x + a) * n + x + c] = H[row + c]
        for c in range(np):
            A[(x + a) * n + p + c] = H[row + nx + nu + c]
        A[(x + a) * n + x + a] += diagonal[own + a]
    for a in range(np):
        row = at + (nx + nu + a) * width
        for c in range(a, np):
            A[(p + a) * n + p + c] = H[row + nx + nu + c]


def freeze(A: Floats, n: int, nu: int, still: Ints, first: int) -> None:
    """Controls that cannot move stand alone."""
    for a in range(nu):
        if still[first + a] != 0:
            for i in range(a):
                A[i * n + a] = 0.0
            for i in range(a, n):
                A[a * n + i] = 0.0
            A[a * n + a] = 1.0


def put_rows(
    T: Floats, n: int, first: int, last: int, values: Floats, columns: Ints, ends: Ints, places: Ints
) -> None:  # fmt: skip
    """T (last − first, n) ← rows."""
    for i in range((last - first) * n):
        T[i] = 0.0
    for i in range(first, last):
        for e in range(ends[i], ends[i + 1]):
            j = places[columns[e]]
            if j >= 0:
                T[(i - first) * n + j] += values[e]


def put_hard(
    A: Floats, n: int, nu: int, T: Floats, first: int, last: int, hard: Ints, weight: Floats, delta: Floats
) -> None:  # fmt: skip
    """Hard rows of T become those of y in A; δ grows for what their squares have added."""
    y = nu
    for i in range(first, last):
        if hard[i] != 0:
            row = (i - first) * n
            for c in range(nu):
                A[c * n + y] = T[row + c]
            for c in range(y + 1, n):
                A[y * n + c] = T[row + c]
            A[y * n + y] = -delta[i] / (1.0 - delta[i] * weight[i])
            y += 1


def weigh(
    T: Floats, n: int, first: int, last: int, hard: Ints, convexify: float, stiff: float, weight: Floats, delta: Floats
) -> None:  # fmt: skip
    """Weights ρ and compliances δ of hard rows, relative to their lengths."""
    for i in range(first, last):
        if hard[i] != 0:
            length = 0.0
            for j in range(n):
                length += T[(i - first) * n + j] * T[(i - first) * n + j]
            length = max(length, 1e-12)
            weight[i] = convexify / length
            delta[i] = stiff * length


def add_after(
    A: Floats, n: int, V: Floats, v_at: int, nv: int, nx: int, values: Floats, columns: Ints, ends: Ints, places: Ints,
    first: int, W: Floats, X: Floats, Y: Floats, ones: Floats
) -> None:  # fmt: skip
    """A += Gᵀ V G for the rows of a gap, over the next state (nx), and those of the border, which stay as they are.

    W, X and Y (nv × n each) are scratch; many zeros in G are worth a way of their own.
    """
    border = nv - nx
    put_rows(X, n, first, first + nx, values, columns, ends, places)
    for i in range(nx * n, nv * n):
        X[i] = 0.0
    for i in range(border):
        X[(nx + i) * n + n - border + i] = 1.0
    for i in range(nv * n):
        W[i] = 0.0
    if 5 * (ends[first + nx] - ends[first]) > nx * n:
        add_products(W, n, 0, nv, V, v_at, nv, X, 0, ones, 0, nv, 0)
        add_products(A, n, 0, n, X, 0, n, W, 0, ones, 0, nv, 1)
        return
    for t in range(nv):
        for j in range(n):
            value = X[t * n + j]
            zero = value == 0.0  # NaN is not
            if not zero:
                for i in range(nv):
                    W[j * nv + i] += value * V[v_at + t * nv + i]
    for t in range(nv):
        for j in range(n):
            Y[t * n + j] = W[j * nv + t]
    for t in range(nv):
        for c in range(n):
            value = X[t * n + c]
            zero = value == 0.0  # NaN is not
            if not zero:
                for d in range(c, n):
                    A[c * n + d] += value * Y[t * n + d]


def add_ends(A: Floats, n: int, E: Floats, size: int, places: Ints, at: int) -> None:
    """A += second derivatives of end rows."""
    for a in range(size):
        for b in range(size):
            i = places[at + a]
            j = places[at + b]
            if i >= 0 and j >= i:
                A[i * n + j] += E[a * size + b]


def take(A: Floats, n: int, pivots: int, R: Floats, r_at: int, V: Floats, v_at: int) -> None:
    """Copy what `eliminate` leaves: rows of R, and V with both halves."""
    for i in range(pivots * n):
        R[r_at + i] = A[i]
    nv = n - pivots
    for i in range(nv):
        for j in range(i, nv):
            value = A[(pivots + i) * n + pivots + j]
            V[v_at + i * nv + j] = value
            V[v_at + j * nv + i] = value


def soften(
    A: Floats, V: Floats, v_at: int, nv: int, nx: int, give: Floats, gap: int, B: Floats, b_at: int, weight: Floats
) -> int:
    """V as a function of where the gap before it would end: V − V_:x (P + D⁻¹)⁻¹ V_x:."""
    n = nx + nv
    for i in range(nv):
        for j in range(nv):
            A[(nx + i) * n + nx + j] = V[v_at + i * nv + j]
    for i in range(nx):
        for j in range(nx):
            A[i * n + j] = V[v_at + i * nv + j]
        for j in range(nv):
            A[i * n + nx + j] = V[v_at + i * nv + j]
        A[i * n + i] += 1.0 / give[gap + i]
    if eliminate(A, n, nx, nx, weight) == 0:
        return 0
    take(A, n, nx, B, b_at, V, v_at)
    return 1


MATRIX_FUNCTIONS: list[Callable[..., Any]] = [
    add_products, eliminate, put_hessian, freeze, put_rows, put_hard, weigh, add_after, add_ends, take, soften,
]  # fmt: skip
