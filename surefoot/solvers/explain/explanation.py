"""`explain`: from groups of rows to their conflict, and how far groups must give way, alone or together."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.solvers.explain.groups import Group, ScaledRows, scaled_rows
from surefoot.solvers.explain.interior import solve_elastic
from surefoot.solvers.explain.model import INFEASIBLE, OPTIMAL, Model
from surefoot.solvers.explain.program import Program, Proof, UnsolvedError
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
    program = Program(
        rows, _WITHIN * tolerance, np.array([not group.may_relax for group in ordered], dtype=bool)[rows.group]
    )
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
    # Multipliers of the rows as they were given, by member
    whole = np.bincount(rows.origin, conflict.multipliers / rows.size, minlength=int(rows.origin.max(initial=-1)) + 1)
    owner = np.zeros(len(whole), dtype=np.intp)
    owner[rows.origin] = rows.group
    proof = {ordered[g].name: whole[owner == g] for g in conflict.groups}
    place = place or " and ".join(dict.fromkeys(member.place for member in members if member.place))
    return Explanation(False, *facts, members, proof, least, cost, place)


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


_LIGHT = 1e-3  # share of the largest sum of multipliers below which groups of a large program are omitted together
_FEW_GROUPS = 64  # that are all tried: the set then depends on nothing but the order of names


class Conflict(NamedTuple):
    """An irreducible set of groups that cannot hold together, with its proofs: each of its proper subsets can.

    Args:
        groups: Numbers of its members.
        multipliers: (rows,) of the proof that they cannot hold together.
        witnesses: For each member a point (n,) at which all others hold; NaN where rounding leaves it open.
        alone: How far members give way alone, of those that help.
    """

    groups: tuple[int, ...]
    multipliers: Array
    witnesses: dict[int, Array]
    alone: dict[int, Yielding]


def find_conflict(program: Program, proof: Proof, relaxable: Collection[int]) -> Conflict:
    """The set that a deletion filter leaves (Chinneck and Dravnieks 1991).

    Groups are omitted one after the other, in their order, wherever the rest still conflicts; a group that the last
    proof does not need needs no trial. Where all other groups hold if a group alone gives way, it is in every conflict:
    that is asked first, for it is to be told of members. Of many groups only those of the first proof are tried.

    Args:
        program: Judges subsets.
        proof: That all groups together conflict.
        relaxable: Numbers of the groups that may give way.
    """
    rows, kept = program.rows, np.ones(program.rows.groups, dtype=bool)
    if program.is_large:
        return _LargeConflict(program, proof, relaxable).find()
    if len(kept) > _FEW_GROUPS:
        kept[:] = False
        kept[rows.group[proof.multipliers != 0.0]] = True
    part = _Part(program, kept[rows.group])
    witnesses: dict[int, Array] = {}
    alone: dict[int, Yielding] = {}
    for member in np.flatnonzero(kept).tolist():
        if not proof.multipliers[rows.group == member].any():
            kept[member] = False
        elif member in relaxable and (helps := find_least_alone(program, member)) is not None:
            witnesses[member], alone[member] = helps.x, helps.yielding
        else:
            found = part.judge(kept[rows.group] & (rows.group != member))
            if isinstance(found, Proof):
                kept[member], proof = False, found
            else:
                witnesses[member] = found
    return Conflict(tuple(np.flatnonzero(kept).tolist()), program.polish(proof.multipliers), witnesses, alone)


class _LargeConflict:
    """`find_conflict` of a program whose questions take long: small multipliers go first, negligible ones together."""

    def __init__(self, program: Program, proof: Proof, relaxable: Collection[int]) -> None:
        self._program, self._proof, self._relaxable = program, proof, relaxable
        self._kept = np.ones(program.rows.groups, dtype=bool)
        self._witnesses: dict[int, Array] = {}

    def find(self) -> Conflict:
        """Those that are left when no group can be omitted, and how far each must yield alone."""
        rows, program = self._program.rows, self._program
        share = np.bincount(rows.group, np.abs(self._proof.multipliers), minlength=rows.groups)
        order = [int(g) for g in np.argsort(share, kind="stable") if int(g) in self._relaxable]
        light = [g for g in order if share[g] < _LIGHT * share.max()]
        others = [*(g for g in order if g not in light), *(set(range(rows.groups)) - set(self._relaxable))]
        for group in [*([] if self._omit(light) else light), *others]:
            self._omit([group])
        members = np.flatnonzero(self._kept).tolist()
        found = {g: find_least_alone(program, g) for g in members if g in self._relaxable}
        alone = {g: helps.yielding for g, helps in found.items() if helps is not None}
        return Conflict(tuple(members), program.polish(self._proof.multipliers), self._witnesses, alone)

    def _omit(self, groups: list[int]) -> bool:
        """Omit some groups if the others conflict without them; whether they do."""
        if not groups:
            return True
        rows = self._program.rows
        try:
            found = self._program.judge((self._kept & ~np.isin(np.arange(rows.groups), groups))[rows.group])
        except UnsolvedError:
            found = np.full(len(rows.columns), np.nan)
        if isinstance(found, Proof):
            self._kept[groups], self._proof = False, found
            return True
        if len(groups) == 1:
            self._witnesses[groups[0]] = found
        return False


class _Part:
    """Judges some rows of a program, in a smaller program of their own; the whole one learns the proofs."""

    def __init__(self, whole: Program, chosen: NDArray[np.bool_]) -> None:
        self._whole, self._at = whole, np.flatnonzero(chosen)
        self._program = Program(whole.rows.only(self._at), whole.tolerance)

    def judge(self, kept: NDArray[np.bool_]) -> Array | Proof:
        """A point (n,) at which rows hold that are kept (rows of the whole,), or a proof; NaN if rounding hides it."""
        try:
            found = self._program.judge(kept[self._at])
        except UnsolvedError:
            return np.full(len(self._whole.rows.columns), np.nan)
        if not isinstance(found, Proof):
            return found
        multipliers = np.zeros(len(kept))
        multipliers[self._at] = found.multipliers
        return self._whole.learn(multipliers)


_MOST_ROUNDS = 200
_LEAST_SHARE = 1e-6  # of the largest amount, below which others are what an interior point leaves of zero
_ENDLESS = 1e8  # a group that has to move its rows by this many times their sizes does not help


class Yielding(NamedTuple):
    """By what amount [unit] a group gives way, and where: "+" upper ends rise, "−" lower ends fall, "±" both."""

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
    """
    rows, amounts = program.rows, np.zeros(program.rows.groups)
    if program.is_large:
        return _find_alone_by_interior(program, group)
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


def _find_alone_by_interior(program: Program, group: int) -> Alone | None:
    """The same for a large program, as one linear program."""
    costs = np.full(program.rows.groups, np.inf)
    costs[group] = 1.0
    found = _solve_by_interior(program.rows, costs)
    if found is None:
        return None
    amounts, multipliers, x = found
    room = amounts[program.rows.group] * program.rows.measure
    if not program.keeps(x, program.rows.lower - room, program.rows.upper + room):
        return None
    return Alone(Yielding(group, float(amounts[group]), _side(program.rows, multipliers, group)), x)


def _solve_by_interior(rows: ScaledRows, costs: Array) -> tuple[Array, Array, Array] | None:
    """Amounts (groups,), multipliers (rows,) and x of [explain.elastic]; None if no solution is found."""
    unit, gives = _largest_measure(rows), np.isfinite(costs)
    at = np.flatnonzero(gives[rows.group] & (rows.measure > 0.0))
    group = rows.group[at]
    moves = sparse.csr_array((rows.measure[at] / unit[group], (at, group)), (len(rows.group), rows.groups))
    hard = np.zeros(len(rows.group), dtype=bool)
    found = solve_elastic(rows.A, (rows.lower, rows.upper), hard, moves, np.where(gives, costs / unit, 0.0))
    if found is None:
        return None
    amounts = np.where(gives & (found.amounts > _LEAST_SHARE * found.amounts[gives].max(initial=0.0)), found.amounts, 0)
    return amounts / unit, found.multipliers, found.x


def find_least_together(program: Program, costs: Array) -> tuple[Yielding, ...] | None:
    """The relaxation of least cost with which all groups hold; None if those conflict that may not give way.

        min Σ_g cost_g r_g   with   lower − measure r_g ≤ A x ≤ upper + measure r_g,   r ≥ 0        [explain.elastic]

    Ends are those that were given; where rigid groups conflict there by less than the tolerance, they are wider by it.
    Costs (groups,) are inf for those that may not give way.

    Raises:
        UnsolvedError: No method of HiGHS solves it.
    """
    rows = program.rows
    rigid = ~np.isfinite(costs)[rows.group] | (rows.measure == 0.0)
    given = rows.with_given_ends(program.tolerance)
    answer = _solve_by_interior(given, costs) if program.is_large else None
    found = None if answer is None else answer[:2]
    if found is None and rigid.any() and isinstance(program.judge(rigid), Proof):
        return None
    if found is None and not program.is_large:
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
        if status == INFEASIBLE:
            return None
        if status == OPTIMAL:
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
