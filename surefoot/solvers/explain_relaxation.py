"""How far groups must give way: one alone, or all together at the least cost."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_elastic import Elastic
from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_program import Program, UnsolvedError
from surefoot.solvers.explain_projection import outside

__all__ = [
    "IN_VAIN",
    "Alone",
    "Yielding",
    "alone_by_program",
    "borne_alone",
    "each_alone",
    "least_alone",
    "least_together",
    "look_elsewhere",
    "sides_of",
]

Numbers = NDArray[np.float64]
IN_VAIN = 3
"""Groups that do not help alone, after which one asks for all others at once."""
_MOST_ROUNDS = 200
_FIRST_MANY, _MOST_MANY = 8, 32  # groups that are asked for at once
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


class Alone(NamedTuple):
    """Whether one group helps alone.

    Args:
        yielding: How far it gives way; None if it does not help.
        x: (n,) where all other groups hold then.
        multipliers: (rows,) that bound the amount, or prove that the group does not help.
    """

    yielding: Yielding | None
    x: Numbers | None
    multipliers: Numbers


def borne_alone(oracle: Oracle, group: int, proof: Numbers, x: Numbers) -> Yielding | None:
    """What a proof asks of a group alone, if all groups hold at a point then: it is the least that helps.

    Args:
        oracle: Has the rows.
        group: Its number.
        proof: (rows,) multipliers.
        x: (n,) as where all others of a conflict hold.
    """
    demand, rows = _demand(oracle, group, proof), oracle.rows
    if not np.isfinite(demand.amount):
        return None
    room = np.where(rows.group == group, demand.exact * rows.measure, 0.0)
    holds = not outside(rows.A @ x, rows.lower - room, rows.upper + room).any()
    return Yielding(group, demand.exact, demand.side) if holds else None


def each_alone(oracle: Oracle, groups: Sequence[int]) -> dict[int, Yielding | None]:
    """The least relaxation of each group alone; None for those that do not help.

    Where conflicts are likely without any of them, or `IN_VAIN` of them have not helped, that is asked for all that are
    left at once.

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        groups: Their numbers.
    """
    out: dict[int, Yielding | None] = {}
    in_vain = IN_VAIN if oracle.program is None or oracle.crowded else 0
    scout, helped = _Scout(oracle), True
    for k, group in enumerate(groups):
        if in_vain == IN_VAIN:
            look_elsewhere(oracle, groups[k:])
        if not helped and not oracle.dispensable[group]:
            scout.look_at(groups[k:])
        out[group] = least_alone(oracle, group)
        helped = out[group] is not None
        in_vain += in_vain >= IN_VAIN or not helped
    return out


class _Scout:
    """Asks for several groups at once whether there is a conflict without all of them: then none of them helps alone.

    What one group cannot do alone, its neighbours in the order of names often cannot either, such as a limit at another
    instant; every second one is asked, for two that follow each other may help together.

    Args:
        oracle: Has the rows, and learns proofs.
    """

    def __init__(self, oracle: Oracle) -> None:
        self._oracle, self._many = oracle, _FIRST_MANY

    def look_at(self, groups: Sequence[int]) -> None:
        """Ask for some of the groups that are not known to be of no help; more of them if the last ones were of none.

        Args:
            groups: Their numbers.
        """
        oracle, program = self._oracle, self._oracle.program
        if program is None:
            return
        open_ = [g for g in groups if not oracle.dispensable[g]][: 2 * self._many : 2]
        proof = program.proof_without(open_) if len(open_) > 1 else None
        if proof is not None:
            oracle.learn(proof)
        self._many = min(2 * self._many, _MOST_MANY) if proof is not None else max(self._many // 2, 1)


def look_elsewhere(oracle: Oracle, members: Sequence[int]) -> None:
    """Find a proof that does without members of a conflict, if there is one: none of them helps alone then.

    Args:
        oracle: Judges the groups, and keeps the proofs.
        members: Numbers of groups.
    """
    if members:
        with suppress(UnsolvedError):  # rounding leaves it open: there is no proof then
            oracle.judge([g for g in range(oracle.rows.groups) if g not in set(members)])


def least_alone(oracle: Oracle, group: int) -> Yielding | None:
    """The least relaxation of one group with which all groups hold; None if it does not help alone.

    Multipliers y of a proof with the gap δ bound it from below,

        r ≥ δ / Σ_{rows of the group} |y| measure        [explain.alone]

    and a group without any y has no part in that conflict: it does not help. The largest bound is tried; if groups
    still conflict, the new proof raises it: Newton's method for the least violation as a function of r, which is convex
    and falls to zero. HiGHS is asked instead where rows are sparse, or where bounds close in too slowly.

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        group: Its number.
    """
    if oracle.dispensable[group]:
        return None
    if oracle.program is not None:
        return alone_by_program(oracle, oracle.program, group).yielding
    amounts, demand, seen = np.zeros(oracle.rows.groups), _Demand(0.0, 0.0, ""), 0
    for _ in range(_MOST_ROUNDS):
        before = demand.amount
        for proof in oracle.proofs[seen:]:
            demand = max(demand, _demand(oracle, group, proof), key=lambda item: item.amount)
        if not np.isfinite(demand.amount):
            return None
        if seen and demand.amount <= before:
            break
        amounts[group], seen = demand.amount, len(oracle.proofs)
        if _hold_with(oracle, amounts):
            break
    else:
        return alone_by_program(oracle, Program(oracle.rows, oracle.tolerance), group).yielding
    return Yielding(group, demand.exact, demand.side)


def _hold_with(oracle: Oracle, amounts: Numbers) -> bool:
    """Whether groups hold with amounts; where rounding leaves it open, they do: less was proved not to be enough."""
    try:
        return oracle.judge(amounts=amounts).feasible
    except UnsolvedError:
        return True


def alone_by_program(oracle: Oracle, program: Program, group: int) -> Alone:
    """What HiGHS says about one group that gives way alone; where rounding leaves it open, it does not help.

    Args:
        oracle: Its proofs are added to.
        program: Of all its rows.
        group: Its number.
    """
    try:
        found = program.alone(group)
    except UnsolvedError:
        return Alone(None, None, np.zeros(len(oracle.rows.upper)))
    oracle.learn(found.multipliers)
    demand = _demand(oracle, group, found.multipliers)
    if found.x is None or not np.isfinite(demand.amount):
        return Alone(None, None, found.multipliers)
    return Alone(Yielding(group, demand.exact, demand.side), found.x, found.multipliers)


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

    Args:
        oracle: Judges the groups; its proofs are used, and new ones are added.
        costs: (groups,) of one unit; inf for those that may not give way.
    """
    found = _over_some_rows(oracle, costs) if oracle.program is None else _at_true_ends(oracle.program, costs)
    if found.amounts is None:
        return None
    gives = np.flatnonzero(found.amounts > _noise(oracle))
    sides = [sides_of(oracle.rows, found.multipliers, int(g)) for g in gives]
    return tuple(Yielding(int(g), float(found.amounts[g]), side) for g, side in zip(gives, sides, strict=True))


def _at_true_ends(program: Program, costs: Numbers) -> Elastic:
    """With the ends that were given; wider by the tolerance if those conflict that may not give way."""
    found = program.least(costs, true_ends=True)
    if found.amounts is not None or program.rigid_conflict(costs) is not None:
        return found
    return program.least(costs)


def _over_some_rows(oracle: Oracle, costs: Numbers) -> Elastic:
    """Programs over the rows that proofs have named; where amounts leave a conflict, rows of the new proof are added.

    So are those that are violated most. A program has the optimum of all rows once its amounts help.
    """
    rows = oracle.rows
    chosen = np.any([proof != 0.0 for proof in oracle.proofs], axis=0)
    while True:
        at = np.flatnonzero(chosen)
        found = _at_true_ends(Program(rows.only(at), oracle.tolerance), costs)
        multipliers = np.zeros(len(chosen))
        multipliers[at] = found.multipliers
        if found.amounts is None or found.x is None:
            return Elastic(multipliers)
        new = oracle.judge(amounts=found.amounts).multipliers
        if new is None or not (new[~chosen] != 0.0).any():
            return found._replace(multipliers=multipliers)
        chosen |= new != 0.0
        chosen[_most_violated(rows, found.amounts, found.x)] = True


def _most_violated(rows: ScaledRows, amounts: Numbers, x: Numbers) -> NDArray[np.intp]:
    """Rows that an optimum leaves violated, the worst of them."""
    room = amounts[rows.group] * rows.measure
    beyond = np.abs(outside(rows.A @ x, rows.lower - room, rows.upper + room))
    worst = np.argsort(-beyond, kind="stable")[:_ROWS_AT_ONCE]
    return worst[beyond[worst] > 0.0]


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
