"""The Riccati sweep over all stages, as loops for `NativeCode`; matrices are flat, by rows.

The unknowns of stage k are z = (u, y, x, b): controls, multipliers of hard rows, state, border. Its matrix A (n × n, of
which the upper triangle counts) is the Hessian with condensed rows and the value function after it. All but (x, b) are
eliminated: A = Rᵀ S R + V, with S = +1 for u and −1 for y, where R has a row for each of them. V (x, b) is the value
function of the stage. A pivot of the wrong sign tells that the inertia is wrong.

Arrays that all functions share: `sizes` has 16 for each stage (see `layout`).
Nonzero entries of rows are `values`, with `columns` into `places` (where in z) and `variables` (where in w), and
`ends` of rows; the rows of all gaps come first.
"""

from __future__ import annotations

from surefoot.codegen.loops import Floats, Ints, NativeCode
from surefoot.solvers.staged.riccati.matrices import (
    MATRIX_FUNCTIONS,
    add_after,
    add_ends,
    add_products,
    eliminate,
    freeze,
    put_hard,
    put_hessian,
    put_rows,
    soften,
    take,
    weigh,
)


def factor(
    sizes: Ints, stages: int, H: Floats, diagonal: Floats, still: Ints, values: Floats, columns: Ints, ends: Ints,
    places: Ints, rows_at: int, weight: Floats, hard: Ints, delta: Floats, soft: int, give: Floats, E: Floats,
    e_size: int, e_at: int, R: Floats, V: Floats, B: Floats, A: Floats, T: Floats, W: Floats, X: Floats, Y: Floats,
    ones: Floats, scratch: Floats, convexify: float, more: float, stiff: float
) -> int:  # fmt: skip
    """Eliminate all stages from the last one on; 0 where the inertia is wrong."""
    for k in range(stages - 1, -1, -1):
        s = k * 16
        nx = sizes[s]
        nu = sizes[s + 1]
        np = sizes[s + 2]
        m = sizes[s + 3]
        n = sizes[s + 4]
        first = sizes[s + 8]
        last = sizes[s + 9]
        width = nx + nu + np
        size = 1.0
        for i in range(width * width):
            size = max(size, abs(H[sizes[s + 5] + i]))
        put_rows(T, n, rows_at + first, rows_at + last, values, columns, ends, places)
        done = 0
        attempt = 0
        while done == 0 and attempt < 2:
            weigh(T, n, first, last, hard, (convexify if attempt == 0 else more) * size, stiff / size, weight, delta)
            put_hessian(A, n, H, sizes[s + 5], nx, nu, m, np, diagonal, sizes[s + 11])
            freeze(A, n, nu, still, sizes[s + 11] + nx)
            if k + 1 == stages:
                add_ends(A, n, E, e_size, places, e_at)
            if last > first:
                add_products(A, n, 0, n, T, 0, n, T, 0, weight, first, last - first, 1)
            if k + 1 < stages:
                after = s + 16
                nv = sizes[after + 4] - sizes[after + 1] - sizes[after + 3]
                add_after(
                    A,
                    n,
                    V,
                    sizes[after + 7],
                    nv,
                    sizes[after],
                    values,
                    columns,
                    ends,
                    places,
                    sizes[s + 10],
                    W,
                    X,
                    Y,
                    ones,
                )
            put_hard(A, n, nu, T, first, last, hard, weight, delta)
            done = eliminate(A, n, nu, nu + m, scratch)
            attempt = attempt + 1 if m > 0 else 2
        if done == 0:
            return 0
        take(A, n, nu + m, R, sizes[s + 6], V, sizes[s + 7])
        if soft != 0 and k > 0:
            nv = n - nu - m
            gap = sizes[s + 10 - 16]
            if soften(A, V, sizes[s + 7], nv, nx, give, gap, B, sizes[s + 13], scratch) == 0:
                return 0
    return 1


def forward(R: Floats, at: int, n: int, pivots: int, g: Floats, a: Floats, a_at: int) -> None:
    """Forward substitution: a ← R⁻ᵀ g for the rows of R; g less what they take of it."""
    for i in range(pivots):
        row = at + i * n
        value = g[i] / R[row + i]
        a[a_at + i] = value
        for j in range(i + 1, n):
            g[j] -= value * R[row + j]


def backward(
    sizes: Ints, stages: int, h: Floats, still: Ints, gaps: Floats, rows: Floats, values: Floats, columns: Ints,
    ends: Ints, places: Ints, rows_at: int, weight: Floats, hard: Ints, soft: int, R: Floats, V: Floats, B: Floats,
    g: Floats, push: Floats, a: Floats, slopes: Floats
) -> None:  # fmt: skip
    """Gradients of all value functions (`slopes`), and what forward substitution leaves for the pivots (`a`)."""
    for k in range(stages - 1, -1, -1):
        s = k * 16
        nx = sizes[s]
        nu = sizes[s + 1]
        m = sizes[s + 3]
        n = sizes[s + 4]
        own = sizes[s + 11]
        pivots = nu + m
        nv = n - pivots
        border = nv - nx
        for i in range(n):
            g[i] = 0.0
        for i in range(nx):
            g[pivots + i] = h[own + i]
        for i in range(nu):
            g[i] = h[own + nx + i] if still[own + nx + i] == 0 else 0.0
        y = nu
        for i in range(sizes[s + 8], sizes[s + 9]):
            if hard[i] != 0:
                g[y] += rows[i]
                y += 1
                for e in range(ends[rows_at + i], ends[rows_at + i + 1]):
                    j = places[columns[e]]
                    if j >= 0:
                        g[j] += weight[i] * rows[i] * values[e]
        if k + 1 < stages:
            after = s + 16
            wide = sizes[after + 4] - sizes[after + 1] - sizes[after + 3]
            ahead = sizes[after]
            gap = sizes[s + 10]
            for i in range(wide):
                push[i] = slopes[sizes[after + 14] + i]
            for t in range(ahead):
                for i in range(wide):
                    push[i] += gaps[gap + t] * V[sizes[after + 7] + t * wide + i]
            for t in range(ahead):
                for e in range(ends[gap + t], ends[gap + t + 1]):
                    g[places[columns[e]]] += values[e] * push[t]
            for t in range(border):
                g[n - border + t] += push[ahead + t]
        forward(R, sizes[s + 6], n, pivots, g, a, sizes[s + 12])
        for i in range(nv):
            slopes[sizes[s + 14] + i] = g[pivots + i]
        if soft != 0 and k > 0:
            for i in range(nx):
                g[i] = slopes[sizes[s + 14] + i]
            for i in range(nv):
                g[nx + i] = slopes[sizes[s + 14] + i]
            forward(B, sizes[s + 13], nx + nv, nx, g, push, 0)
            for i in range(nv):
                slopes[sizes[s + 14] + i] = g[nx + i]


def walk(
    sizes: Ints, stages: int, v: Floats, gaps: Floats, rows: Floats, values: Floats, columns: Ints, ends: Ints,
    places: Ints, rows_at: int, weight: Floats, hard: Ints, soft: int, give: Floats, R: Floats, V: Floats, a: Floats,
    slopes: Floats, z: Floats, dw: Floats, dgaps: Floats, dy: Floats
) -> None:  # fmt: skip
    """Steps of all stages from v = (x_0, b) on; v is changed."""
    for k in range(stages):
        s = k * 16
        nx = sizes[s]
        nu = sizes[s + 1]
        m = sizes[s + 3]
        n = sizes[s + 4]
        own = sizes[s + 11]
        pivots = nu + m
        nv = n - pivots
        if k > 0:
            gap = sizes[s + 10 - 16]
            for i in range(nx):
                total = slopes[sizes[s + 14] + i]
                for j in range(nv):
                    total += V[sizes[s + 7] + i * nv + j] * v[j]
                dgaps[gap + i] = total
            if soft != 0:
                for i in range(nx):
                    v[i] -= give[gap + i] * dgaps[gap + i]
        for i in range(nv):
            z[pivots + i] = v[i]
        for i in range(pivots - 1, -1, -1):
            row = sizes[s + 6] + i * n
            total = a[sizes[s + 12] + i] if i >= nu else -a[sizes[s + 12] + i]
            for j in range(i + 1, n):
                total -= R[row + j] * z[j]
            z[i] = total / R[row + i]
        for i in range(nx):
            dw[own + i] = z[pivots + i]
        for i in range(nu):
            dw[own + nx + i] = z[i]
        y = nu
        for i in range(sizes[s + 8], sizes[s + 9]):
            if hard[i] != 0:
                total = rows[i]
                for e in range(ends[rows_at + i], ends[rows_at + i + 1]):
                    j = places[columns[e]]
                    if j >= 0:
                        total += values[e] * z[j]
                dy[i] = z[y] + weight[i] * total
                y += 1
        if k + 1 < stages:
            gap = sizes[s + 10]
            for t in range(sizes[s + 16]):
                total = gaps[gap + t]
                for e in range(ends[gap + t], ends[gap + t + 1]):
                    total += values[e] * z[places[columns[e]]]
                v[t] = total
            for t in range(nv - nx):
                v[sizes[s + 16] + t] = z[n - nv + nx + t]


def multiply(values: Floats, columns: Ints, ends: Ints, variables: Ints, count: int, w: Floats, out: Floats) -> None:
    """Set out to Jacobian times w."""
    for i in range(count):
        total = 0.0
        for e in range(ends[i], ends[i + 1]):
            total += values[e] * w[variables[columns[e]]]
        out[i] = total


def transpose(values: Floats, columns: Ints, ends: Ints, variables: Ints, count: int, y: Floats, out: Floats) -> None:
    """Add to out the transposed Jacobian times y."""
    for i in range(count):
        factor = y[i]
        zero = factor == 0.0  # NaN is not
        if not zero:
            for e in range(ends[i], ends[i + 1]):
                out[variables[columns[e]]] += factor * values[e]


def bend(sizes: Ints, stages: int, H: Floats, shared: int, w: Floats, z: Floats, out: Floats) -> None:
    """Add to out Hessian blocks times w."""
    for k in range(stages):
        s = k * 16
        own = sizes[s] + sizes[s + 1]
        width = own + sizes[s + 2]
        for i in range(own):
            z[i] = w[sizes[s + 11] + i]
        for i in range(own, width):
            z[i] = w[shared + i - own]
        for i in range(width):
            total = 0.0
            for j in range(width):
                total += H[sizes[s + 5] + i * width + j] * z[j]
            if i < own:
                out[sizes[s + 11] + i] += total
            else:
                out[shared + i - own] += total


SWEEP = NativeCode(
    [*MATRIX_FUNCTIONS, factor, forward, backward, walk, multiply, transpose, bend],
    entries=["factor", "backward", "walk", "multiply", "transpose", "bend"],
)
