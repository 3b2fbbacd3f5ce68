"""Points at which one group of a conflict bears the whole of it, from the proof alone.

Multipliers y prove that rows B x ≤ b cannot hold together, with the gap δ = −yᵀ b. If one group gives way by
r = δ / Σ_{its rows} |y| measure, their ends are no longer in conflict, and where y is the only proof,

    B x = b + r measure sign(y)  at the rows of the group,   B x = b  at the others        [explain.jump]

has a solution. For all groups of the proof these are one system with many right sides. Whether other rows hold there,
too, is then a matter of multiplication; where they do not, the point says nothing.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_groups import ScaledRows
from surefoot.solvers.explain_projection import outside
from surefoot.solvers.explain_systems import MOST_DENSE, gram, widened_inverse

__all__ = ["Jumps", "Nearest", "Start"]

Numbers = NDArray[np.float64]
_REFINEMENTS = 6


class Start(Protocol):
    """A point, and moves from there."""

    x: Numbers

    def moves(self, targets: Numbers) -> Numbers:
        """Moves (n, many) by which rows of a proof change as targets (these rows, many) say, if they can."""
        ...


class Nearest:
    """The shortest moves from a point.

    Args:
        rows: The rows.
        proof: (rows,) multipliers.
        x: (n,) the point.
    """

    def __init__(self, rows: ScaledRows, proof: Numbers, x: Numbers) -> None:
        self.x, self._rows = x, rows.A[np.flatnonzero(proof)]

    def moves(self, targets: Numbers) -> Numbers:
        """Moves (n, many) by which rows of the proof change as targets (these rows, many) say; none if these are many.

        Args:
            targets: (rows of the proof, many) how far these rows are to change.
        """
        if len(targets) > MOST_DENSE:
            return np.zeros((len(self.x), targets.shape[1]))
        return np.asarray(self._rows.T @ _least_norm(self._rows, targets))


class Jumps:
    """For each group of a proof a point near a start at which this group bears the whole conflict.

    Args:
        rows: The rows that are to hold, with ends that are wider by the tolerance.
        proof: (rows,) multipliers.
        tolerance: That tolerance.
        start: Where the jumps begin; None: there are none.
    """

    def __init__(self, rows: ScaledRows, proof: Numbers, tolerance: float, start: Start | None) -> None:
        self.rows = rows
        at = np.flatnonzero(proof)
        lone = len(at) <= len(rows.columns) + 1  # more rows have more proofs
        self.groups, self.points = np.zeros(0, dtype=np.intp), np.zeros((0, 0))
        if lone and start is not None:
            self.groups = np.unique(rows.group[at])
            self.points = _points(rows.only(at), proof[at], tolerance, start)
        self._column = {int(g): k for k, g in enumerate(self.groups)}

    @cached_property
    def _values(self) -> Numbers:
        return np.asarray(self.rows.A @ self.points)

    @cached_property
    def _worst(self) -> Numbers:
        """(groups, points) largest violation."""
        beyond = np.abs(outside(self._values, self.rows.lower[:, None], self.rows.upper[:, None]))
        order = np.argsort(self.rows.group, kind="stable")
        first = np.flatnonzero(np.diff(self.rows.group[order], prepend=-1))
        out = np.zeros((self.rows.groups, beyond.shape[1]))
        out[self.rows.group[order][first]] = np.maximum.reduceat(beyond[order], first, axis=0)
        return out

    def keeping(self, group: int, others: list[int]) -> Numbers | None:
        """The point (n,) at which a group bears the conflict, if others hold there.

        Args:
            group: Its number.
            others: Numbers of groups.
        """
        k = self._column.get(group)
        return None if k is None or self._worst[others, k].max(initial=0.0) > 0.0 else self.points[:, k]


def _points(rows: ScaledRows, y: Numbers, tolerance: float, start: Start) -> Numbers:
    """(n, groups) of the rows of a proof with multipliers y."""
    sign = np.sign(y)
    ends = np.where(sign > 0.0, rows.upper, rows.lower) - sign * tolerance
    groups, place = np.unique(rows.group, return_inverse=True)
    movable = np.bincount(place, rows.measure)[place] > 0.0
    moves = np.where(movable, rows.measure, 1.0)
    amount = -float(y @ ends) / np.bincount(place, np.abs(y) * moves)
    bears = np.zeros((len(y), len(groups)))
    bears[np.arange(len(y)), place] = sign * moves * amount[place]
    return start.x[:, None] + start.moves((ends - rows.A @ start.x)[:, None] + bears)


def _least_norm(rows: Any, target: Numbers) -> Numbers:
    """Solutions z of rows rowsᵀ z = target where there are any, else nearly; zero where rounding forbids it."""
    products = gram(rows)
    try:
        inverse = widened_inverse(products.copy(), 1e-13 * max(10, len(target)))
    except np.linalg.LinAlgError:
        return np.zeros_like(target)
    z = inverse(target)
    for _ in range(_REFINEMENTS):
        z += inverse(target - products @ z)
    return z
