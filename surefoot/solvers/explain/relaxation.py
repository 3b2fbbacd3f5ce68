"""How far groups must give way: one alone, or all together at the least cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse

from surefoot.arrays import Array
from surefoot.solvers.explain.groups import ScaledRows
from surefoot.solvers.explain.model import Model, Status
from surefoot.solvers.explain.program import Program, Proof, UnsolvedError

_MOST_ROUNDS = 200
_ENDLESS = 1e8  # a group that has to move its rows by this many times their sizes does not help


class Yielding(NamedTuple):
    """How far one group gives way.

    Args:
        group: Its number.
        amount: In its unit.
        side: "+" if upper ends rise, "−" if lower ends fall, "±" for both.
    """

    group: int
    amount: float
    side: str


class Alone(NamedTuple):
    """How far one group gives way, and where (n,) all others hold then."""

    yielding: Yielding
    x: Array


def find_least_alone(program: Program, group: int) -> Alone | None:
    """The least relaxation of one group with which all groups hold; None if it does not help alone.

    Multipliers y of a proof with the gap δ bound it from below,

        r ≥ δ / Σ_{rows of the group} |y| measure        [explain.alone]

    and a group without any y has no part in that conflict: it does not help. The largest bound is tried; if groups
    still conflict, the new proof raises it: Newton's method for the least violation as a function of r, which is convex
    and falls to zero. Where rounding leaves it open what holds, the group does not count as one that helps.

    Args:
        program: Judges the groups; its proofs are used, and new ones are added.
        group: Its number.
    """
    rows, amounts = program.rows, np.zeros(program.rows.groups)
    largest = rows.measure[rows.group == group].max(initial=0.0)
    for _ in range(_MOST_ROUNDS):
        proof = min(program.proofs, key=lambda proof: proof.asked[group] / proof.gap)
        asked = float(proof.asked[group])
        if asked == 0.0 or proof.gap * largest > _ENDLESS * asked or proof.gap <= amounts[group] * asked:
            return None
        amounts[group] = proof.gap / asked
        try:
            found = program.judge(amounts=amounts)
        except UnsolvedError:
            return None
        if not isinstance(found, Proof):
            given_ends = proof.gap + program.tolerance * float(np.abs(proof.multipliers).sum())
            side = _side(rows, proof.multipliers, group)
            return Alone(Yielding(group, given_ends / asked, side), found)
    return None


def find_least_together(program: Program, costs: Array) -> tuple[Yielding, ...] | None:
    """The relaxation of least cost with which all groups hold; None if those conflict that may not give way.

        min Σ_g cost_g r_g   with   lower − measure r_g ≤ A x ≤ upper + measure r_g,   r ≥ 0        [explain.elastic]

    Ends are those that were given; where rigid groups conflict there by less than the tolerance, they are wider by it.

    Args:
        program: Has the rows.
        costs: (groups,) of one unit; inf for those that may not give way.

    Raises:
        UnsolvedError: No method of HiGHS solves it.
    """
    rows = program.rows
    rigid = ~np.isfinite(costs)[rows.group] | (rows.measure == 0.0)
    if rigid.any() and isinstance(program.judge(rigid), Proof):
        return None
    given = rows.with_given_ends(program.tolerance)
    found = _solve_elastic(given, costs, program.tolerance) or _solve_elastic(rows, costs, program.tolerance)
    if found is None:
        raise UnsolvedError("HiGHS could not solve a relaxation")
    amounts, multipliers = found
    gives = np.flatnonzero(amounts > program.tolerance / _largest_measure(rows)).tolist()
    return tuple(Yielding(g, float(amounts[g]), _side(rows, multipliers, g)) for g in gives)


def _solve_elastic(rows: ScaledRows, costs: Array, tolerance: float) -> tuple[Array, Array] | None:
    """Amounts (groups,) and multipliers (rows,) of [explain.elastic]; None if there is no solution, or none is found.

    Each end is a row of its own; r are in units that move some row by 1.
    """
    count, n, unit = len(rows.upper), len(rows.columns), _largest_measure(rows)
    gives = np.flatnonzero(np.isfinite(costs))
    moves = sparse.csr_array((-rows.measure / unit[rows.group], (np.arange(count), rows.group)), (count, rows.groups))
    A, moves = sparse.csr_array(rows.A), moves[:, gives]
    matrix = sparse.csr_array(sparse.block_array([[A, moves], [-A, moves]]))
    upper = np.concatenate([rows.upper, -rows.lower])
    there = np.flatnonzero(np.isfinite(upper))
    all_costs = np.concatenate([np.zeros(n), costs[gives] / unit[gives]])
    low = np.concatenate([np.full(n, -np.inf), np.zeros(len(gives))])
    ends = np.full(len(there), -np.inf), upper[there]
    model = Model(matrix[there], ends, all_costs, low, 0.1 * tolerance)
    for status in model.attempts(*([{"solver": "ipm"}] if sparse.issparse(rows.A) else [])):
        if status == Status.kInfeasible:
            return None
        if status == Status.kOptimal:
            amounts, multipliers = np.zeros(rows.groups), np.zeros(2 * count)
            amounts[gives] = np.maximum(model.x[n:], 0.0) / unit[gives]
            multipliers[there] = model.multipliers
            return amounts, multipliers[:count] - multipliers[count:]
    return None


def _largest_measure(rows: ScaledRows) -> Array:
    """(groups,) how far one unit moves the row that moves most; tiny where none does."""
    out = np.full(rows.groups, np.finfo(float).tiny)
    np.maximum.at(out, rows.group, rows.measure)
    return out


def _side(rows: ScaledRows, multipliers: Array, group: int) -> str:
    """Which ends of a group multipliers name."""
    y = multipliers[rows.group == group]
    up, down = y[y > 0.0].sum(), -y[y < 0.0].sum()
    if min(up, down) > 1e-9 * max(up, down):
        return "±"
    return "+" if up > down else "−"
