"""An irreducible set of groups that cannot hold together: each of its proper subsets can."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_jumps import Jumps
from surefoot.solvers.explain_oracle import Oracle
from surefoot.solvers.explain_projection import Verdict

__all__ = ["Conflict", "irreducible_conflict"]

Numbers = NDArray[np.float64]


class Conflict(NamedTuple):
    """The set, with its proofs.

    Args:
        groups: Numbers of its members.
        multipliers: (rows,) of the proof that they cannot hold together.
        witnesses: For each member a point (n,) at which all others hold.
    """

    groups: tuple[int, ...]
    multipliers: Numbers
    witnesses: dict[int, Numbers]


def irreducible_conflict(oracle: Oracle, verdict: Verdict) -> Conflict:
    """The set that is left by an elastic filter and then a deletion filter.

    The elastic filter (Chinneck and Dravnieks 1991) lets all rows give way, as little as possible; what gives way
    cannot hold together. Here it is the sum of squares that is least, for which the rows that give way are unique, and
    are themselves the multipliers of the proof. The deletion filter then leaves out group after group, in their order,
    wherever the rest still conflicts; a group that the last proof does not need needs no trial.

    Args:
        oracle: Judges subsets.
        verdict: Of all groups: that they conflict.
    """
    trials = _Trials(oracle, verdict)
    kept, witnesses = sorted(trials.needed), {}
    for member in tuple(kept):
        rest = [other for other in kept if other != member]
        if member in trials.needed:
            witness = trials.point_without(member, rest)
            if witness is not None:
                witnesses[member] = witness
                continue
        kept = rest
    return Conflict(tuple(kept), trials.proof, witnesses)


class _Trials:
    """Tries to do without groups, and keeps the last proof that what is left conflicts."""

    def __init__(self, oracle: Oracle, verdict: Verdict) -> None:
        self.oracle, self.start = oracle, verdict.x
        proof = _proof(verdict)
        self.suspects = np.flatnonzero(oracle.rows.rows_of(oracle.rows.group[proof != 0.0]))
        self.rows = oracle.rows.only(self.suspects)
        if oracle.program is not None:
            oracle.program.prepare(np.unique(self.rows.group).tolist())
        self._learn(proof)

    def _learn(self, proof: Numbers) -> None:
        self.proof = proof
        self.needed = set(self.oracle.rows.group[proof != 0.0].tolist())
        self.jumps = None
        if self.oracle.program is None:
            self.jumps = Jumps(self.rows, self.proof[self.suspects], self.oracle.tolerance, self.start)

    def point_without(self, member: int, rest: list[int]) -> Numbers | None:
        """A point at which the rest holds; None, and a new proof, if it conflicts without the member, too."""
        point = None if self.jumps is None else self.jumps.keeping(member, rest)
        if point is not None:
            return point
        found = self.oracle.judge_without(member, rest)
        if found.feasible:
            return found.x
        self._learn(_proof(found))
        return None


def _proof(verdict: Verdict) -> Numbers:
    return np.zeros(0) if verdict.multipliers is None else verdict.multipliers
