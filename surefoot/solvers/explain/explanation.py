"""`explain`: from groups of rows to their conflict."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.explain.conflict import Conflict, find_conflict
from surefoot.solvers.explain.groups import Group, ScaledRows, scaled_rows
from surefoot.solvers.explain.program import Program, Proof
from surefoot.solvers.explain.relaxation import Yielding, find_least_together
from surefoot.solvers.explain.result import Explanation, Member, Relaxation
from surefoot.solvers.one_core import on_one_core

TOLERANCE = 1e-7
"""Violation of a row that counts as none, relative to its size (see `scaled_rows`)."""
_WITHIN = 0.98  # share of the tolerance by which ends are wider; the rest is for searches that end


@on_one_core()
def explain(
    groups: Sequence[Group], variables: int | None = None, *, tolerance: float = TOLERANCE, place: str = ""
) -> Explanation:
    """Whether groups of rows can hold together; if not, which of them conflict and how far they would have to yield.

    Groups are taken in the order of their names, so that the order in which they are given does not matter.

    Args:
        groups: The constraints, with names that differ.
        variables: Number of unknowns; as the first group has it if omitted.
        tolerance: Violation of a row that counts as none, relative to its size; 1e-9 to 1e-3.
        place: Where or when, for the sentence, as "in phase 3"; from the groups of the conflict if omitted.

    Raises:
        ShapeError: Shapes do not fit, numbers are not finite, names repeat; with the group and its rows.
        UnsolvedError: Rounding leaves it open whether the groups hold together.
    """
    if not 1e-9 <= tolerance <= 1e-3:
        raise ShapeError("a tolerance is between 1e-9 and 1e-3", evidence={"tolerance": tolerance})
    ordered = sorted(groups, key=lambda group: group.name)
    rows = scaled_rows(ordered, variables, _WITHIN * tolerance)
    program = Program(rows, _WITHIN * tolerance)
    judged = program.judge()
    x = program.find_nearest() if isinstance(judged, Proof) else judged
    facts = x * rows.columns, *_facts(ordered, rows, x, tolerance)
    if not isinstance(judged, Proof):
        return Explanation(True, *facts, place=place)
    conflict = find_conflict(program, judged, {g for g, group in enumerate(ordered) if group.may_relax})
    members = tuple(_members(ordered, rows, conflict))
    costs = np.array([group.weight if group.may_relax else np.inf for group in ordered])
    together = find_least_together(program, costs)
    least = None if together is None else tuple(_relaxation(ordered, item) for item in together)
    cost = np.inf if together is None else sum(float(costs[item.group]) * item.amount for item in together)
    proof = _proof(ordered, rows, conflict)
    return Explanation(False, *facts, members, proof, least, cost, place or _place(members))


def _relaxation(groups: Sequence[Group], item: Yielding) -> Relaxation:
    group = groups[item.group]
    return Relaxation(group.name, item.amount, group.unit, item.side)


def _members(groups: Sequence[Group], rows: ScaledRows, conflict: Conflict) -> Iterator[Member]:
    for g in conflict.groups:
        group, alone = groups[g], conflict.alone.get(g)
        relaxation = None if alone is None else _relaxation(groups, alone)
        yield Member(group.name, relaxation, group.may_relax, conflict.witnesses[g] * rows.columns, group.place)


def _facts(
    groups: Sequence[Group], rows: ScaledRows, x: Array, tolerance: float
) -> tuple[dict[str, float], dict[str, float]]:
    """Slack at x and tolerance of every group, in its unit; of rows that do not move, in their own."""
    values = rows.A @ x
    measure = np.where(rows.measure > 0.0, rows.measure, 1.0 / rows.size)
    room = (np.minimum(rows.upper - values, values - rows.lower) - _WITHIN * tolerance) / measure
    slack, allowed = np.full(rows.groups, np.inf), np.zeros(rows.groups)
    np.minimum.at(slack, rows.group, room)
    np.maximum.at(allowed, rows.group, tolerance / measure)
    names = [group.name for group in groups]
    return dict(zip(names, slack.tolist(), strict=True)), dict(zip(names, allowed.tolist(), strict=True))


def _proof(groups: Sequence[Group], rows: ScaledRows, conflict: Conflict) -> dict[str, Array]:
    """Multipliers of the rows as they were given, by member."""
    whole = np.bincount(rows.origin, conflict.multipliers / rows.size, minlength=int(rows.origin.max(initial=-1)) + 1)
    owner = np.zeros(len(whole), dtype=np.intp)
    owner[rows.origin] = rows.group
    return {groups[g].name: whole[owner == g] for g in conflict.groups}


def _place(members: Sequence[Member]) -> str:
    """What the members say, each once."""
    return " and ".join(dict.fromkeys(member.place for member in members if member.place))
