"""An irreducible set of groups that cannot hold together: each of its proper subsets can."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.solvers.explain.program import Program, Proof, UnsolvedError
from surefoot.solvers.explain.relaxation import Yielding, find_least_alone

__all__ = ["Conflict", "find_conflict"]


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

    Groups are removed one after the other, in their order, wherever the rest still conflicts; a group that the last
    proof does not need needs no trial. Where all other groups hold if a group alone gives way, it is in every conflict:
    that is asked first, so that the explanation names its members.

    Args:
        program: Judges subsets.
        proof: That all groups together conflict.
        relaxable: Numbers of the groups that may give way.
    """
    group, kept = program.rows.group, np.ones(program.rows.groups, dtype=bool)
    witnesses: dict[int, Array] = {}
    alone: dict[int, Yielding] = {}
    if len(kept) > 64:
        kept = program.rows.groups_of(proof.multipliers != 0.0)
    for member in range(len(kept)):
        if not proof.multipliers[group == member].any():
            kept[member] = False
            continue
        if member in relaxable and (helps := find_least_alone(program, member)) is not None:
            witnesses[member], alone[member] = helps.x, helps.yielding
            continue
        try:
            x, found = program.judge(kept[group] & (group != member))
        except UnsolvedError:  # what is kept is proved to conflict all the same
            x, found = np.full(len(program.rows.columns), np.nan), None
        if found is not None:
            kept[member], proof = False, found
        elif x is not None:
            witnesses[member] = x
    return Conflict(tuple(np.flatnonzero(kept).tolist()), program.polish(proof.multipliers), witnesses, alone)
