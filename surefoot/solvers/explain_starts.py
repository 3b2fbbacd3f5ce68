"""Where searches begin: bases that are known, and what their multipliers ask of groups."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.solvers.explain_basis import Basis
from surefoot.solvers.explain_groups import ScaledRows

__all__ = ["NOTICED", "Known", "KnownBases", "Start"]

Numbers = NDArray[np.float64]
NOTICED = 1e-7
"""Share of a cost by which multipliers may exceed it."""


class Start(NamedTuple):
    """Where a search begins: a basis of the model without reliefs, and the group that takes the place of t."""

    basis: Basis
    bearer: int


class Known(NamedTuple):
    """A basis of the model without reliefs, and how far each group gives way at least, by its multipliers (groups,)."""

    basis: Basis
    bounds: Numbers


class KnownBases:
    """Bases of a model without reliefs.

    Args:
        rows: The rows of the model.

    Attributes:
        bases: All of them, the one at which t is least first.
    """

    def __init__(self, rows: ScaledRows) -> None:
        self._rows = rows
        self.bases: list[Known] = []

    def __bool__(self) -> bool:
        return bool(self.bases)

    @property
    def first(self) -> Basis:
        """The basis at which t is least."""
        return self.bases[0].basis

    def remember(self, basis: Basis | None) -> None:
        """Keep a basis from which questions may begin; bounds are those of [explain.alone].

        Args:
            basis: None is not kept.
        """
        if basis is None:
            return
        y, rows = basis.multipliers, self._rows
        at = np.flatnonzero(y)
        gap = -float(y[at] @ np.where(y[at] > 0.0, rows.upper[at], rows.lower[at]))
        asked = self.asked(y)
        bounds = np.divide(gap, asked, out=np.full(len(asked), -np.inf), where=asked > 0.0)
        self.bases.append(Known(basis, bounds))

    def asked(self, y: Numbers) -> Numbers:
        """(groups,) how much multipliers change with one unit of each group.

        Args:
            y: (rows,) multipliers.
        """
        weights = np.abs(y) * self._rows.measure
        return np.asarray(np.bincount(self._rows.group, weights, minlength=self._rows.groups), dtype=np.float64)

    def nearest(self, bearer: int) -> Start | None:
        """Where multipliers ask most of a group (the last of these).

        Args:
            bearer: Its number.
        """
        if not self.bases:
            return None
        bounds = np.array([known.bounds[bearer] for known in self.bases])
        return Start(self.bases[np.flatnonzero(bounds >= (1.0 - NOTICED) * bounds.max())[-1]].basis, bearer)

    def with_largest_bound(self, costs: Numbers) -> Start | None:
        """Where multipliers bound a sum of costs best.

        Their bound is the least of what a group costs that bears their conflict; the last of these groups bears it.

        Args:
            costs: (groups,) of one unit; inf for groups that do not give way.
        """
        if not self.bases:
            return None
        alone = [np.where(bounds > 0.0, costs * bounds, np.inf) for _, bounds in self.bases]
        least = [float(cost.min()) for cost in alone]
        k = int(np.argmax(np.where(np.isfinite(least), least, -np.inf)))
        if not np.isfinite(least[k]):
            return None
        bearer = int(np.flatnonzero(alone[k] <= (1.0 + NOTICED) * least[k])[-1])
        return Start(self.bases[k].basis, bearer)
