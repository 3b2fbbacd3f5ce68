"""Steps of the search for what binds in a hierarchy: where it begins, how far it goes, whether that was progress.

For `NativeCode`; the arrays are those of `hierarchy_pass`. `now` (rows + n) are the values where the search stands.
"""

from __future__ import annotations

from math import sqrt

from surefoot.solvers.hierarchy_pass import dot
from surefoot.solvers.native_code import Floats, Ints

__all__ = ["STEP_FUNCTIONS", "advance", "all_inside", "begin", "improved", "into_bounds", "outside", "share"]


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

    What differs by rounding only is no difference.
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


def into_bounds(lower: Floats, upper: Floats, rows: int, n: int, x: Floats, values: Floats) -> None:
    """Take rounding out of x: bounds hold exactly."""
    for c in range(n):
        x[c] = max(min(x[c], upper[rows + c]), lower[rows + c])
        values[rows + c] = x[c]


STEP_FUNCTIONS = (outside, all_inside, begin, share, advance, improved, into_bounds)
"""In the order in which they call each other."""
