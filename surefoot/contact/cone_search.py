"""The smallest forces within cones that bring A λ nearest to a box; loops for `NativeCode`.

    min ½ |λ|² + ½ Σ ρ_r (s_r − aim_r)²   over   λ in K,  lower ≤ s ≤ upper,  A λ = s        [contact.shares]

The first columns of A are generators with shares λ_i ≥ 0. The others are friction cones, three columns each: a force at
a point, with |f − n (n · f)| ≤ μ n · f for its normal n. With P the projection on all of these, λ = P(Aᵀ y).

Proximal method of multipliers (Rockafellar 1976): with multipliers y' of the round before, each round finds the y with

    A P(Aᵀ y) − s(y) + δ (y − y') = 0,   s(y) = clip(aim − y / ρ, lower, upper)

which is the gradient of a convex function: Newton's method on its piecewise smooth parts with an exact line search (Qi
and Sun 1993 for the former). The rest p = s − A λ = δ (y − y') goes to zero, or to the least one; then Aᵀ p ≤ 0, and
Σ_r min(lower_r p_r, upper_r p_r) / |p| is a lower bound on |A λ − s| for all λ ≥ 0 and s in the box (Farkas). One round
with y' = 0 gives min ½ |λ|² + |A λ − s|² / 2 δ.

Arrays over all samples: A (rows × columns), that of a sample at `at`; use (columns) at `u0`: 1 for columns that count;
lower, upper, aim (rows) at `row`. give (rows): 1 / ρ. pull (columns): Aᵀ y. The first `plain` columns have shares;
friction μ and normals n are those of the cones after them.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from surefoot.codegen.loops import Floats, Ints, NativeCode


def clipped(y: float, lower: float, upper: float, aim: float, give: float) -> float:
    """s(y) of a row."""
    return max(lower, min(upper, aim - give * y))


def products(A: Floats, at: int, use: Ints, u0: int, rows: int, columns: int, y: Floats, out: Floats) -> None:
    """The products Aᵀ y, 0 for generators that do not count."""
    for i in range(columns):
        out[i] = 0.0
    for r in range(rows):
        value = y[r]
        for i in range(columns):
            out[i] += A[at + r * columns + i] * value
    for i in range(columns):
        out[i] = out[i] if use[u0 + i] != 0 else 0.0


def normal_part(across: float, along: float, mu: float) -> float:
    """The normal force of the projection of a force on its cone; `across` and `along` the normal."""
    return along if across <= mu * along else max(mu * across + along, 0.0) / (1.0 + mu * mu)


def project(
    pull: Floats, change: Floats, t: float, plain: int, columns: int, friction: Floats, normals: Floats, out: Floats
) -> None:
    """P(pull + t change)."""
    for i in range(plain):
        out[i] = max(pull[i] + t * change[i], 0.0)
    for c in range((columns - plain) // 3):
        along = 0.0
        for k in range(3):
            i = plain + 3 * c + k
            out[i] = pull[i] + t * change[i]
            along += out[i] * normals[3 * c + k]
        across = 0.0
        for k in range(3):
            aside = out[plain + 3 * c + k] - along * normals[3 * c + k]
            across += aside * aside
        across = sqrt(across)
        if across > friction[c] * along:
            up = normal_part(across, along, friction[c])
            share = friction[c] * up / max(across, 1e-300)
            for k in range(3):
                i = plain + 3 * c + k
                out[i] = share * (out[i] - along * normals[3 * c + k]) + up * normals[3 * c + k]


def gradient(
    A: Floats, at: int, rows: int, columns: int, lower: Floats, upper: Floats, aim: Floats, row: int, give: Floats,
    delta: float, y: Floats, held: Floats, force: Floats, g: Floats
) -> float:  # fmt: skip
    """Sets g = A λ − s(y) + δ (y − y'); returns its largest entry."""
    largest = 0.0
    for r in range(rows):
        total = 0.0
        for i in range(columns):
            total += A[at + r * columns + i] * force[i]
        total -= clipped(y[r], lower[row + r], upper[row + r], aim[row + r], give[r])
        g[r] = total + delta * (y[r] - held[r])
        largest = max(largest, abs(g[r]))
    return largest


def pick_cones(
    A: Floats, at: int, rows: int, columns: int, plain: int, friction: Floats, normals: Floats, pull: Floats,
    picked: Floats, count: int
) -> int:  # fmt: skip
    """Adds columns C with C Cᵀ = A P' Aᵀ of the friction cones to the picked ones; returns how many there are.

    P' is the identity inside a cone, zero inside its polar cone, and a e eᵀ + b t tᵀ between them, e along the nearest
    ray and t across it.
    """
    for c in range((columns - plain) // 3):
        i = plain + 3 * c
        n = 3 * c
        mu = friction[c]
        along = pull[i] * normals[n] + pull[i + 1] * normals[n + 1] + pull[i + 2] * normals[n + 2]
        x = pull[i] - along * normals[n]
        y = pull[i + 1] - along * normals[n + 1]
        z = pull[i + 2] - along * normals[n + 2]
        across = sqrt(x * x + y * y + z * z)
        if across <= mu * along:
            for r in range(rows):
                for k in range(3):
                    picked[r * columns + count + k] = A[at + r * columns + i + k]
            count += 3
        elif mu * across + along > 0.0:
            a = 1.0 / sqrt(1.0 + mu * mu)
            b = sqrt(mu * normal_part(across, along, mu) / across) / across
            m = mu / across
            for r in range(rows):
                j = at + r * columns + i
                way = A[j] * x + A[j + 1] * y + A[j + 2] * z
                up = A[j] * normals[n] + A[j + 1] * normals[n + 1] + A[j + 2] * normals[n + 2]
                side = A[j] * (normals[n + 1] * z - normals[n + 2] * y)
                side += A[j + 1] * (normals[n + 2] * x - normals[n] * z)
                side += A[j + 2] * (normals[n] * y - normals[n + 1] * x)
                picked[r * columns + count] = a * (m * way + up)
                picked[r * columns + count + 1] = b * side
            count += 2
    return count


def curvature(
    A: Floats, at: int, use: Ints, u0: int, rows: int, columns: int, plain: int, friction: Floats, normals: Floats,
    lower: Floats, upper: Floats, aim: Floats, row: int, give: Floats, delta: float, y: Floats, pull: Floats,
    picked: Floats, H: Floats
) -> None:  # fmt: skip
    """H (rows × rows, lower triangle): the slope of the gradient."""
    count = 0
    for i in range(plain):
        if use[u0 + i] != 0 and pull[i] >= 0.0:
            for r in range(rows):
                picked[r * columns + count] = A[at + r * columns + i]
            count += 1
    count = pick_cones(A, at, rows, columns, plain, friction, normals, pull, picked, count)
    for r in range(rows):
        for c in range(r + 1):
            total = 0.0
            for i in range(count):
                total += picked[r * columns + i] * picked[c * columns + i]
            H[r * rows + c] = total
        free = aim[row + r] - give[r] * y[r]
        inside = 1.0 if free > lower[row + r] and free < upper[row + r] else 0.0
        H[r * rows + r] += delta + inside * give[r]


def solved(H: Floats, rows: int, g: Floats, step: Floats) -> None:
    """H step = −g by Cholesky's factors, which take the place of H."""
    for c in range(rows):
        for r in range(c, rows):
            total = H[r * rows + c]
            for i in range(c):
                total -= H[r * rows + i] * H[c * rows + i]
            H[r * rows + c] = sqrt(max(total, 1e-300)) if r == c else total / H[c * rows + c]
    for r in range(rows):
        total = -g[r]
        for i in range(r):
            total -= H[r * rows + i] * step[i]
        step[r] = total / H[r * rows + r]
    for r in range(rows - 1, -1, -1):
        total = step[r]
        for i in range(r + 1, rows):
            total -= H[i * rows + r] * step[i]
        step[r] = total / H[r * rows + r]


def slope(
    rows: int, columns: int, plain: int, friction: Floats, normals: Floats, lower: Floats, upper: Floats, aim: Floats,
    row: int, give: Floats, delta: float, y: Floats, held: Floats, pull: Floats, change: Floats, step: Floats,
    force: Floats, t: float
) -> float:  # fmt: skip
    """The derivative along a step at its share t; it never falls with t."""
    project(pull, change, t, plain, columns, friction, normals, force)
    total = 0.0
    for i in range(columns):
        total += force[i] * change[i]
    for r in range(rows):
        moved = y[r] + t * step[r]
        s = clipped(moved, lower[row + r], upper[row + r], aim[row + r], give[r])
        total += step[r] * (delta * (moved - held[r]) - s)
    return total


def line_search(
    rows: int, columns: int, plain: int, friction: Floats, normals: Floats, lower: Floats, upper: Floats, aim: Floats,
    row: int, give: Floats, delta: float, y: Floats, held: Floats, pull: Floats, change: Floats, step: Floats,
    force: Floats, begin: float
) -> float:  # fmt: skip
    """The share t ≤ 1 of a step at which the derivative is 0, to a hundredth of what it was (Illinois method)."""
    low = 0.0
    high = 1.0
    at_low = begin
    at_high = slope(
        rows, columns, plain, friction, normals, lower, upper, aim, row, give, delta, y, held, pull, change, step,
        force, 1.0,
    )  # fmt: skip
    if at_high <= 0.01 * abs(begin):
        return 1.0
    t = 1.0
    for _count in range(30):
        t = (low * at_high - high * at_low) / (at_high - at_low)
        value = slope(
            rows, columns, plain, friction, normals, lower, upper, aim, row, give, delta, y, held, pull, change, step,
            force, t,
        )  # fmt: skip
        if abs(value) <= 0.01 * abs(begin):
            break
        if value < 0.0:
            low = t
            at_low = value
            at_high *= 0.5
        else:
            high = t
            at_high = value
            at_low *= 0.5
    return t


def newton(
    A: Floats, at: int, use: Ints, u0: int, rows: int, columns: int, plain: int, friction: Floats, normals: Floats,
    lower: Floats, upper: Floats, aim: Floats, row: int, give: Floats, delta: float, y: Floats, held: Floats,
    pull: Floats, g: Floats, H: Floats, picked: Floats, step: Floats, change: Floats, force: Floats, small: float,
    most: int
) -> int:  # fmt: skip
    """The y of one round; returns the number of steps."""
    for count in range(most):
        products(A, at, use, u0, rows, columns, y, pull)
        project(pull, change, 0.0, plain, columns, friction, normals, force)
        largest = gradient(A, at, rows, columns, lower, upper, aim, row, give, delta, y, held, force, g)
        longest = 0.0
        for r in range(rows):
            longest = max(longest, abs(y[r]))
        if largest <= small + 1e-15 * longest:
            return count
        curvature(
            A, at, use, u0, rows, columns, plain, friction, normals, lower, upper, aim, row, give, delta, y, pull,
            picked, H,
        )  # fmt: skip
        solved(H, rows, g, step)
        products(A, at, use, u0, rows, columns, step, change)
        begin = 0.0
        for r in range(rows):
            begin += g[r] * step[r]
        t = line_search(
            rows, columns, plain, friction, normals, lower, upper, aim, row, give, delta, y, held, pull, change, step,
            force, begin,
        )  # fmt: skip
        for r in range(rows):
            y[r] += t * step[r]
    return most


def bound_of(
    A: Floats, at: int, use: Ints, u0: int, rows: int, columns: int, lower: Floats, upper: Floats, row: int,
    way: Floats, pull: Floats, most: float
) -> float:  # fmt: skip
    """A lower bound on |A λ − s| by a direction, for all λ ≥ 0 with Σ λ_i |A_i| ≤ most; 0 if it separates nothing."""
    size = 0.0
    for r in range(rows):
        size += way[r] * way[r]
    size = sqrt(max(size, 1e-300))
    products(A, at, use, u0, rows, columns, way, pull)
    worst = 0.0
    for i in range(columns):
        length = 0.0
        for r in range(rows):
            length += A[at + r * columns + i] * A[at + r * columns + i]
        worst = max(worst, pull[i] / sqrt(max(length, 1e-300)))
    total = -worst * most
    for r in range(rows):
        if abs(way[r]) > 1e-12 * size:
            total += way[r] * (lower[row + r] if way[r] > 0.0 else upper[row + r])
    return max(total / size, 0.0)


def settle(
    A: Floats, at: int, u0: int, rows: int, columns: int, lower: Floats, upper: Floats, row: int, pull: Floats,
    shares: Floats, missing: Floats
) -> float:  # fmt: skip
    """Shares of a sample and missing = s − A λ for the nearest s; returns the length of the latter."""
    for i in range(columns):
        shares[u0 + i] = max(pull[i], 0.0)
    size = 0.0
    for r in range(rows):
        total = 0.0
        for i in range(columns):
            total += A[at + r * columns + i] * shares[u0 + i]
        missing[row + r] = max(lower[row + r], min(upper[row + r], total)) - total
        size += missing[row + r] * missing[row + r]
    return sqrt(size)


def find_shares(
    A: Floats, use: Ints, samples: int, rows: int, columns: int, lower: Floats, upper: Floats, aim: Floats,
    give: Floats, scale: Floats, y: Floats, held: Floats, way: Floats, pull: Floats, g: Floats, H: Floats,
    picked: Floats, step: Floats, change: Floats, force: Floats, softness: Floats, rounds: int, feasible: float,
    most: int, largest: float, shares: Floats, missing: Floats, bound: Floats, state: Ints
) -> None:  # fmt: skip
    """Shares, missing, bounds and states (0 undecided, 1 attained, 2 proven not to be) of all samples.

    Each begins where the sample before ended, if that was attained: motions change little from one to the next.
    """
    for k in range(samples):
        at = k * rows * columns
        u0 = k * columns
        row = k * rows
        near = 1 if k > 0 and state[k - 1] == 1 else 0
        for r in range(rows):
            y[r] = y[r] if near != 0 else 0.0
        state[k] = 0
        bound[k] = 0.0
        for j in range(rounds):
            for r in range(rows):
                held[r] = y[r]
            newton(
                A, at, use, u0, rows, columns, columns, give, give, lower, upper, aim, row, give, softness[j], y, held,
                pull, g, H, picked, step, change, force, 1e-13 * scale[k], most,
            )  # fmt: skip
            products(A, at, use, u0, rows, columns, y, pull)
            size = settle(A, at, u0, rows, columns, lower, upper, row, pull, shares, missing)
            if size <= feasible * scale[k]:
                state[k] = 1
                break
            for r in range(rows):
                way[r] = y[r] - held[r]
            proven = bound_of(A, at, use, u0, rows, columns, lower, upper, row, way, pull, largest * scale[k])
            bound[k] = max(bound[k], proven)
            if bound[k] >= (1.0 - 1e-6) * size:
                state[k] = 2
                break


def find_forces(
    A: Floats, use: Ints, rows: int, columns: int, load: Floats, friction: Floats, normals: Floats, give: Floats,
    held: Floats, pull: Floats, g: Floats, H: Floats, picked: Floats, step: Floats, change: Floats, small: float,
    most: int, y: Floats, force: Floats
) -> None:  # fmt: skip
    """The forces in friction cones with the least ½ |f|² + ½ |A f − load|², and their multipliers y from given ones."""
    newton(
        A, 0, use, 0, rows, columns, 0, friction, normals, load, load, load, 0, give, 1.0, y, held, pull, g, H, picked,
        step, change, force, small, most,
    )  # fmt: skip


_NEWTON: list[Callable[..., Any]] = [
    clipped, products, normal_part, project, gradient, pick_cones, curvature, solved, slope, line_search, newton
]  # fmt: skip
SHARE_SEARCH = NativeCode([*_NEWTON, bound_of, settle, find_shares], entries=["find_shares"])
FORCE_SEARCH = NativeCode([*_NEWTON, find_forces], entries=["find_forces"])
