"""Questions about groups that may give way, as linear programs that HiGHS solves one from the basis of the other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.errors import SurefootError
from surefoot.solvers.explain_elastic import Elastic, least_at_once
from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_model import LEAVING, OTHER_METHODS, RELAXING, Model, Status
from surefoot.solvers.explain_posing import compressed, given_ends
from surefoot.solvers.explain_projection import Verdict, outside, project
from surefoot.solvers.explain_starts import NOTICED, KnownBases, Start

__all__ = ["Program", "UnsolvedError"]

Numbers = NDArray[np.float64]
_FAR = 1e6  # multipliers prove that no x within this many times the present size of x will do
_NEXT = "give numbers of similar size, shorter spans of unstable motions, or a wider tolerance"
_LARGE = 2500  # unknowns from which an interior-point method is faster where nothing is known
_FEW_PIVOTS, _PIVOTS_EACH = 400, 20  # of a search from a basis that is near; for each group that is left out
_MANY_GROUPS = 10  # that give way: too many for one after the other


class UnsolvedError(SurefootError):
    """No method of HiGHS comes to an end, or rounding leaves it open what holds."""


class _Question(NamedTuple):
    """Ends (rows,) and groups that may give way: with the cost of one unit, or row by row (None)."""

    lower: Numbers
    upper: Numbers
    opened: dict[int, float | None]


class Program:
    """Rows of groups in a model that is kept.

    Args:
        rows: The rows, with ends that are wider by the tolerance.
        tolerance: That tolerance.

    Attributes:
        crowded: Whether many groups will have to give way together.
    """

    def __init__(self, rows: ScaledRows, tolerance: float) -> None:
        self.crowded = False
        self._basis, self.rows = compressed(rows)
        self.tolerance = tolerance
        self._model = Model(given_ends(self.rows, tolerance))
        self._transposed = self.rows.A.T.tocsr() if sparse.issparse(self.rows.A) else self.rows.A.T
        self._known = KnownBases(self.rows)
        self._left: int | None = None  # the group that was left out last, if all others hold then

    def judge(self, kept: NDArray[np.bool_] | None = None) -> Verdict:
        """Whether rows can hold together: the least share t of what is violated at a first x.

        Args:
            kept: (rows,) which of them; all if left out.
        """
        found = self._whole(_Question(*self._only(kept), {}))
        if kept is None and found.multipliers is not None:
            self._known.remember(self._model.present_basis())
        return found

    def prepare(self, groups: Sequence[int]) -> None:
        """Say which groups will be asked about, one after the other.

        Args:
            groups: Their numbers.
        """
        model = self._leaving._model
        model.add_reliefs(groups, by_row=True)
        if self._known:
            model.begin(self._known.first)

    def without(self, group: int, kept: NDArray[np.bool_]) -> Verdict:
        """Whether rows can hold together if those of a group are left out.

        Args:
            group: Its number.
            kept: (rows,) the rows that are to hold; those of the group have no part in it.
        """
        try:
            found = self._without(group, kept)
        except UnsolvedError:
            self._left = None
            return self._anew._whole(_Question(*self._only(kept & (self.rows.group != group)), {}))
        self._left = group if found.feasible else None
        return found

    def _without(self, group: int, kept: NDArray[np.bool_]) -> Verdict:
        question = _Question(*self._only(kept | (self.rows.group == group)), {group: None})
        asked, before = self._leaving, self._left
        if before is not None and kept[self.rows.group == before].all():
            return asked._whole(question, before)
        proof = asked._proof(question)
        if proof is not None:
            return Verdict(np.zeros(0), proof)
        if not asked._holds(question):
            raise UnsolvedError("rounding leaves it open whether groups can hold together", next_step=_NEXT)
        return Verdict(self._unfolded(asked._model.point([group])[0]))

    def alone(self, group: int) -> Elastic:
        """The least with which one group gives way so that all rows hold; its amount is the only one.

        Args:
            group: Its number.
        """
        asked, question = self._relaxing, _Question(self.rows.lower, self.rows.upper, {group: 1.0})
        try:
            proof = asked._proof(question, self._known.nearest(group))
        except UnsolvedError:
            asked = self._anew
            proof = asked._proof(question)
        if proof is not None:
            return Elastic(proof)
        if asked is self._relaxing and self._known and asked._model.moved:
            self._known.remember(asked._model.present_basis())
        x, amounts = asked._model.point([group])
        return Elastic(asked._model.multipliers(), amounts, self._unfolded(x))

    def proof_without(self, groups: Sequence[int]) -> Numbers | None:
        """Multipliers (rows,) of a proof that asks nothing of groups; None if none is found with a few pivots.

        Args:
            groups: Their numbers.
        """
        asked, costs = self._relaxing, np.full(self.rows.groups, np.inf)
        costs[list(groups)] = 1.0
        start = self._known.with_largest_bound(costs)
        question = _Question(self.rows.lower, self.rows.upper, dict.fromkeys(groups, 1.0))
        if start is None:
            return None
        return asked._proof_by_ray(asked._search(question, start, _FEW_PIVOTS + _PIVOTS_EACH * len(groups)), question)

    def least(self, costs: Numbers, *, true_ends: bool = False) -> Elastic:
        """The least sum of costs with which some x keeps all rows.

        Groups take part once multipliers ask more of them than they cost; where these ask no more of any, the optimum
        is that of all groups (column generation, Ford and Fulkerson 1958). If these become many, all of them are asked
        at once.

        Args:
            costs: (groups,) of one unit; inf for groups that do not give way.
            true_ends: Whether rows have the ends that were given.
        """
        return self._relaxing._least(costs, given_ends(self.rows, self.tolerance) if true_ends else self.rows)

    def rigid_conflict(self, costs: Numbers) -> Numbers | None:
        """Multipliers (rows,) of the proof that rows conflict that do not give way; None if they can hold together.

        Args:
            costs: (groups,) of one unit; inf for groups that do not give way.
        """
        rigid = ~np.isfinite(costs)[self.rows.group] | (self.rows.measure == 0.0)
        if not rigid.any():
            return None
        found = self._projected(rigid) if self.crowded else None
        return (found or self._anew._whole(_Question(*self._only(rigid), {}))).multipliers

    def _projected(self, kept: NDArray[np.bool_]) -> Verdict | None:
        """Whether rows can hold together, without HiGHS; None if rounding leaves it open."""
        at = np.flatnonzero(kept)
        rows = self.rows.only(at)
        found = project(rows.A, rows.lower, rows.upper, np.zeros(len(rows.columns)), 0.01 * self.tolerance)
        return None if found is None else found.among(at, len(kept))

    @cached_property
    def _relaxing(self) -> Program:
        """The same rows in a model in which groups give way."""
        return self._near(RELAXING)

    @cached_property
    def _leaving(self) -> Program:
        """The same rows in a model in which the rows of groups are left out."""
        return self._near(LEAVING)

    @property
    def _anew(self) -> Program:
        """The same rows in a new model, where all that is known has led nowhere."""
        out = copy(self)
        out._model, out._known = Model(given_ends(self.rows, self.tolerance)), KnownBases(self.rows)
        return out

    def _near(self, search: Mapping[str, Any]) -> Program:
        """The same rows in a model for questions that begin at bases that are known, once there is one."""
        if not self._known:
            return self
        out = copy(self)
        out._model = Model(given_ends(self.rows, self.tolerance), search)
        return out

    def _least(self, costs: Numbers, rows: ScaledRows) -> Elastic:
        if self.crowded and (found := self._at_once(costs, rows)) is not None:
            return found
        start = self._known.with_largest_bound(costs)
        opened: dict[int, float | None] = {} if start is None else {start.bearer: float(costs[start.bearer])}
        while True:
            proof, start = self._proof(_Question(rows.lower, rows.upper, opened), start), None
            y = self._model.multipliers() if proof is None else proof
            asked = self._known.asked(y)
            allowed = (1.0 + NOTICED) * costs if proof is None else np.where(np.isfinite(costs), 0.0, np.inf)
            more = [int(g) for g in np.flatnonzero(asked > allowed) if g not in opened]
            if not more:
                break
            if len(opened) + len(more) > _MANY_GROUPS:
                if (found := self._at_once(costs, rows)) is not None:
                    return found
                more = [int(g) for g in np.flatnonzero(np.isfinite(costs)) if g not in opened]
            opened |= {g: float(costs[g]) for g in more}
        if proof is not None:
            return Elastic(proof)
        x, given = self._model.point(list(opened))
        amounts = np.zeros(rows.groups)
        amounts[list(opened)] = given
        return Elastic(y, amounts, self._unfolded(x))

    def _at_once(self, costs: Numbers, rows: ScaledRows) -> Elastic | None:
        """With all groups at once; None if that fails."""
        rigid = self.rigid_conflict(costs)
        if rigid is not None:
            return Elastic(rigid)
        found = least_at_once(rows, costs)
        return None if found is None or found.x is None else found._replace(x=self._unfolded(found.x))

    def _proof(self, question: _Question, start: Start | None = None) -> Numbers | None:
        """Multipliers (rows,) of the proof that what is asked for cannot be; None if the model is at an optimum.

        A ray of HiGHS is a proof if its numbers are; where they are not, or there is none, t decides. Without a
        start the model goes on from its last basis.
        """
        status = self._search(question, start, _FEW_PIVOTS if self._known else None)
        if status == Status.kOptimal and self._holds(question):
            return None
        y = self._proof_by_ray(status, question)
        if y is not None:
            return y
        found = self._whole(question)
        if found.multipliers is None:
            self._pose(question)
            self._run_to_optimum(primal=True)
        return found.multipliers

    def _search(self, question: _Question, start: Start | None, most: int | None) -> Status:
        """Solve, from a start if there is one, with so many pivots at most."""
        if start is not None:
            self._model.drop_reliefs()
        self._pose(question)
        if start is not None:
            self._model.begin(*start)
        return self._model.run(most=most)

    def _proof_by_ray(self, status: Status, question: _Question) -> Numbers | None:
        """Multipliers (rows,) of HiGHS, if there are some and they prove that what is asked for cannot be."""
        y = self._model.ray() if status == Status.kInfeasible else None
        return y if y is not None and self._proves(y, question) else None

    def _pose(self, question: _Question) -> None:
        """Set ends, and costs of groups that give way."""
        self._set(question)
        for group, cost in question.opened.items():
            self._open(group, cost, 1.0 if cost is None else cost)

    def _pose_whole(self, question: _Question, bearer: int | None) -> None:
        """The same with groups that give way for nothing: the rows of the bearer cost 1, or t if it is None."""
        self._set(question)
        for group, cost in question.opened.items():
            self._open(group, cost, 0.0)
        if bearer is None:
            self._model.open_whole()
        else:
            self._model.open_rows(bearer, 1.0)

    def _set(self, question: _Question) -> None:
        self._model.close()
        self._model.set_ends(question.lower, question.upper)
        if question.opened:
            self._model.add_reliefs(list(question.opened), by_row=None in question.opened.values())

    def _open(self, group: int, kind: float | None, cost: float) -> None:
        if kind is None:
            self._model.open_rows(group, cost)
        else:
            self._model.open_group(group, cost)

    def _run_to_optimum(self, *, primal: bool = False) -> None:
        """Solve a program that has an optimum."""
        if not any(status == Status.kOptimal for status in self._attempts(primal)):
            raise UnsolvedError("HiGHS could not solve a relaxation", next_step=_NEXT)

    def _attempts(self, primal: bool) -> Iterator[Status]:
        """Solve from the last basis, from the one this ends at, from none, and by other methods."""
        if not self._known and len(self.rows.columns) > _LARGE:
            yield self._model.run({"solver": "ipm"})
        yield self._model.run(primal=primal)
        self._model.invert_anew()
        yield self._model.run(primal=primal)
        for method in OTHER_METHODS:
            yield self._model.run(method)

    def _whole(self, question: _Question, bearer: int | None = None) -> Verdict:
        """A point that keeps all rows but those that may give way, or multipliers.

        It is what remains to be borne that is least: the share t of what is violated at a first x, or the violation of
        the rows of a group. Where t is least without the question, or where this group alone is left out, other rows
        hold: a primal simplex method goes on from there, and keeps them.

        Args:
            question: What is asked; what gives way costs nothing.
            bearer: The group that was left out last; None for t.
        """
        self._pose_whole(question, bearer)
        if bearer is None and self._known:
            self._model.begin(self._known.first)
        for status in self._attempts(primal=bearer is not None or bool(self._known)):
            if status != Status.kOptimal:
                continue
            x, _ = self._model.point(list(question.opened))
            if self._holds(question):
                return Verdict(self._unfolded(x))
            y = np.where(self._closed(question), self._model.multipliers(), 0.0)
            if self._proves(y, question):
                return Verdict(self._unfolded(x), y)
        raise UnsolvedError("rounding leaves it open whether groups can hold together", next_step=_NEXT)

    def _holds(self, question: _Question) -> bool:
        """Whether the rows that do not give way hold where the model is, by their own numbers."""
        x, _ = self._model.point(list(question.opened))
        beyond = np.abs(outside(self.rows.A @ x, question.lower, question.upper))
        return bool(beyond[self._closed(question)].max(initial=0.0) <= 0.1 * self.tolerance)

    def _closed(self, question: _Question) -> NDArray[np.bool_]:
        """(rows,) those that do not give way."""
        closed = np.ones(len(self.rows.upper), dtype=bool)
        for group, cost in question.opened.items():
            closed[(self.rows.group == group) & ((cost is None) | (self.rows.measure > 0.0))] = False
        return closed

    def _proves(self, y: Numbers, question: _Question) -> bool:
        """Whether multipliers leave no x, however far, with groups that are open out of it."""
        at = np.flatnonzero(y)
        ends = np.where(y[at] > 0.0, question.upper[at], question.lower[at])
        if not len(at) or not np.isfinite(ends).all() or not self._closed(question)[at].all():
            return False
        left = np.abs(self._transposed @ y).sum()
        return bool(left * _FAR < -float(y[at] @ ends))

    def _only(self, kept: NDArray[np.bool_] | None) -> tuple[Numbers, Numbers]:
        """Ends (rows,) of rows that are kept, none for the others."""
        if kept is None:
            return self.rows.lower, self.rows.upper
        return np.where(kept, self.rows.lower, -np.inf), np.where(kept, self.rows.upper, np.inf)

    def _unfolded(self, x: Numbers) -> Numbers:
        return x if self._basis is None else self._basis @ x
