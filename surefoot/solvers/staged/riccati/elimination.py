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

from math import sqrt

from surefoot.codegen.loops import Floats, Ints, NativeCode


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
    """A ← Hessian over (x, u, p) with the diagonal of x and u; frozen controls stand alone."""
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
            for a in range(nu):
                if still[sizes[s + 11] + nx + a] != 0:
                    for i in range(a):
                        A[i * n + a] = 0.0
                    for i in range(a, n):
                        A[a * n + i] = 0.0
                    A[a * n + a] = 1.0
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


_COMMON = [add_products, eliminate, put_hessian, put_rows, put_hard, weigh, add_after, add_ends, take, soften]
SWEEP = NativeCode(
    [*_COMMON, factor, forward, backward, walk, multiply, transpose, bend],
    entries=["factor", "backward", "walk", "multiply", "transpose", "bend"],
)
