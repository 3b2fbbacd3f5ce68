"""An independent lexicographic solve, a proof of optimality, and random hierarchies to use them on.

The levels are solved one after the other as quadratic programs with explicit violations, v = (x, w): no factorised
null spaces, no search over all levels. Each is solved by Newton steps on faces (dense equations of optimality, by
singular values); where a face is exhausted, non-negative least squares (Lawson and Hanson 1974) either proves the
optimum or gives the direction of steepest descent among the feasible ones.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from surefoot.solvers import Level

Numbers = NDArray[np.float64]
Hierarchy = tuple[list[Level], Numbers | None, Numbers | None]


def random_hierarchy(rng: np.random.Generator) -> Hierarchy:
    """2 to 8 unknowns, 1 to 4 levels that conflict, repeat each other and lack rank; equations, one- and two-sided."""
    n, levels, seen = int(rng.integers(2, 9)), [], np.zeros((0, 0))
    for _ in range(int(rng.integers(1, 5))):
        A = _random_rows(rng, int(rng.integers(1, 7)), n, seen)
        seen = np.vstack([seen.reshape(-1, n), A])
        lower = 2.0 * rng.normal(size=len(A))
        kind = rng.integers(4, size=len(A))
        upper = np.where(kind == 2, np.inf, lower + np.where(kind == 3, 2.0 * rng.random(len(A)), 0.0))
        weight = rng.uniform(0.1, 10.0, size=len(A)) if rng.random() < 0.5 else 1.0
        levels.append(Level(A, np.where(kind == 1, -np.inf, lower), upper, weight))
    if rng.random() < 0.3:
        return levels, None, None
    centre, half = rng.normal(size=n), 2.0 * rng.random(n)
    half[rng.random(n) < 0.05] = 0.0
    low, high = centre - half, centre + half
    low[rng.random(n) < 0.2] = -np.inf
    high[rng.random(n) < 0.2] = np.inf
    return levels, low, high


def _random_rows(rng: np.random.Generator, m: int, n: int, seen: Numbers) -> Numbers:
    A, kind = rng.normal(size=(m, n)), rng.integers(4)
    if kind == 0:
        A = A * (rng.random(n) < 0.5)  # columns of zeros
    elif kind == 1 and len(seen):
        some = m // 2 + 1
        A[:some] = rng.normal(size=(some, len(seen))) @ seen  # rows that the levels before determine
    elif kind == 2 and m > 2:
        A[-1], A[-2] = A[0], A[0] - A[1]  # rows that repeat
    return A


def rough_hierarchy(rng: np.random.Generator, parallel: float = 0.0) -> Hierarchy:
    """20 to 40 unknowns, 2 to 6 levels like those of a robot near contact: chains of joints, ends that just bind.

    Rows of a level have lengths from 1e-3 to 1; some are zero, some repeat others; many ends contradict others or meet
    the bounds, by a little, by rounding or exactly.

    Args:
        rng: What is drawn from.
        parallel: Some rows repeat others but for this.
    """
    n, levels, seen = int(rng.integers(20, 41)), [], np.zeros((0, 0))
    reference = 10.0 ** rng.uniform(-3.0, 0.0) * rng.normal(size=n)
    for _ in range(int(rng.integers(2, 7))):
        A = _chain_rows(rng, int(rng.integers(3, 25)), n, seen, parallel)
        seen = np.vstack([seen.reshape(-1, n), A])
        length = np.maximum(np.linalg.norm(A, axis=1), 1e-12)
        off = rng.choice([0.0, 1e-16, 1e-12, 1e-6, 0.1, 1.0], size=len(A)) * rng.normal(size=len(A)) * length
        lower = rng.choice([0.0, 1.0]) * A @ reference + off
        kind = rng.integers(5, size=len(A)) if rng.random() < 0.7 else np.full(len(A), 2)
        upper = np.where(kind == 2, np.inf, lower + np.where(kind >= 3, rng.random(len(A)) * length, 0.0))
        levels.append(Level(A, np.where(kind == 1, -np.inf, lower), upper))
    half = rng.choice([0.01, 0.3, 3.0]) * rng.random(n)
    centre = half * rng.choice([0.0, 1.0, -1.0], size=n)
    low, high = centre - half, centre + half
    low[:6], high[:6] = -np.inf, np.inf
    return levels, low, high


def _chain_rows(rng: np.random.Generator, m: int, n: int, seen: Numbers, parallel: float) -> Numbers:
    """Rows that six free unknowns and a few of the others move, as joints of a limb do."""
    A = np.zeros((m, n))
    for row in A:
        limb = rng.integers(6, n - 5)
        row[limb : limb + 6] = rng.normal(size=min(6, n - limb))
    if rng.random() < 0.5:
        A[:, :6] = rng.normal(size=(m, 6))
    A *= 10.0 ** rng.uniform(-3.0, 0.0, size=(m, 1)) if rng.random() < 0.5 else 1.0
    A[rng.random(m) < 0.05] = 0.0
    if len(seen) and rng.random() < 0.5:
        A[: m // 2] = seen[rng.integers(len(seen), size=m // 2)]
    if rng.random() < 0.3:
        A[-2:] = A[0] + parallel * rng.normal(size=(2, n))
    return A


def violations(level: Level, x: Numbers) -> Numbers:
    """How far A x lies outside, signed."""
    values = np.asarray(level.A) @ x
    return values - np.clip(values, level.lower, level.upper)


def lexicographic(hierarchy: Hierarchy) -> list[Numbers]:
    """Optimal violations of every level."""
    levels, low, high = hierarchy
    n = np.shape(levels[0].A)[1]
    low, high = (np.full(n, -np.inf) if low is None else low), (np.full(n, np.inf) if high is None else high)
    held, kept = _sorted_rows(np.eye(n), low, high, low == high)
    x, found = np.clip(np.zeros(n), low, high), []
    for level in levels:
        A, root = np.asarray(level.A), np.sqrt(np.broadcast_to(level.weight, len(level.lower)))
        x = _best(A * root[:, None], level.lower * root, level.upper * root, held, kept, x)
        w = violations(level, x)
        found.append(w)
        more_held, more_kept = _sorted_rows(
            A, level.lower, level.upper, (np.abs(w) > 1e-9) | (level.lower == level.upper)
        )
        held, kept = np.vstack([held, more_held]), np.vstack([kept, more_kept])
    return found


def _sorted_rows(A: Numbers, low: Numbers, high: Numbers, fixed: NDArray[np.bool_]) -> tuple[Numbers, Numbers]:
    """Rows that must keep their value, and rows (a, b) of the inequalities a x ≤ b."""
    upper, lower = ~fixed & np.isfinite(high), ~fixed & np.isfinite(low)
    return A[fixed], np.vstack([np.c_[A[upper], high[upper]], np.c_[-A[lower], -low[lower]]])


def _best(A: Numbers, low: Numbers, high: Numbers, held: Numbers, kept: Numbers, x: Numbers) -> Numbers:
    """min |w|² with low ≤ A x − w ≤ high, from x on; rows of `held` keep their value, those of `kept` hold."""
    m, n = A.shape
    equal = low == high
    H = np.diag(np.r_[np.zeros(n), np.ones(m)])
    E = np.vstack([np.c_[held, np.zeros((len(held), m))], np.c_[A, -np.eye(m)][equal]])
    up, down = ~equal & np.isfinite(high), ~equal & np.isfinite(low)
    G = np.vstack(
        [np.c_[kept[:, :-1], np.zeros((len(kept), m))], np.c_[A, -np.eye(m)][up], -np.c_[A, -np.eye(m)][down]]
    )
    h = np.r_[kept[:, -1], high[up], -low[down]]
    v = np.r_[x, A @ x - np.clip(A @ x, low, high)]
    return _quadratic_program(H, E, G, h, v)[:n]


def _quadratic_program(H: Numbers, E: Numbers, G: Numbers, h: Numbers, v: Numbers) -> Numbers:
    """min ½ vᵀ H v from a feasible v on; E v stays, G v ≤ h."""
    face = G @ v > h - 1e-11
    for _ in range(1000):
        W = np.vstack([E, G[face]])
        k = len(W)
        equations = np.block([[H, W.T], [W, np.zeros((k, k))]])
        step = np.linalg.lstsq(equations, np.r_[-H @ v, np.zeros(k)], rcond=1e-12)[0][: len(v)]
        size = 1.0 + np.abs(v).max()
        if np.abs(H @ step).max() < 1e-11 * size:
            cone = np.hstack([E.T, -E.T, G[G @ v > h - 1e-11].T])
            multipliers, rest = nnls(cone, -H @ v) if cone.size else (np.zeros(0), np.linalg.norm(H @ v))
            if rest < 1e-10 * size:
                return v
            step = -H @ v - cone @ multipliers
            step = step * (step @ step) / max(step @ H @ step, 1e-300)
            face = (G @ v > h - 1e-11) & (np.abs(G @ step) < 1e-7 * np.linalg.norm(step))
        rates = G @ step
        open_ = ~face & (rates > 1e-13)
        lengths = np.full(len(G), np.inf)
        lengths[open_] = np.maximum(h[open_] - G[open_] @ v, 0.0) / rates[open_]
        length = min(1.0, lengths.min(initial=np.inf))
        v = v + length * step
        if length < 1.0:
            face[np.argmin(lengths)] = True
    raise RuntimeError("no end")


def optimality_gaps(hierarchy: Hierarchy, x: Numbers) -> list[float]:
    """How far x is from a proof of optimality, level by level.

    x is optimal if the gradient of each level's squared violations is a combination of the rows that the levels before
    hold, and of those of their inequalities and bounds that are tight, with the right signs. The multipliers are found
    here, by non-negative least squares; what remains is the gap.
    """
    levels, low, high = hierarchy
    n, near = len(x), 1e-9
    low, high = (np.full(n, -np.inf) if low is None else low), (np.full(n, np.inf) if high is None else high)
    cone, gaps = [*np.eye(n)[x >= high - near], *-np.eye(n)[x <= low + near]], []
    for level in levels:
        A, w = np.asarray(level.A), violations(level, x)
        gradient = A.T @ (np.broadcast_to(level.weight, len(A)) * w)
        gaps.append(float(nnls(np.array(cone).T, -gradient)[1] if cone else np.linalg.norm(gradient)))
        held, values = np.abs(w) > near, A @ x
        cone += [
            *A[held],
            *-A[held],
            *A[~held & (values >= level.upper - near)],
            *-A[~held & (values <= level.lower + near)],
        ]
    return gaps
