"""Which groups can hold together: points or proofs, remembered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sparse
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_program import Program
from surefoot.solvers.explain_projection import Verdict, project
from surefoot.solvers.explain_thinning import thinned

__all__ = ["Oracle"]

Numbers = NDArray[np.float64]
Places = NDArray[np.intp]
_MANY_UNKNOWNS, _FEW_ENTRIES = 600, 5
_FEW_GROUPS = 64  # that are all tried, in the order of their names


class _Part(NamedTuple):
    """A program of some rows, and which; None: rows are judged without HiGHS."""

    program: Program | None
    at: Places


class Oracle:
    """Judges subsets of groups, with some of them relaxed.

    Args:
        rows: The rows of all groups, with ends that are wider by the tolerance.
        tolerance: That tolerance.

    Attributes:
        proofs: Multipliers (rows,) of all rows, of every proof so far.
        dispensable: (groups,) whether some proof asks nothing of a group: it does not help alone.
        crowded: Whether there are many conflicts.
        program: HiGHS, for problems that are large and sparse, as those over time, or have many conflicts; else None.
    """

    def __init__(self, rows: ScaledRows, tolerance: float) -> None:
        self.rows, self.tolerance = rows, tolerance
        self.proofs: list[Numbers] = []
        self.dispensable = np.zeros(rows.groups, dtype=bool)
        self._last = np.zeros(len(rows.columns))
        self.program = Program(rows, tolerance) if _suits_programs(rows) else None
        self._trials = _Part(self.program, np.arange(len(rows.upper)))
        self.crowded = False

    def judge_all(self) -> Verdict:
        """Whether all groups can hold together.

        Where more rows are violated than one proof needs, there are many conflicts, and HiGHS is asked about them; of
        many groups, those of one conflict are chosen.
        """
        found = self.judge()
        if found.multipliers is None or np.count_nonzero(found.multipliers) <= len(self.rows.columns) + 1:
            return found
        return found._replace(multipliers=self.one_of_many(found.multipliers, found.x))

    def one_of_many(self, proof: Numbers, x: Numbers) -> Numbers:
        """Take note that there are many conflicts, and choose one of them: its multipliers (rows,).

        Args:
            proof: (rows,) multipliers.
            x: (n,) for the size of unknowns.
        """
        self.crowded, self.program = True, self.program or Program(self.rows, self.tolerance)
        self.program.crowded = True
        few = len(np.unique(self.rows.group[proof != 0.0])) <= _FEW_GROUPS
        return proof if few else thinned(self.rows, proof, x)

    def prepare(self, at: Places, groups: Sequence[int]) -> None:
        """Say which rows will be asked about, without one or the other group; see `judge_without`.

        Args:
            at: Their numbers: all rows of some groups.
            groups: Those of them that are likely to be left out.
        """
        if self.program is None:
            return
        program = self.program
        if self.crowded:
            program = Program(self.rows.only(at), self.tolerance)
            program.judge()
        program.prepare(groups)
        self._trials = _Part(program, at if self.crowded else np.arange(len(self.rows.upper)))

    def judge(self, groups: Sequence[int] | None = None, amounts: Numbers | None = None) -> Verdict:
        """Whether groups can hold together; multipliers are for all rows.

        Args:
            groups: Their numbers; all if left out.
            amounts: (groups,) how far groups are relaxed, in their units; rows then have a little more room, so that
                the least amount that helps does help.
        """
        if self.program is not None and amounts is None and not self.crowded:
            return self._noted(self.program.judge(None if groups is None else self.rows.rows_of(groups)))
        at = np.arange(len(self.rows.upper)) if groups is None else np.flatnonzero(self.rows.rows_of(groups))
        rows = self.rows if groups is None else self.rows.only(at)
        room = 0.0 if amounts is None else amounts[rows.group] * rows.measure + 0.1 * self.tolerance
        found = self._found(rows.with_ends(rows.lower - room, rows.upper + room))
        if found.multipliers is None:
            self._last = found.x
        return self._noted(found.among(at, len(self.rows.upper)))

    def judge_without(self, group: int, rest: Sequence[int]) -> Verdict:
        """Whether others can hold together without a group.

        Args:
            group: Its number.
            rest: Numbers of the others.
        """
        program, at = self._trials
        if program is None:
            return self.judge(rest)
        return self._noted(program.without(group, self.rows.rows_of(rest)[at]).among(at, len(self.rows.upper)))

    def learn(self, proof: Numbers) -> None:
        """Remember a proof.

        Args:
            proof: (rows,) multipliers.
        """
        self.proofs.append(proof)
        asked = np.bincount(self.rows.group, np.abs(proof) * self.rows.measure, minlength=self.rows.groups)
        self.dispensable |= asked == 0.0

    def _noted(self, found: Verdict) -> Verdict:
        if found.multipliers is not None:
            self.learn(found.multipliers)
        return found

    def _found(self, rows: ScaledRows) -> Verdict:
        found = project(rows.A, rows.lower, rows.upper, self._last, 0.01 * self.tolerance)
        return Program(rows, self.tolerance).judge() if found is None else found


def _suits_programs(rows: ScaledRows) -> bool:
    """Few entries in each row, or many unknowns: bases of simplex methods are then nearly triangular."""
    if not sparse.issparse(rows.A):
        return False
    return bool(rows.A.shape[1] > _MANY_UNKNOWNS or rows.A.nnz < _FEW_ENTRIES * rows.A.shape[0])
