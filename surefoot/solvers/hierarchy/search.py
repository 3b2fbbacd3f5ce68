"""Which inequalities of a hierarchy bind: a primal active-set method over all levels at once; for `NativeCode`.

A row or bound is idle, or it binds at one of its ends; then it is an equation of its level, and the equations of all
levels are solved by one pass (`passes`). The found set is optimal when no idle one is broken and when no
binding one pulls the wrong way: of its multipliers, taken from the first level on, the first that is not zero must
push into the allowed side (Escande, Mansard and Wieber 2014, sections 2.2 and 4). As long as that is not so,
one leaves or enters the set, and every step is downhill in the order of the levels. What leaves and comes back at once
is held by a level whose multiplier is lost in rounding; it stays until violations become less. Margins are relative to
the length of a row times that of x: rows may have any scale.

The arrays are those of `passes`. `now` (rows + n) are the values at the present point of the search.
"""

from __future__ import annotations

from math import sqrt

from surefoot.codegen.loops import Floats, Ints, NativeCode
from surefoot.solvers.hierarchy.passes import (
    PASS_FUNCTIONS,
    dot,
    factorise,
    gather,
    measure,
    pulled_back,
    solve_levels,
    turned_back,
)


def outside(value: float, low: float, high: float, margin: float) -> int:
    """+1 if a value is above its upper end, −1 if it is below its lower one, 0 between."""
    if value > high + margin:
        return 1
    if value < low - margin:
        return -1
    return 0


def all_inside(
    lower: Floats, upper: Floats, sides: Ints, lengths: Floats, values: Floats, total: int, margin: float
) -> int:
    """Whether no idle row or bound is broken."""
    for i in range(total):
        if sides[i] == 0 and outside(values[i], lower[i], upper[i], margin * lengths[i]) != 0:
            return 0
    return 1


def begin(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, lengths: Floats, rows: int, n: int, start: Floats, x: Floats,
    now: Floats, feasible: float
) -> None:  # fmt: skip
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
    margin = feasible * max(1.0, sqrt(dot(x, 0, x, 0, n)))
    for i in range(rows):
        now[i] = dot(A, i * n, x, 0, n)
        if sides[i] == 0:
            sides[i] = outside(now[i], lower[i], upper[i], margin * lengths[i])


def share(side: int, now: float, value: float, end: float, slack: float) -> float:
    """Which share of the way from now to a value leads to an end and a slack beyond it."""
    move = side * (value - now)
    room = max(side * (end - now), 0.0) + slack
    return room / move if move > 0.0 else 0.0


def advance(
    lower: Floats, upper: Floats, sides: Ints, lengths: Floats, total: int, now: Floats, values: Floats, margin: float,
    by_number: int
) -> int:  # fmt: skip
    """Go towards the solution of the equations until something idle binds; returns what does, −1 if nothing can.

    Of all that bind on the first part of the way, to the margin, it is the one that is met most squarely (Harris 1973),
    or the first by number.
    """
    most = 1.0
    for i in range(total):
        if sides[i] == 0:
            slack = margin * lengths[i]
            side = outside(values[i], lower[i], upper[i], slack)
            if side != 0:
                most = min(most, share(side, now[i], values[i], upper[i] if side > 0 else lower[i], slack))
    entering = -1
    length = 0.0
    best = -1.0
    for i in range(total):
        if sides[i] == 0 and (by_number == 0 or entering < 0):
            side = outside(values[i], lower[i], upper[i], margin * lengths[i])
            if side != 0:
                part = share(side, now[i], values[i], upper[i] if side > 0 else lower[i], 0.0)
                speed = abs(values[i] - now[i]) / lengths[i] if lengths[i] > 0.0 else 0.0
                if part <= most and speed > best:
                    best = speed
                    length = part
                    entering = i
    if entering < 0:
        return -1
    sides[entering] = 1 if values[entering] > upper[entering] else -1
    for i in range(total):
        now[i] += length * (values[i] - now[i])
    return entering


def improved(
    lower: Floats, upper: Floats, starts: Ints, lengths: Floats, levels: int, values: Floats, size: float,
    margin: float, record: Floats
) -> int:  # fmt: skip
    """Whether violations (or, at last, x) are less than they ever were, in the order of the levels; keeps the record.

    Differences by rounding do not count.
    """
    changed = 0
    better = 0
    for k in range(levels + 1):
        total = 0.0
        noise = 0.0
        if k == levels:
            total = size * size
        else:
            for i in range(starts[k], starts[k + 1]):
                rest = max(values[i] - upper[i], lower[i] - values[i])
                if rest > margin * lengths[i]:
                    total += rest * rest
                    noise += 1e-14 * size * rest * lengths[i]
        if changed == 0 and abs(total - record[k]) > noise + 1e-13 * record[k]:
            changed = 1
            better = 1 if total < record[k] else 0
        if better != 0:
            record[k] = total
    return better


def prepare(lower: Floats, upper: Floats, sides: Ints, levels: int, total: int, locked: Ints, record: Floats) -> None:
    """Equations bind for ever, ends at infinity never; nothing has been achieved yet."""
    for i in range(total):
        equal = 1 if lower[i] == upper[i] else 0
        locked[i] = equal
        if equal != 0:
            sides[i] = 1
        elif (sides[i] > 0 and upper[i] > 1e300) or (sides[i] < 0 and lower[i] < -1e300):
            sides[i] = 0
    for k in range(levels + 1):
        record[k] = 1e300


def into_bounds(lower: Floats, upper: Floats, rows: int, n: int, x: Floats, values: Floats) -> None:
    """Take rounding out of x: bounds hold exactly."""
    for c in range(n):
        x[c] = max(min(x[c], upper[rows + c]), lower[rows + c])
        values[rows + c] = x[c]


STEP_FUNCTIONS = (outside, all_inside, begin, share, advance, improved, prepare, into_bounds)
"""In the order in which they call each other."""


def solve_equations(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, limits: Floats, levels: int, rows: int, n: int,
    x: Floats, values: Floats, W: Floats, b: Floats, least: Floats, V: Floats, tau: Floats, z: Floats, T: Floats,
    y: Floats, first: Ints, column: Ints, order: Ints, active: Ints, free: Ints
) -> float:  # fmt: skip
    """One pass: x and values (A x, x); returns the scale of margins: the length of x, from 1 to 1000."""
    count = gather(A, lower, upper, sides, starts, limits, levels, rows, n, W, b, least, first, active, free, x)
    factorise(W, least, first, levels, count, n, V, tau, order, column)
    solve_levels(W, b, first, levels, n, order, column, z, T, y)
    turned_back(V, tau, column[levels], count, n, z, y)
    for c in range(count):
        x[free[c]] = y[c]
    for i in range(rows):
        values[i] = dot(A, i * n, x, 0, n)
    for c in range(n):
        values[rows + c] = x[c]
    return max(1.0, min(sqrt(dot(x, 0, x, 0, n)), 1e3))


def multipliers(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, lengths: Floats, levels: int, rows: int, n: int, x: Floats,
    values: Floats, W: Floats, z: Floats, first: Ints, column: Ints, order: Ints, active: Ints, level: int,
    size: float, feasible: float, dual: float, pull: Floats, found: Floats
) -> float:  # fmt: skip
    """Multipliers of what binds, for the optimum of a level (of the least norm after the last).

        A_kᵀ w_k + Σ_j A_jᵀ μ_j + ν = 0,   μ, ν ≥ 0 at upper ends, ≤ 0 at lower ends;  entries of level k are w_k

    If all violations of the level are inside the margin, they count as none, and all multipliers are zero. Returns
    which multipliers, times the lengths of their rows, are lost in rounding.
    """
    for i in range(rows + n):
        found[i] = 0.0
    for c in range(n):
        pull[c] = 0.0
    noise = 0.0
    broken = 0
    if level == levels:
        broken = 1
        noise = feasible * size
        for c in range(column[levels]):
            pull[c] = z[c]
    else:
        for p in range(first[level], first[level + 1]):
            i = active[p]
            rest = values[i] - (upper[i] if sides[i] > 0 else lower[i])
            broken += 1 if abs(rest) > feasible * size * lengths[i] else 0
            noise += 2e-15 * size * lengths[i] * lengths[i]
            found[i] = rest
            for c in range(column[level]):
                pull[c] += rest * W[p * n + c]
    if broken == 0:
        for p in range(first[level], first[level + 1]):
            found[active[p]] = 0.0
        return 0.0
    pulled_back(W, first, order, column, level, n, pull, found, active)
    for c in range(n):
        if sides[rows + c] != 0:
            total = x[c] if level == levels else 0.0
            for p in range(first[min(level + 1, levels)]):
                total += found[active[p]] * A[active[p] * n + c]
            found[rows + c] = -total
    largest = 0.0
    for i in range(rows + n):
        largest = max(largest, abs(found[i]) * lengths[i])
    return noise + dual * largest


def wrong_side(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, lengths: Floats, levels: int, rows: int, n: int,
    x: Floats, values: Floats, W: Floats, z: Floats, first: Ints, column: Ints, order: Ints, active: Ints, pull: Floats,
    found: Floats, locked: Ints, open_: Ints, size: float, feasible: float, dual: float, by_number: int
) -> int:  # fmt: skip
    """What binds and should not: the one with the worst multiplier on the first level that has one; −1 if none."""
    left = 0
    for i in range(rows + n):
        open_[i] = 1 if sides[i] != 0 and locked[i] == 0 else 0
        left += open_[i]
    level = 0
    while level <= levels and left > 0:
        tiny = multipliers(
            A, lower, upper, sides, lengths, levels, rows, n, x, values, W, z, first, column, order, active, level,
            size, feasible, dual, pull, found,
        )  # fmt: skip
        worst = 0.0
        leaving = -1
        for i in range(rows + n):
            signed = found[i] * sides[i] * lengths[i]
            own = 1 if level < levels and i >= starts[level] and i < starts[level + 1] else 0
            limit = feasible * size * lengths[i] * lengths[i] if own != 0 else tiny
            if open_[i] != 0 and signed < -0.01 * limit and signed < worst and (by_number == 0 or leaving < 0):
                worst = signed
                leaving = i
            elif open_[i] != 0 and signed > limit:
                open_[i] = 0
                left -= 1
        if leaving >= 0:
            return leaving
        level += 1
    return -1


def search(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, limits: Floats, rank: float, levels: int,
    rows: int, n: int, start: Floats, lengths: Floats, x: Floats, values: Floats, W: Floats, b: Floats, least: Floats,
    V: Floats, tau: Floats, z: Floats, T: Floats, y: Floats, first: Ints, column: Ints, order: Ints, active: Ints,
    free: Ints, point: Floats, now: Floats, found: Floats, locked: Ints, open_: Ints, record: Floats, feasible: float,
    dual: float, patience: int, memory: Ints, most: int
) -> int:  # fmt: skip
    """The optimum: x, values, sides; returns the number of passes, 0 if none led to it.

    `memory` (5,) has the number of passes so far, and four numbers of the search: with these, a search that was broken
    off after `most` passes goes on. Its first number is −1 when no search can go on.
    """
    total = rows + n
    begun = memory[1]
    left = memory[2]
    side = memory[3]
    idle = memory[4]
    if memory[0] == 0:
        begun = 0
        left = -1
        side = 0
        idle = 0
        measure(A, starts, levels, n, rank, lengths, limits)
        prepare(lower, upper, sides, levels, total, locked, record)
    for count in range(memory[0] + 1, most + 1):
        size = solve_equations(
            A, lower, upper, sides, starts, limits, levels, rows, n, x, values, W, b, least, V, tau, z, T, y, first,
            column, order, active, free,
        )  # fmt: skip
        margin = feasible * size
        by_number = 1 if idle > patience else 0
        if all_inside(lower, upper, sides, lengths, values, total, margin) != 0:
            begun = 1
            idle += 1
            if improved(lower, upper, starts, lengths, levels, values, size, margin, record) != 0:
                idle = 0
                for i in range(total):
                    locked[i] = 1 if lower[i] == upper[i] else 0
            for i in range(total):
                now[i] = values[i]
            left = wrong_side(
                A, lower, upper, sides, starts, lengths, levels, rows, n, x, values, W, z, first, column, order, active,
                y, found, locked, open_, size, feasible, dual, by_number,
            )  # fmt: skip
            if left < 0:
                into_bounds(lower, upper, rows, n, x, values)
                return count
            side = sides[left]
            sides[left] = -side if outside(values[left], lower[left], upper[left], 0.0) == -side else 0
        elif begun == 0:
            begun = 1
            begin(A, lower, upper, sides, lengths, rows, n, start, point, now, feasible)
        else:
            entered = advance(lower, upper, sides, lengths, total, now, values, margin, by_number)
            if entered < 0:
                memory[0] = -1
                return 0
            if (entered == left and sides[left] == side) or idle > patience + total:
                locked[entered] = 1
            left = -1
    memory[0] = most
    memory[1] = begun
    memory[2] = left
    memory[3] = side
    memory[4] = idle
    return 0


def factor_equations(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, limits: Floats, rank: float, levels: int,
    rows: int, n: int, lengths: Floats, x: Floats, W: Floats, b: Floats, least: Floats, V: Floats, tau: Floats,
    first: Ints, column: Ints, order: Ints, active: Ints, free: Ints
) -> None:  # fmt: skip
    """Factorise the equations of all levels alone: no bound binds, and inequalities do not count."""
    for i in range(rows + n):
        sides[i] = 1 if i < rows and lower[i] == upper[i] else 0
    measure(A, starts, levels, n, rank, lengths, limits)
    count = gather(A, lower, upper, sides, starts, limits, levels, rows, n, W, b, least, first, active, free, x)
    factorise(W, least, first, levels, count, n, V, tau, order, column)


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
        *STEP_FUNCTIONS,
        solve_equations,
        multipliers,
        wrong_side,
        search,
        factor_equations,
        weakest,
        gram,
    ],
    entries=(
        "measure",
        "search",
        "solve_equations",
        "multipliers",
        "factor_equations",
        "turned_back",
        "weakest",
        "gram",
    ),
)
"""Native code, by the names of the functions."""
