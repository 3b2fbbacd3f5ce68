"""The passes of TOPP-RA as loops for `NativeCode`.

Limits at a place of the path are rows a u + b x + c ≤ 0 on x = (ds/dt)² and u = d²s/dt², stored as (a, b, c).
"""

from __future__ import annotations

from surefoot.codegen.loops import Floats, Ints, NativeCode


def gather(m: int, i: int, step: float, begin: Floats, end: Floats, reach: Floats, rows: Floats) -> None:
    """Rows (2 m + 2, 3) on u and x at the beginning of interval i.

    The limits there; those at its end, where x is x + 2 step u; and that x at its end is within `reach`.
    """
    for j in range(m):
        at = 3 * (i * m + j)
        to = 3 * j
        rows[to] = begin[at]
        rows[to + 1] = begin[at + 1]
        rows[to + 2] = begin[at + 2]
        to = 3 * (m + j)
        rows[to] = end[at] + 2.0 * step * end[at + 1]
        rows[to + 1] = end[at + 1]
        rows[to + 2] = end[at + 2]
    to = 6 * m
    rows[to] = 2.0 * step
    rows[to + 1] = 1.0
    rows[to + 2] = -reach[2 * (i + 1) + 1]
    rows[to + 3] = -2.0 * step
    rows[to + 4] = -1.0
    rows[to + 5] = reach[2 * (i + 1)]


def largest_u(k: int, rows: Floats, x: float, found: Floats, pair: Ints) -> float:
    """The largest u at x; `found` and `pair` get (largest, least) u and the rows that bound them, −1 for none."""
    found[0] = 1e300
    found[1] = -1e300
    pair[0] = -1
    pair[1] = -1
    for j in range(k):
        a = rows[3 * j]
        if a > 0.0:
            u = -(rows[3 * j + 2] + rows[3 * j + 1] * x) / a
            if u < found[0]:
                found[0] = u
                pair[0] = j
        if a < 0.0:
            u = -(rows[3 * j + 2] + rows[3 * j + 1] * x) / a
            if u > found[1]:
                found[1] = u
                pair[1] = j
    return found[0]


def edge(k: int, rows: Floats, low: float, high: float, sign: float, found: Floats, pair: Ints) -> float:
    """The largest (sign 1) or least (sign −1) x in low…high for which there is a u; −1 if there is none.

    The width of the interval of u is a concave function of x. Newton's method meets its zero in finitely many steps:
    the pair of rows that bounds u at x bounds it everywhere.
    """
    x = high if sign > 0.0 else low
    for _ in range(k + 8):
        largest_u(k, rows, x, found, pair)
        if pair[0] < 0 or pair[1] < 0:
            return x
        gap = found[0] - found[1]
        if gap >= -1e-11 * (1.0 + abs(found[0]) + abs(found[1])):
            return x
        t = 3 * pair[0]
        b = 3 * pair[1]
        slope = rows[b + 1] / rows[b] - rows[t + 1] / rows[t]
        if slope * sign >= 0.0:
            return -1.0
        x = x - gap / slope
        if x < low or x > high:
            return -1.0
    return -1.0


def x_range(k: int, rows: Floats, high: float, bounds: Floats, pair: Ints) -> int:
    """`bounds` gets the least and largest x ≤ high that rows on x alone allow; those rows leave u alone from then on.

    Returns 0 if there is none, with the row in `pair`.
    """
    bounds[0] = 0.0
    bounds[1] = high
    most = 0.0
    for j in range(k):
        most = max(most, abs(rows[3 * j]))
    for j in range(k):
        if abs(rows[3 * j]) <= 1e-12 * most:
            rows[3 * j] = 0.0
            b = rows[3 * j + 1]
            c = rows[3 * j + 2]
            if b > 0.0:
                bounds[1] = min(bounds[1], -c / b)
            if b < 0.0:
                bounds[0] = max(bounds[0], -c / b)
            if bounds[1] < bounds[0] or (b == 0.0 and c > 1e-12):
                pair[0] = j
                pair[1] = j
                return 0
    return 1


def backward_pass(
    n: int, m: int, s: Floats, begin: Floats, end: Floats, ceiling: Floats, reach: Floats, rows: Floats, bounds: Floats,
    pair: Ints,
) -> int:  # fmt: skip
    """Controllable sets: `reach` (n, 2) gets the least and largest x from which the end can be reached.

    The last pair of `reach` is given. Returns the interval at whose beginning no x is left, with rows in `pair`; or −1.
    """
    k = 2 * m + 2
    for i in range(n - 2, -1, -1):
        gather(m, i, s[i + 1] - s[i], begin, end, reach, rows)
        if x_range(k, rows, ceiling[i], bounds, pair) == 0:
            return i
        low = bounds[0]
        high = edge(k, rows, low, bounds[1], 1.0, bounds, pair)
        if high < 0.0:
            return i
        least = edge(k, rows, low, high, -1.0, bounds, pair)
        reach[2 * i] = high if least < 0.0 else least
        reach[2 * i + 1] = high
    return -1


def forward_pass(
    n: int, m: int, s: Floats, begin: Floats, end: Floats, reach: Floats, profile: Floats, rows: Floats, bounds: Floats,
    pair: Ints,
) -> None:  # fmt: skip
    """The fastest profile: `profile` holds x at n places, the first one given, then u in n − 1 intervals.

    `bounds` and `pair` have room for two numbers; then n − 1 entries of `pair` follow: the row that bounds u each time.
    """
    for i in range(n - 1):
        step = s[i + 1] - s[i]
        gather(m, i, step, begin, end, reach, rows)
        u = largest_u(2 * m + 2, rows, profile[i], bounds, pair)
        x = profile[i] + 2.0 * step * u
        x = max(min(x, reach[2 * i + 3]), reach[2 * i + 2])
        profile[n + i] = (x - profile[i]) / (2.0 * step)
        profile[i + 1] = x
        pair[2 + i] = pair[0]


PASSES = NativeCode(
    [gather, largest_u, edge, x_range, backward_pass, forward_pass], entries=["backward_pass", "forward_pass"]
)
