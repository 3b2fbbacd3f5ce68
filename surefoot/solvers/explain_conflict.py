"""An irreducible set of groups that cannot hold together: each of its proper subsets can."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.solvers.explain_centre import Centre
from surefoot.solvers.explain_jumps import Jumps, Nearest, Start
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_program import UnsolvedError
from surefoot.solvers.explain_projection import Verdict, outside, polished, project
from surefoot.solvers.explain_relaxation import IN_VAIN, Yielding, alone_by_program, look_elsewhere
from surefoot.solvers.explain_systems import dense_if_small

__all__ = ["Conflict", "irreducible_conflict"]

Numbers = NDArray[np.float64]
_POLISHES = 6


class Conflict(NamedTuple):
    """The set, with its proofs.

    Args:
        groups: Numbers of its members.
        multipliers: (rows,) of the proof that they cannot hold together.
        witnesses: For each member a point (n,) at which all others hold; NaN where rounding leaves it open.
        alone: How far members give way alone, of those that were found to help.
    """

    groups: tuple[int, ...]
    multipliers: Numbers
    witnesses: dict[int, Numbers]
    alone: dict[int, Yielding]


def irreducible_conflict(oracle: Oracle, verdict: Verdict, relaxable: Collection[int] = ()) -> Conflict:
    """The set that is left by an elastic filter and then a deletion filter.

    The elastic filter (Chinneck and Dravnieks 1991) lets all rows give way, as little as possible; what gives way
    cannot hold together. Here it is the sum of squares that is least, for which the rows that give way are unique, and
    are themselves the multipliers of the proof. The deletion filter then leaves out group after group, in their order,
    wherever the rest still conflicts; a group that the last proof does not need needs no trial. Where all other groups
    hold if a group alone gives way, it is in every conflict; that is asked first, for it is to be told of members.

    Args:
        oracle: Judges subsets.
        verdict: Of all groups: that they conflict.
        relaxable: Numbers of the groups that may give way.
    """
    trials = _Trials(oracle, verdict, relaxable)
    kept, witnesses = sorted(trials.needed), {}
    for member in tuple(kept):
        rest = [other for other in kept if other != member]
        if member in trials.needed:
            trials.look_elsewhere([other for other in kept if other >= member])
            witness = trials.point_without(member, rest)
            if witness is not None:
                witnesses[member] = witness
                continue
        kept = rest
    return Conflict(tuple(kept), _cleaned(oracle, trials.proof), witnesses, trials.alone)


class _Trials:
    """Tries to do without groups, and keeps the last proof that what is left conflicts."""

    def __init__(self, oracle: Oracle, verdict: Verdict, relaxable: Collection[int]) -> None:
        self.oracle, self.start, self.relaxable = oracle, verdict.x, relaxable
        self.alone: dict[int, Yielding] = {}
        self.in_vain = 0  # groups that were asked, and do not help alone
        self._suspect(_proof(verdict))
        if oracle.program is not None and not oracle.crowded and self.jumps is not None and not len(self.jumps.groups):
            self._suspect(oracle.one_of_many(self.proof, verdict.x))
        groups = sorted(self.needed)
        oracle.prepare(self.suspects, [g for g in groups if self._jump(g, [k for k in groups if k != g]) is None])

    def _suspect(self, proof: Numbers) -> None:
        """Look for the conflict among the groups that a proof names."""
        rows = self.oracle.rows
        self.suspects = np.flatnonzero(rows.rows_of(rows.group[proof != 0.0]))
        self.rows = rows.only(self.suspects)
        self.jumps: Jumps | None = None
        self._learn(proof)

    def _learn(self, proof: Numbers) -> None:
        """Go on with a proof; points of the first one stay points of its groups, if they took long."""
        self.proof = proof
        self.needed = set(self.oracle.rows.group[proof != 0.0].tolist())
        if self.jumps is None or self.oracle.program is None:
            multipliers = proof[self.suspects]
            self.jumps = Jumps(self.rows, multipliers, self.oracle.tolerance, self._start(multipliers))

    def _start(self, multipliers: Numbers) -> Start | None:
        if self.oracle.program is None:
            return Nearest(self.rows, multipliers, self.start)
        return None if self.oracle.crowded else Centre.of(self.rows, multipliers, self.oracle.tolerance)

    def point_without(self, member: int, rest: list[int]) -> Numbers | None:
        """A point at which the rest holds; None, and a new proof, if it conflicts without the member, too.

        Where rounding leaves it open, the member is kept, with NaN for the point: what is kept has been proved.
        """
        point = self._jump(member, rest)
        point = self._point_of_relaxation(member) if point is None else point
        if point is not None:
            return self._mended(point, rest)
        try:
            found = self.oracle.judge_without(member, rest)
        except UnsolvedError:
            return np.full(len(self.start), np.nan)
        if found.feasible:
            return self._mended(found.x, rest)
        self._learn(_proof(found))
        return None

    def _jump(self, member: int, rest: list[int]) -> Numbers | None:
        return None if self.jumps is None else self.jumps.keeping(member, rest)

    def _mended(self, x: Numbers, rest: list[int]) -> Numbers:
        """A point near x at which dense rows hold that a program has without what is faint of them."""
        rows, tolerance = self.oracle.rows, 0.1 * self.oracle.tolerance
        if sparse.issparse(rows.A):
            return x
        beyond = np.abs(outside(rows.A @ x, rows.lower, rows.upper))
        kept = rows.rows_of(rest)
        if beyond[kept].max(initial=0.0) <= tolerance:
            return x
        found = project(rows.A[kept], rows.lower[kept], rows.upper[kept], x, 0.1 * tolerance)
        return found.x if found is not None and found.feasible else x

    def _point_of_relaxation(self, member: int) -> Numbers | None:
        """A point at which all groups hold if the member gives way alone, if it helps."""
        program = self.oracle.program
        if program is None or self.oracle.crowded or member not in self.relaxable or self.oracle.dispensable[member]:
            return None
        found = alone_by_program(self.oracle, program, member)
        if found.yielding is not None:
            self.alone[member] = found.yielding
        self.in_vain += found.yielding is None
        return found.x

    def look_elsewhere(self, members: list[int]) -> None:
        """Ask once whether there is a conflict without any of the members, if many were asked in vain.

        Args:
            members: Groups that are still to be asked; none of them helps alone if there is one.
        """
        if self.in_vain == IN_VAIN:
            look_elsewhere(self.oracle, members)
            self.in_vain += 1


def _cleaned(oracle: Oracle, proof: Numbers) -> Numbers:
    """Multipliers (rows,) of the same groups whose rows add up to nothing to the last digits, if there are some.

    Those that polishing would turn round are rounding, and are left out.
    """
    at, group = np.flatnonzero(proof), oracle.rows.group
    for _ in range(_POLISHES):
        try:
            y = polished(dense_if_small(oracle.rows.A[at]), proof[at])
        except np.linalg.LinAlgError:
            return proof
        right = y * proof[at] > 0.0
        if right.all():
            break
        at = at[right]
    if not right.all() or not np.isin(group[proof != 0.0], group[at]).all():
        return proof
    out = np.zeros_like(proof)
    out[at] = y
    return out


def _proof(verdict: Verdict) -> Numbers:
    return np.zeros(0) if verdict.multipliers is None else verdict.multipliers
