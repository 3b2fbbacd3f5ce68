"""Which inequalities of a hierarchy bind: a primal active-set method over all levels at once; for `NativeCode`.

A row or bound is idle, or it binds at one of its ends; then it is an equation of its level, and the equations of all
levels are solved by one pass (`hierarchy_pass`). The found set is optimal when no idle one is broken and when no
binding one pulls the wrong way: of its multipliers, taken from the first level on, the first that is not zero must
push into the allowed side (Escande, Mansard and Wieber 2014, sections 2.2 and 4). As long as that is not so,
one leaves or enters the set, and every step is downhill in the order of the levels. What leaves and comes back at once
is held by a level whose multiplier is lost in rounding; it stays until there is a step.
"""

from __future__ import annotations

from surefoot.solvers.hierarchy_pass import (
    PASS_FUNCTIONS,
    dot,
    factorise,
    gather,
    pulled_back,
    set_thresholds,
    solve_levels,
    turned_back,
)
from surefoot.solvers.native_code import Floats, Ints, NativeCode

__all__ = [
    "SEARCH",
    "advance",
    "all_inside",
    "begin",
    "factor_equations",
    "gram",
    "multipliers",
    "search",
    "solve_equations",
    "weakest",
    "wrong_side",
]


def solve_equations(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, thresholds: Floats, rank: float, levels: int,
    rows: int, n: int, x: Floats, values: Floats, W: Floats, b: Floats, V: Floats, tau: Floats, z: Floats, T: Floats,
    y: Floats, first: Ints, column: Ints, order: Ints, active: Ints, free: Ints
) -> float:  # fmt: skip
    """One pass: x and values (A x, x); returns the largest value."""
    set_thresholds(A, starts, levels, n, rank, thresholds)
    count = gather(A, lower, upper, sides, starts, levels, rows, n, W, b, first, active, free, x)
    factorise(W, first, levels, count, n, thresholds, V, tau, order, column)
    solve_levels(W, b, first, levels, n, order, column, z, T, y)
    turned_back(V, tau, column[levels], count, n, z, y)
    for c in range(count):
        x[free[c]] = y[c]
    size = 1.0
    for i in range(rows):
        values[i] = dot(A, i * n, x, 0, n)
        size = max(size, abs(values[i]))
    for c in range(n):
        values[rows + c] = x[c]
        size = max(size, abs(x[c]))
    return size


def all_inside(lower: Floats, upper: Floats, sides: Ints, values: Floats, total: int, margin: float) -> int:
    """Whether no idle row or bound is broken."""
    for i in range(total):
        if sides[i] == 0 and (values[i] > upper[i] + margin or values[i] < lower[i] - margin):
            return 0
    return 1


def begin(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, rows: int, n: int, start: Floats, x: Floats, now: Floats
) -> None:
    """A point inside the bounds, on those that bind; rows that it breaks are made to bind."""
    for c in range(n):
        low = lower[rows + c]
        high = upper[rows + c]
        x[c] = max(min(start[c], high), low)
        if sides[rows + c] > 0:
            x[c] = high
        if sides[rows + c] < 0:
            x[c] = low
        now[rows + c] = x[c]
    for i in range(rows):
        now[i] = dot(A, i * n, x, 0, n)
        if sides[i] == 0 and now[i] > upper[i]:
            sides[i] = 1
        elif sides[i] == 0 and now[i] < lower[i]:
            sides[i] = -1


def advance(
    lower: Floats, upper: Floats, sides: Ints, total: int, rows: int, n: int, point: Floats, now: Floats, x: Floats,
    values: Floats, margin: float, by_number: int, step: Floats
) -> int:  # fmt: skip
    """Go towards the solution of the equations until something idle binds; returns what does."""
    least = 2.0
    entering = -1
    speed = 0.0
    side = 0
    for i in range(total):
        if sides[i] == 0:
            length = 2.0
            move = values[i] - now[i]
            if values[i] > upper[i] + margin:
                length = max(upper[i] - now[i], 0.0) / move
                if length < least or (length == least and by_number == 0 and abs(move) > speed):
                    side = 1
            elif values[i] < lower[i] - margin:
                length = min(lower[i] - now[i], 0.0) / move
                if length < least or (length == least and by_number == 0 and abs(move) > speed):
                    side = -1
            if length < least or (length == least and by_number == 0 and abs(move) > speed and length < 2.0):
                least = length
                entering = i
                speed = abs(move)
    sides[entering] = side
    step[0] = min(least, 1.0)
    for i in range(total):
        now[i] += step[0] * (values[i] - now[i])
    for c in range(n):
        point[c] = now[rows + c]
    return entering


def multipliers(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, levels: int, rows: int, n: int, x: Floats, values: Floats,
    W: Floats, z: Floats, first: Ints, column: Ints, order: Ints, active: Ints, level: int, pull: Floats, found: Floats
) -> float:  # fmt: skip
    """Multipliers of what binds, for the optimum of a level (of the least norm after the last); the largest of them.

    A_kᵀ w_k + Σ_j A_jᵀ μ_j + ν = 0,   μ, ν ≥ 0 at upper ends, ≤ 0 at lower ends;  entries of level k are w_k
    """
    for i in range(rows + n):
        found[i] = 0.0
    for c in range(n):
        pull[c] = 0.0
    if level == levels:
        for c in range(column[levels]):
            pull[c] = z[c]
    else:
        for p in range(first[level], first[level + 1]):
            i = active[p]
            rest = values[i] - (upper[i] if sides[i] > 0 else lower[i])
            found[i] = rest
            for c in range(column[level]):
                pull[c] += rest * W[p * n + c]
    pulled_back(W, first, order, column, level, n, pull, found, active)
    for c in range(n):
        if sides[rows + c] != 0:
            total = x[c] if level == levels else 0.0
            for p in range(first[min(level + 1, levels)]):
                total += found[active[p]] * A[active[p] * n + c]
            found[rows + c] = -total
    largest = 0.0
    for i in range(rows + n):
        largest = max(largest, abs(found[i]))
    return largest


def wrong_side(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, levels: int, rows: int, n: int, x: Floats, values: Floats,
    W: Floats, z: Floats, first: Ints, column: Ints, order: Ints, active: Ints, pull: Floats, found: Floats,
    locked: Ints, open_: Ints, noise: float, dual: float, by_number: int
) -> int:  # fmt: skip
    """What binds and should not: the one with the worst multiplier on the first level that has one; −1 if none."""
    left = 0
    for i in range(rows + n):
        open_[i] = 1 if sides[i] != 0 and locked[i] == 0 else 0
        left += open_[i]
    level = 0
    while level <= levels and left > 0:
        largest = multipliers(
            A, lower, upper, sides, levels, rows, n, x, values, W, z, first, column, order, active, level, pull, found
        )
        tiny = max(noise, dual * largest)
        worst = -tiny
        leaving = -1
        for i in range(rows + n):
            signed = found[i] * sides[i]
            if open_[i] != 0 and signed < worst and (by_number == 0 or leaving < 0):
                worst = signed
                leaving = i
            elif open_[i] != 0 and signed > tiny:
                open_[i] = 0
                left -= 1
        if leaving >= 0:
            return leaving
        level += 1
    return -1


def search(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, thresholds: Floats, rank: float, levels: int,
    rows: int, n: int, start: Floats, x: Floats, values: Floats, W: Floats, b: Floats, V: Floats, tau: Floats,
    z: Floats, T: Floats, y: Floats, first: Ints, column: Ints, order: Ints, active: Ints, free: Ints, point: Floats,
    now: Floats, found: Floats, locked: Ints, open_: Ints, feasible: float, dual: float, limit: int, patience: int
) -> int:  # fmt: skip
    """The optimum: x, values, sides; returns the number of passes, 0 if the limit was reached."""
    total = rows + n
    for i in range(total):
        equal = 1 if lower[i] == upper[i] else 0
        locked[i] = equal
        if equal != 0:
            sides[i] = 1
        elif (sides[i] > 0 and upper[i] > 1e300) or (sides[i] < 0 and lower[i] < -1e300):
            sides[i] = 0
    begun = 0
    left = -1
    idle = 0
    for count in range(1, limit):
        size = solve_equations(
            A, lower, upper, sides, starts, thresholds, rank, levels, rows, n, x, values, W, b, V, tau, z, T, y, first,
            column, order, active, free,
        )  # fmt: skip
        by_number = 1 if idle > patience else 0
        if all_inside(lower, upper, sides, values, total, feasible * size) != 0:
            begun = 1
            for i in range(total):
                now[i] = values[i]
            left = wrong_side(
                A, lower, upper, sides, levels, rows, n, x, values, W, z, first, column, order, active, y, found,
                locked, open_, 1e-13 * size, dual, by_number,
            )  # fmt: skip
            if left < 0:
                return count
            if sides[left] > 0:
                sides[left] = -1 if values[left] < lower[left] else 0
            else:
                sides[left] = 1 if values[left] > upper[left] else 0
        elif begun == 0:
            begun = 1
            begin(A, lower, upper, sides, rows, n, start, point, now)
        else:
            entered = advance(
                lower, upper, sides, total, rows, n, point, now, x, values, feasible * size, by_number, tau
            )
            if tau[0] > 0.0:
                idle = 0
                for i in range(total):
                    locked[i] = 1 if lower[i] == upper[i] else 0
            else:
                idle += 1
                if entered == left:
                    locked[left] = 1
    return 0


def factor_equations(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, thresholds: Floats, rank: float, levels: int,
    rows: int, n: int, x: Floats, W: Floats, b: Floats, V: Floats, tau: Floats, first: Ints, column: Ints, order: Ints,
    active: Ints, free: Ints
) -> None:  # fmt: skip
    """Factorise the equations of all levels alone: no bound binds, and inequalities do not count."""
    for i in range(rows + n):
        sides[i] = 1 if i < rows and lower[i] == upper[i] else 0
    set_thresholds(A, starts, levels, n, rank, thresholds)
    count = gather(A, lower, upper, sides, starts, levels, rows, n, W, b, first, active, free, x)
    factorise(W, first, levels, count, n, thresholds, V, tau, order, column)


def weakest(W: Floats, first: Ints, order: Ints, column: Ints, level: int, n: int, T: Floats) -> float:
    """|R⁻¹|_F² of the triangle of a level: 1 / its root bounds the level's singular values from below."""
    at = column[level]
    rank = column[level + 1] - at
    total = 0.0
    for j in range(rank):
        for i in range(j, rank):
            row = order[first[level] + i] * n + at
            value = (1.0 if i == j else 0.0) - dot(W, row + j, T, j * rank + j, i - j)
            T[j * rank + i] = value / W[row + i]
            total += T[j * rank + i] * T[j * rank + i]
    return total


def gram(W: Floats, first: Ints, order: Ints, column: Ints, level: int, n: int, T: Floats) -> int:
    """T = B_kkᵀ B_kk (rank, rank) of a level, the lower half; returns the rank."""
    at = column[level]
    rank = column[level + 1] - at
    for i in range(rank * rank):
        T[i] = 0.0
    for p in range(first[level], first[level + 1]):
        row = order[p] * n + at
        for i in range(rank):
            for j in range(i + 1):
                T[i * rank + j] += W[row + i] * W[row + j]
    return rank


SEARCH = NativeCode(
    [
        *PASS_FUNCTIONS,
        solve_equations,
        all_inside,
        begin,
        advance,
        multipliers,
        wrong_side,
        search,
        factor_equations,
        weakest,
        gram,
    ],
    entries=("search", "solve_equations", "multipliers", "factor_equations", "turned_back", "weakest", "gram"),
)
"""Native code, by the names of the functions."""
