"""An irreducible set of groups that cannot hold together: each of its proper subsets can."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.solvers.explain.program import Program, Proof, UnsolvedError
from surefoot.solvers.explain.relaxation import Yielding, find_least_alone

_FEW_GROUPS = 64  # that are all tried: the set then depends on nothing but the order of names


class Conflict(NamedTuple):
    """The set, with its proofs.

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
