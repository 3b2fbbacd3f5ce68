"""What a collision model answers about single pairs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.pair_gradients import Proximity

__all__ = ["ClosestPairs", "NearestPair"]


@dataclass(frozen=True, eq=False)
class NearestPair:
    """The two things that are nearest to each other.

    Args:
        distance: [m]; negative where they overlap.
        links: Two links, or a link and an obstacle.
        point_a: (3,) nearest point on the surface of the first, in world [m].
        point_b: (3,) nearest point on the surface of the second, in world [m].
        gradient: (nv,) the rate of the distance is gradient · v.
        column: Their column in `CollisionModel.distances`.
    """

    distance: float
    links: tuple[str, str]
    point_a: Array
    point_b: Array
    gradient: Array
    column: int


@dataclass(frozen=True, eq=False)
class ClosestPairs:
    """The k pairs that are nearest to each other, nearest first.

    Args:
        columns: (k,) their columns in `CollisionModel.distances`.
        links: k times two links, or a link and an obstacle.
        at: Their distances, gradients and nearest points.
    """

    columns: NDArray[np.int64]
    links: tuple[tuple[str, str], ...]
    at: Proximity

    def first(self) -> NearestPair:
        """The nearest of them."""
        at = self.at
        return NearestPair(
            float(at.distance[0]), self.links[0], at.point_a[0], at.point_b[0], at.gradient[0], int(self.columns[0])
        )
