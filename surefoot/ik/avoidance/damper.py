"""Velocity dampers: near an obstacle the approach must slow down, as inequality rows of a quadratic program.

    ḋ = gradient · v ≥ -ξ (d-d_s)/(d_i-d_s)    for d < d_i        [ik.damper]   Faverjon & Tournassoud 1987

Where d is convex in the motion (a point and a convex obstacle), steps of at most (d_i-d_s)/ξ never come nearer than
d_s. Below d_s the same row asks to move away.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError


class DamperRows(NamedTuple):
    """Rows of a quadratic program: matrix @ v ≥ lower.

    Args:
        matrix: (k, nv) gradients of the distances.
        lower: (k,) [m/s]; −inf for pairs beyond the influence distance.
        pairs: (k,) which pairs, nearest first.
    """

    matrix: Array
    lower: Array
    pairs: NDArray[np.int64]


@dataclass(frozen=True)
class VelocityDamper:
    """The damper of all pairs.

    Args:
        influence: d_i [m]: nearer pairs are damped.
        security: d_s [m] < d_i: where the approach has come to rest.
        speed: ξ [m/s]: approach allowed at the influence distance.
        nearest: At most so many pairs, the nearest ones: the number of rows of the program.
        give: [m] ≥ 0: by how much pairs that begin nearer than d_s may come nearer than they began, and by no more than
            a quarter of their distance; so that they can move at all where they began as far apart as they ever are.
    """

    influence: float
    security: float
    speed: float
    nearest: int = 10
    give: float = 1e-3

    def __post_init__(self) -> None:
        if not self.influence > self.security or not self.speed > 0.0 or self.nearest < 1:
            raise ShapeError(
                "a damper needs influence > security distance, a positive speed and at least one pair",
                evidence={"influence": self.influence, "security": self.security, "speed": self.speed},
            )

    def rows(self, distances: ArrayLike, gradients: ArrayLike) -> DamperRows:
        """The rows of the nearest pairs.

        Args:
            distances: (pairs,) [m].
            gradients: (pairs, nv) with ḋ = gradient · v.
        """
        d, G = np.asarray(distances, dtype=float), np.asarray(gradients, dtype=float)
        if d.ndim != 1 or G.ndim != 2 or len(G) != len(d):
            raise ShapeError("distances and gradients do not belong together", evidence={"shapes": (d.shape, G.shape)})
        count = min(self.nearest, len(d))
        chosen = np.argpartition(d, count - 1)[:count] if count < len(d) else np.arange(len(d))
        pairs = chosen[np.argsort(d[chosen], kind="stable")]
        bounds = -self.speed * (d[pairs] - self.security) / (self.influence - self.security)
        return DamperRows(G[pairs], np.where(d[pairs] < self.influence, bounds, -np.inf), pairs)

    def allowed(self, first: ArrayLike) -> Array:
        """The least distances (pairs,) [m] of pairs that begin at some: d_s, or what they began with, less the give.

        Args:
            first: (pairs,) distances at the beginning [m].
        """
        began = np.asarray(first, dtype=float)
        give = np.clip(0.25 * began, 0.0, self.give)
        return np.where(began < self.security, began - give, self.security)

    @property
    def longest_step(self) -> float:
        """The longest time step [s] that keeps d ≥ d_s where d is convex in the motion."""
        return (self.influence - self.security) / self.speed
