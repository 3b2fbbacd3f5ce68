"""A problem to try planners on: a point among boxes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array


class _AmongBoxes:
    def __init__(self, low: Array, high: Array) -> None:
        self.low, self.high = low, high

    def valid(self, states: Array) -> NDArray[np.bool_]:
        inside = np.all((states[:, None] >= self.low) & (states[:, None] <= self.high), axis=2)
        return np.asarray(~np.any(inside, axis=1))

    def edges(self, starts: Array, ends: Array) -> NDArray[np.bool_]:
        """Segments against slabs: Kay & Kajiya 1986."""
        way = (ends - starts)[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            a, b = (self.low - starts[:, None]) / way, (self.high - starts[:, None]) / way
        between = (starts[:, None] >= self.low) & (starts[:, None] <= self.high)
        still = way == 0.0
        enter = np.where(still, np.where(between, -np.inf, np.inf), np.minimum(a, b)).max(axis=2)
        leave = np.where(still, np.where(between, np.inf, -np.inf), np.maximum(a, b)).min(axis=2)
        hits = (enter <= leave) & (enter <= 1.0) & (leave >= 0.0)
        return np.asarray(~hits.any(axis=1))


def among_boxes(low: ArrayLike, high: ArrayLike) -> _AmongBoxes:
    """Checks of points and segments among boxes along the axes; exact.

    Args:
        low: (k, m) least corners.
        high: (k, m) largest corners.
    """
    return _AmongBoxes(np.asarray(low, dtype=float), np.asarray(high, dtype=float))
