"""One pass through the levels of a least-squares hierarchy in which every row is an equation.

The rows of level k are factorised in the null space of all levels before it, by QR with column pivoting of the
transposed rows (LAPACK geqp3). The reflections are applied to the rows of all lower levels at once, so that no
null-space basis is ever formed:

    A_k V_1 … V_k = [B_k1 … B_kk 0],    V_k orthogonal,  B_kk of full column rank        [hierarchy.cascade]

    x = V_1 … V_p z,   z_k = argmin |B_kk z_k − (b_k − Σ_{j<k} B_kj z_j)|,  what no level determines is zero

(Escande, Mansard and Wieber 2014, section 3; the hierarchical complete orthogonal decomposition.)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack

__all__ = ["Cascade", "LevelFactor", "level_directions", "multipliers_of_level", "multipliers_of_norm", "run_cascade"]

Numbers = NDArray[np.float64]
_WORK = 1 << 14  # numbers of workspace; enough for blocks of 32 by 512
_geqp3, _ormqr, _trtrs, _gels = lapack.dgeqp3, lapack.dormqr, lapack.dtrtrs, lapack.dgels


class LevelFactor(NamedTuple):
    """What the pass leaves of one level.

    Args:
        start: First of its rows among all rows of the pass.
        stop: One past the last.
        rank: Number of directions that it determines.
        reflections: (free, rows) pivoted QR of its transposed rows, in the null space of the levels before.
        scales: (rank,) factors of the reflections.
        order: (rows,) pivoting: row `order[i]` of the level is i-th.
        below: (rank, rows below) the rows of all lower levels along the directions of this one.
        z: (rank,) the solution along these directions.
        closing: Whether the level determines all that is left: then V_k = 1, and what is factorised are its rows
            themselves, not the transposed ones.
    """

    start: int
    stop: int
    rank: int
    reflections: Numbers
    scales: Numbers
    order: NDArray[np.intp]
    below: Numbers
    z: Numbers
    closing: bool = False


class Cascade(NamedTuple):
    """The solution of one pass.

    Args:
        x: (free,) solution.
        factors: What is left of each level.
    """

    x: Numbers
    factors: list[LevelFactor]


def run_cascade(rows: Numbers, target: Numbers, starts: Sequence[int], tolerances: Sequence[float]) -> Cascade:
    """The least x among those that solve, level by level, the rows in the sense of least squares.

    Args:
        rows: (free, m) in Fortran order: the transposed rows of all levels; overwritten.
        target: (m,) right-hand side; overwritten.
        starts: Where the rows of each level begin, and m.
        tolerances: Pivots up to this size count as zero, for each level.
    """
    free, factors = rows.shape[0], []
    for k, tolerance in enumerate(tolerances):
        count = starts[k + 1] - starts[k]
        mine, rest = rows[:, :count], rows[:, count:]
        level = _closing_level(mine, rest, target[:count], starts[k], tolerance) if count > len(rows) > 0 else None
        if level is None:
            level, rest = _level(mine, rest, target[:count], starts[k], tolerance)
        factors.append(level)
        target = target[count:]
        if len(target) and level.rank:
            target -= level.z @ level.below
            rest = rest[level.rank :].copy(order="F")
        rows = rest
    return Cascade(_assembled(factors, free), factors)


def _level(
    rows: Numbers, rest: Numbers, target: Numbers, start: int, tolerance: float
) -> tuple[LevelFactor, Numbers]:
    """A level in the null space of those before it, and the turned rows of lower levels."""
    free, count = rows.shape
    rank = 0
    if free and count:
        reflections, order, scales, _, _ = _geqp3(rows, overwrite_a=1)
        rank = _rank(reflections, tolerance)
    if rank == 0:
        none = np.zeros(0)
        return LevelFactor(start, start + count, 0, none, none, np.arange(count), rest[:0], none), rest
    order -= 1
    z = _least_squares(reflections, target[order], rank, count)
    if rest.shape[1]:
        rest = _ormqr("L", "T", reflections[:, :rank], scales[:rank], rest, _WORK, overwrite_c=1)[0]
    return LevelFactor(start, start + count, rank, reflections, scales[:rank], order, rest[:rank], z), rest


def _closing_level(
    rows: Numbers, rest: Numbers, target: Numbers, start: int, tolerance: float
) -> LevelFactor | None:
    """A level with more rows than there is freedom; None if it leaves some of that."""
    rank, count = rows.shape
    reflections, order, scales, _, _ = _geqp3(rows.T)
    if _rank(reflections, tolerance) < rank:
        return None
    order -= 1
    turned = _ormqr("L", "T", reflections, scales, target[:, None], _WORK)[0]
    z = np.empty(rank)
    z[order] = _trtrs(reflections[:rank], turned[:rank, 0])[0]
    return LevelFactor(start, start + count, rank, reflections, scales, order, rest, z, True)


def multipliers_of_level(factors: Sequence[LevelFactor], k: int, residual: Numbers) -> Numbers:
    """Multipliers (m,) of the rows of all levels before k, for the optimum of level k with that residual.

    They satisfy  A_kᵀ w_k + Σ_{j<k} A_jᵀ μ_j = 0  on the free variables; entries of level k are w_k itself.

    Args:
        factors: Of the pass.
        k: Which level.
        residual: (rows of level k,) w_k = A_k x − b_k.
    """
    me = factors[k]
    found = np.zeros(factors[-1].stop)
    found[me.start : me.stop] = residual
    pulls = [f.below[:, me.start - f.stop : me.stop - f.stop] @ residual if f.rank else f.z for f in factors[:k]]
    return _substituted(factors[:k], pulls, found)


def multipliers_of_norm(factors: Sequence[LevelFactor]) -> Numbers:
    """Multipliers (m,) of all rows for the last wish, the least norm:  x + Σ A_jᵀ μ_j = 0  on the free variables.

    Args:
        factors: Of the pass.
    """
    return _substituted(factors, [f.z.copy() for f in factors], np.zeros(factors[-1].stop if factors else 0))


def _substituted(factors: Sequence[LevelFactor], pulls: list[Numbers], found: Numbers) -> Numbers:
    """Backwards through the levels: Σ B_jᵀ μ_j = −pull, with as few rows in use as the rank demands."""
    for j in range(len(factors) - 1, -1, -1):
        f = factors[j]
        if f.rank == 0:
            continue
        solved = _solved(f, -pulls[j])
        found[f.start : f.stop] = solved
        for i in range(j):
            if factors[i].rank:
                pulls[i] += factors[i].below[:, f.start - factors[i].stop : f.stop - factors[i].stop] @ solved
    return found


def _solved(f: LevelFactor, pull: Numbers) -> Numbers:
    """Multipliers (rows,) of a level with B_kkᵀ μ = pull."""
    out = np.zeros(f.stop - f.start)
    if f.closing:
        out[: f.rank] = _trtrs(f.reflections[: f.rank], pull[f.order], trans=1)[0]
        return _ormqr("L", "N", f.reflections, f.scales, out[:, None], _WORK)[0][:, 0]
    out[f.order[: f.rank]] = _trtrs(f.reflections[: f.rank, : f.rank], pull)[0]
    return out


def _rank(reflections: Numbers, tolerance: float) -> int:
    """Number of leading pivots above the tolerance."""
    most = min(reflections.shape)
    if abs(reflections[most - 1, most - 1]) > tolerance:
        return most
    small = np.abs(reflections.diagonal()) <= tolerance
    return int(np.argmax(small))


def _least_squares(reflections: Numbers, target: Numbers, rank: int, count: int) -> Numbers:
    """z that solves Rᵀ z = target; in the sense of least squares if there are more rows than directions."""
    if rank == count:
        return _trtrs(reflections[:rank], target, trans=1)[0]
    tall = np.tril(reflections[:rank].T)
    return _gels(tall, target)[1][:rank]


def level_directions(factors: Sequence[LevelFactor], k: int, coefficients: Numbers, free: int) -> Numbers:
    """Directions (free, count) of x that are combinations of those that level k determines.

    Args:
        factors: Of the pass.
        k: Which level.
        coefficients: (rank of level k, count).
        free: Number of unknowns of the pass.
    """
    y = np.zeros((free, coefficients.shape[1]), order="F")
    at = sum(f.rank for f in factors[:k])
    y[at : at + factors[k].rank] = coefficients
    return _turned_back(factors[: k + 1], y)


def _assembled(factors: Sequence[LevelFactor], free: int) -> Numbers:
    """x = V_1 … V_p z, with zero for what no level determines."""
    y = np.zeros((free, 1), order="F")
    y[: sum(f.rank for f in factors), 0] = np.concatenate([f.z for f in factors])
    return _turned_back(factors, y)[:, 0]


def _turned_back(factors: Sequence[LevelFactor], y: Numbers) -> Numbers:
    """V_1 … V_p y."""
    at = sum(f.rank for f in factors)
    for f in reversed(factors):
        at -= f.rank
        if f.rank and not f.closing:
            y[at:] = _ormqr("L", "N", f.reflections[:, : f.rank], f.scales, y[at:], _WORK)[0]
    return y
