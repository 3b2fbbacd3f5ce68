"""How far groups must give way: one alone, or all together at the least cost."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_jumps import Jumps
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_program import least_elastic

__all__ = ["Yielding", "least_alone", "least_together", "sides_of"]

Numbers = NDArray[np.float64]
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


def least_alone(oracle: Oracle, group: int, jumps: Jumps) -> Yielding | None:
    """The least relaxation of one group with which all groups hold; None if it does not help alone.

    Multipliers y of a proof with the gap δ bound it from below,

        r ≥ δ / Σ_{rows of the group} |y| measure        [explain.alone]

    and a group without any y has no part in that conflict. The largest bound is tried; if groups still conflict, the
    new proof raises it: Newton's method for the least violation as a function of r, which is convex and falls to zero.

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        group: Its number.
        jumps: Of the proof of a conflict that the group is in, with all rows; where a jump holds, there is no search.
    """
    amounts, demand, seen = np.zeros(oracle.rows.groups), _Demand(0.0, 0.0, ""), 0
    for _ in range(_MOST_ROUNDS):
        before = demand.amount
        for proof in oracle.proofs[seen:]:
            demand = max(demand, _demand(oracle, group, proof), key=lambda item: item.amount)
        if not np.isfinite(demand.amount):
            return None
        if seen and demand.amount <= before:
            break
        amounts[group], first, seen = demand.amount, not seen, len(oracle.proofs)
        if (first and jumps.helps(group, demand.exact)) or oracle.judge(amounts=amounts).feasible:
            break
    else:
        return _alone_by_program(oracle, group)
    return Yielding(group, demand.exact, demand.side)


def _alone_by_program(oracle: Oracle, group: int) -> Yielding | None:
    """The same by HiGHS with all rows, where bounds close in too slowly."""
    costs = np.full(oracle.rows.groups, np.inf)
    costs[group] = 1.0
    found = least_elastic(oracle.rows, costs, oracle.rows.measure)
    if found is None:
        return None
    return Yielding(group, float(found.amounts[group]), sides_of(oracle.rows, found.multipliers, group))


class _Demand(NamedTuple):
    """What a proof asks of a group: with ends wider by the tolerance, as they were given, and at which side."""

    amount: float
    exact: float
    side: str


def _demand(oracle: Oracle, group: int, proof: Numbers) -> _Demand:
    """What a proof asks of a group alone; infinite if it does not need the group."""
    rows, at = oracle.rows, np.flatnonzero(proof)
    y, own = proof[at], rows.group[at] == group
    gap = -float(y @ np.where(y > 0.0, rows.upper[at], rows.lower[at]))
    moves = rows.measure[at][own]
    share = float(np.abs(y[own]) @ moves)
    if share == 0.0 or gap * moves.max() > _ENDLESS * share:
        return _Demand(np.inf, np.inf, "")
    exact = (gap + oracle.tolerance * float(np.abs(y).sum())) / share
    return _Demand(gap / share, exact, sides_of(rows, proof, group))


def least_together(oracle: Oracle, costs: Numbers) -> tuple[Yielding, ...] | None:
    """The relaxation of least cost with which all groups hold; None if those conflict that may not give way.

    A linear program over the rows that proofs have named; where its amounts leave a conflict, the rows of the new proof
    are added. The program has the optimum of all rows once its amounts help.

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        costs: (groups,) of one unit; inf for those that may not give way.
    """
    rows, chosen, seen = oracle.rows, np.zeros(len(oracle.rows.upper), dtype=bool), 0
    ends = _true_ends(oracle)
    while True:
        for proof in oracle.proofs[seen:]:
            chosen |= proof != 0.0
        seen, at = len(oracle.proofs), np.flatnonzero(chosen)
        found = least_elastic(ends.only(at), costs, rows.measure[at])
        if found is None and ends is not rows:
            ends = rows
            continue
        if found is None:
            return None
        verdict = oracle.judge(amounts=found.amounts)
        if verdict.multipliers is None or not (verdict.multipliers[~chosen] != 0.0).any():
            break
    multipliers = np.zeros(len(chosen))
    multipliers[at] = found.multipliers
    noise = _noise(oracle)
    gives = np.flatnonzero(found.amounts > noise)
    return tuple(Yielding(int(g), float(found.amounts[g]), sides_of(rows, multipliers, int(g))) for g in gives)


def _true_ends(oracle: Oracle) -> ScaledRows:
    """The rows with the ends that were given."""
    rows = oracle.rows
    return rows.with_ends(rows.lower + oracle.tolerance, rows.upper - oracle.tolerance)


def _noise(oracle: Oracle) -> Numbers:
    """(groups,) amounts that the tolerance covers."""
    largest = np.full(oracle.rows.groups, np.finfo(float).tiny)
    np.maximum.at(largest, oracle.rows.group, oracle.rows.measure)
    return oracle.tolerance / largest


def sides_of(rows: ScaledRows, multipliers: Numbers, group: int) -> str:
    """Which ends of a group multipliers name.

    Args:
        rows: The rows.
        multipliers: (rows,).
        group: Its number.
    """
    y = multipliers[rows.group == group]
    up, down = y[y > 0.0].sum(), -y[y < 0.0].sum()
    if min(up, down) > 1e-9 * max(up, down):
        return "±"
    return "+" if up > down else "−"
