"""One pass through the levels of a hierarchy in which every row that binds is an equation; for `NativeCode`.

The rows that bind are gathered without the columns of unknowns that are at a bound. Each level is factorised in the
null space of those before it by Householder reflections from the right, with the longest row first; they are applied
to the rows of all lower levels, so that no null-space basis is ever formed:

    A_k V_1 … V_k = [B_k1 … B_kk 0],    V_k orthogonal,  B_kk of full column rank        [hierarchy.cascade]

    x = V_1 … V_p z,   z_k = argmin |B_kk z_k − (b_k − Σ_{j<k} B_kj z_j)|,  what no level determines is zero

(Escande, Mansard and Wieber 2014, section 3; the hierarchical complete orthogonal decomposition.)

Arrays, flat and row by row: A (rows, n); `lower`, `upper`, `sides`, `values`, `found` (rows + n); `lengths`
(rows) of the rows of A; `W` (m, n) the gathered rows, turned; `least` (m) the square of what counts as zero in them;
`V` (n, n) a reflection in each row, from its own column on, with factor `tau`; `first` (levels + 1) where a level
begins among the gathered rows; `column` (levels + 1) where its directions begin; `order` (m) its rows by pivoting.

Reflections from the right keep rounding inside a row: what is left of a row is compared with its own length, so that
rows of any scale may stand on one level.
"""

from __future__ import annotations

from math import sqrt

from surefoot.codegen.loops import Floats, Ints


def dot(a: Floats, i: int, b: Floats, j: int, count: int) -> float:
    """The sum of a[i + c] b[j + c] over c < count."""
    total = 0.0
    for c in range(count):
        total += a[i + c] * b[j + c]
    return total


def gather(
    A: Floats, lower: Floats, upper: Floats, sides: Ints, starts: Ints, limits: Floats, levels: int, rows: int, n: int,
    W: Floats, b: Floats, least: Floats, first: Ints, active: Ints, free: Ints, x: Floats
) -> int:  # fmt: skip
    """Rows that bind, without unknowns that are at a bound; the number of free unknowns (after them in `free`)."""
    count = 0
    for c in range(n):
        side = sides[rows + c]
        if side == 0:
            free[count] = c
            count += 1
        else:
            free[n - 1 - c + count] = c
            x[c] = upper[rows + c] if side > 0 else lower[rows + c]
    m = 0
    for k in range(levels):
        first[k] = m
        for i in range(starts[k], starts[k + 1]):
            if sides[i] != 0:
                active[m] = i
                wanted = upper[i] if sides[i] > 0 else lower[i]
                for c in range(count, n):
                    wanted -= A[i * n + free[c]] * x[free[c]]
                b[m] = wanted
                least[m] = limits[i] * limits[i]
                for c in range(count):
                    W[m * n + c] = A[i * n + free[c]]
                m += 1
    first[levels] = m
    return count


def measure(A: Floats, starts: Ints, levels: int, n: int, rank: float, lengths: Floats, limits: Floats) -> None:
    """Lengths of the rows, and what counts as zero of each: a share of itself, or rounding of the longest one."""
    for k in range(levels):
        most = 0.0
        for i in range(starts[k], starts[k + 1]):
            lengths[i] = sqrt(dot(A, i * n, A, i * n, n))
            most = max(most, lengths[i])
        for i in range(starts[k], starts[k + 1]):
            limits[i] = max(rank * lengths[i], 1e-14 * most)


def longest(W: Floats, least: Floats, order: Ints, begin: int, end: int, at: int, free: int, n: int) -> int:
    """Place in the order of the row that is longest from column `at` on, −1 if all that are left count as zero."""
    best = -1
    most = 0.0
    for p in range(begin, end):
        length = dot(W, order[p] * n + at, W, order[p] * n + at, free - at)
        if length > most and length > least[order[p]]:
            most = length
            best = p
    return best


def reflect(W: Floats, row: int, V: Floats, tau: Floats, at: int, free: int, n: int) -> None:
    """The reflection that turns a row, from column `at` on, into its first entry."""
    length = sqrt(dot(W, row * n + at, W, row * n + at, free - at))
    pivot = W[row * n + at]
    end = -length if pivot > 0.0 else length
    for c in range(at, free):
        V[at * n + c] = W[row * n + c]
        W[row * n + c] = 0.0
    V[at * n + at] = pivot - end
    W[row * n + at] = end
    tau[at] = 1.0 / (length * (length + abs(pivot)))


def turn(W: Floats, row: int, V: Floats, tau: Floats, at: int, free: int, n: int) -> None:
    """Apply a reflection to a row."""
    share = tau[at] * dot(W, row * n + at, V, at * n + at, free - at)
    for c in range(at, free):
        W[row * n + c] -= share * V[at * n + c]


def factorise(
    W: Floats, least: Floats, first: Ints, levels: int, free: int, n: int, V: Floats, tau: Floats, order: Ints,
    column: Ints
) -> None:  # fmt: skip
    """All levels, each in the null space of those before it."""
    column[0] = 0
    at = 0
    for k in range(levels):
        begin = first[k]
        end = first[k + 1]
        for i in range(begin, end):
            order[i] = i
        p = begin
        while p < end and at < free:
            best = longest(W, least, order, p, end, at, free, n)
            if best < 0:
                break
            row = order[best]
            order[best] = order[p]
            order[p] = row
            reflect(W, row, V, tau, at, free, n)
            for other in range(p + 1, end):
                turn(W, order[other], V, tau, at, free, n)
            for other in range(end, first[levels]):
                turn(W, other, V, tau, at, free, n)
            p += 1
            at += 1
        column[k + 1] = at


def least_squares(T: Floats, y: Floats, rows: int, rank: int, z: Floats, at: int) -> None:
    """Set z[at …] = argmin |T z − y| for T (rank, rows) column by column, of full rank; by reflections."""
    for j in range(rank):
        length = sqrt(dot(T, j * rows + j, T, j * rows + j, rows - j))
        pivot = T[j * rows + j]
        end = -length if pivot > 0.0 else length
        T[j * rows + j] = pivot - end
        scale = 1.0 / (length * (length + abs(pivot)))
        for other in range(j + 1, rank):
            share = scale * dot(T, j * rows + j, T, other * rows + j, rows - j)
            for i in range(j, rows):
                T[other * rows + i] -= share * T[j * rows + i]
        share = scale * dot(T, j * rows + j, y, j, rows - j)
        for i in range(j, rows):
            y[i] -= share * T[j * rows + i]
        T[j * rows + j] = end
    for j in range(rank - 1, -1, -1):
        total = y[j]
        for other in range(j + 1, rank):
            total -= T[other * rows + j] * z[at + other]
        z[at + j] = total / T[j * rows + j]


def solve_levels(
    W: Floats, b: Floats, first: Ints, levels: int, n: int, order: Ints, column: Ints, z: Floats, T: Floats, y: Floats
) -> None:
    """Find z of every level; forwards where its rows are independent, by least squares where there are too many."""
    for k in range(levels):
        begin = first[k]
        count = first[k + 1] - begin
        at = column[k]
        rank = column[k + 1] - at
        for p in range(count):
            y[p] = b[order[begin + p]] - dot(W, order[begin + p] * n, z, 0, at)
        if rank == count:
            for j in range(rank):
                row = order[begin + j] * n + at
                z[at + j] = (y[j] - dot(W, row, z, at, j)) / W[row + j]
        elif rank > 0:
            for j in range(rank):
                for p in range(count):
                    T[j * count + p] = W[order[begin + p] * n + at + j]
            least_squares(T, y, count, rank, z, at)


def turned_back(V: Floats, tau: Floats, rank: int, free: int, n: int, z: Floats, out: Floats) -> None:
    """Set out = V_1 … V_p z."""
    for c in range(free):
        out[c] = z[c] if c < rank else 0.0
    for at in range(rank - 1, -1, -1):
        share = tau[at] * dot(V, at * n + at, out, at, free - at)
        for c in range(at, free):
            out[c] -= share * V[at * n + c]


def pulled_back(
    W: Floats, first: Ints, order: Ints, column: Ints, level: int, n: int, pull: Floats, found: Floats, active: Ints
) -> None:
    """Multipliers of the rows of all levels before one: backwards through them, Σ B_jᵀ μ_j = −pull."""
    for j in range(level - 1, -1, -1):
        for p in range(column[j + 1] - column[j] - 1, -1, -1):
            row = order[first[j] + p]
            at = column[j] + p
            value = -pull[at] / W[row * n + at]
            found[active[row]] = value
            for c in range(at):
                pull[c] += value * W[row * n + c]


PASS_FUNCTIONS = (
    dot,
    gather,
    measure,
    longest,
    reflect,
    turn,
    factorise,
    least_squares,
    solve_levels,
    turned_back,
    pulled_back,
)
"""In the order in which they call each other."""
