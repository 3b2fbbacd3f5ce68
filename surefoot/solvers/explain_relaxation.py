"""How far groups must give way: one alone, or all together at the least cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_jumps import Jumps
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_program import Elastic, least_elastic
from surefoot.solvers.explain_projection import outside

__all__ = ["Yielding", "bears_alone", "least_alone", "least_together", "look_elsewhere", "sides_of"]

Numbers = NDArray[np.float64]
_MOST_ROUNDS = 200
_ROWS_AT_ONCE = 50
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


def look_elsewhere(oracle: Oracle, members: Sequence[int]) -> None:
    """Find proofs that do without members of a conflict: these do not help alone.

    All of them are left out at once; where the others hold and rows are sparse, half of them, and so on: where few
    help, few trials do.

    Args:
        oracle: Judges the groups, and keeps the proofs.
        members: Numbers of groups.
    """
    left_out = set(members)
    if not left_out or not oracle.judge([g for g in range(oracle.rows.groups) if g not in left_out]).feasible:
        return
    if len(members) > 1 and oracle.by_programs:
        half = len(members) // 2
        look_elsewhere(oracle, members[:half])
        look_elsewhere(oracle, members[half:])


def least_alone(oracle: Oracle, group: int, jumps: Jumps) -> Yielding | None:
    """The least relaxation of one group with which all groups hold; None if it does not help alone.

    Multipliers y of a proof with the gap δ bound it from below,

        r ≥ δ / Σ_{rows of the group} |y| measure        [explain.alone]

    and a group without any y has no part in that conflict: it does not help. The largest bound is tried; if groups
    still conflict, the new proof raises it: Newton's method for the least violation as a function of r, which is convex
    and falls to zero.

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
        if not seen and jumps.helps(group, demand.exact):
            break
        if oracle.by_programs:
            return _alone_by_program(oracle, group)
        amounts[group], seen = demand.amount, len(oracle.proofs)
        if oracle.judge(amounts=amounts).feasible:
            break
    else:
        return _alone_by_program(oracle, group)
    return Yielding(group, demand.exact, demand.side)


def bears_alone(oracle: Oracle, group: int, proof: Numbers, jumps: Jumps) -> bool:
    """Whether the jump of a proof shows that a group helps alone, with what the proof asks of it.

    Args:
        oracle: Has the rows.
        group: Its number.
        proof: (rows,) multipliers.
        jumps: Of this proof, with all rows.
    """
    demand = _demand(oracle, group, proof)
    return np.isfinite(demand.amount) and jumps.helps(group, demand.exact)


def _alone_by_program(oracle: Oracle, group: int) -> Yielding | None:
    """The same by HiGHS with all rows: where they are sparse, or where bounds close in too slowly."""
    costs = np.full(oracle.rows.groups, np.inf)
    costs[group] = 1.0
    found = least_elastic(_true_ends(oracle), costs, oracle.rows.measure)
    if found is None:
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
    and those that are violated most are added. The program has the optimum of all rows once its amounts help.

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        costs: (groups,) of one unit; inf for those that may not give way.
    """
    rows, ends = oracle.rows, _true_ends(oracle)
    chosen = np.full(len(rows.upper), oracle.by_programs)
    for proof in oracle.proofs:
        chosen |= proof != 0.0
    while True:
        at = np.flatnonzero(chosen)
        found = least_elastic(ends.only(at), costs, rows.measure[at])
        if found is None and ends is rows:
            return None
        if found is None:
            ends = rows
            continue
        verdict = oracle.judge(amounts=found.amounts)
        if verdict.multipliers is None or not (verdict.multipliers[~chosen] != 0.0).any():
            break
        chosen |= verdict.multipliers != 0.0
        chosen[_most_violated(rows, found)] = True
    multipliers = np.zeros(len(chosen))
    multipliers[at] = found.multipliers
    noise = _noise(oracle)
    gives = np.flatnonzero(found.amounts > noise)
    return tuple(Yielding(int(g), float(found.amounts[g]), sides_of(rows, multipliers, int(g))) for g in gives)


def _most_violated(rows: ScaledRows, found: Elastic) -> NDArray[np.intp]:
    """Rows that an optimum leaves violated, the worst of them."""
    room = found.amounts[rows.group] * rows.measure
    beyond = np.abs(outside(rows.A @ found.x, rows.lower - room, rows.upper + room))
    worst = np.argsort(-beyond, kind="stable")[:_ROWS_AT_ONCE]
    return worst[beyond[worst] > 0.0]


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
