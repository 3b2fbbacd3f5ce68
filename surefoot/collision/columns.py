"""`Columns`: distances, gradients and travel of all pairs of a collision model, own pairs and pairs with obstacles."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.collision.obstacles import ObstaclePairs
from surefoot.collision.pairs import FusedPairs, PairGradients, PairTable, Proximity
from surefoot.collision.volumes import Reach, VolumeMotion
from surefoot.errors import ShapeError

_POSTURES_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Columns:
    """One column per pair: first the pairs of two volumes of the robot, then those of a volume and an obstacle.

    Args:
        own: Distances of the robot's own pairs.
        gradients: Their gradients.
        reach: Lever arms of the volumes.
        world: Pairs with obstacles.
    """

    own: FusedPairs
    gradients: PairGradients
    reach: Reach
    world: ObstaclePairs

    @property
    def table(self) -> PairTable:
        """The robot's own pairs."""
        return self.own.table

    @property
    def motion(self) -> VolumeMotion:
        """The volumes."""
        return self.own.table.motion

    def chosen(self, columns: ArrayLike | None) -> NDArray[np.int64]:
        """Indices (k,) of columns, checked; of all for None."""
        total = len(self.table) + len(self.world)
        if columns is None:
            return np.arange(total)
        chosen = np.asarray(columns)
        whole = chosen.ndim == 1 and (not len(chosen) or chosen.dtype.kind in "iu")
        if not whole or not ((chosen >= 0) & (chosen < total)).all():
            raise ShapeError("columns must be a list of whole numbers", evidence={"columns": columns, "pairs": total})
        return chosen.astype(np.int64)

    def distances(self, Q: Array, within: Array) -> Array:
        """Distances (n, pairs) [m]; those not below `within` may be lower bounds.

        Args:
            Q: (n, nq).
            within: (n,) [m].
        """
        own = self.own.distances(Q, within)
        if not len(self.world):
            return own
        out = np.empty((len(Q), own.shape[1] + len(self.world)))
        out[:, : own.shape[1]] = own
        for start in range(0, len(Q), _POSTURES_AT_ONCE):
            part = slice(start, start + _POSTURES_AT_ONCE)
            out[part, own.shape[1] :] = self.world.distances(self.motion.points(Q[part]), within[part])
        return out

    def upper_bounds(self, Q: Array) -> Array:
        """(n,) some obstacle is nearer than that; infinite where there is none [m]."""
        return self.world.upper_bounds(self.motion.points(Q)) if len(self.world) else np.full(len(Q), np.inf)

    def proximity(self, Q: Array, columns: NDArray[np.int64]) -> Proximity:
        """Distances, gradients and nearest points of every posture with every column, one posture after the other.

        Args:
            Q: (n, nq).
            columns: (k,).
        """
        points, twists = self.motion.points(Q), self.motion.twists(Q)
        rows, chosen = np.repeat(np.arange(len(Q)), len(columns)), np.tile(columns, len(Q))
        own, count, nv = len(self.table), len(rows), self.motion.robot.nv
        out = Proximity(np.empty(count), np.empty((count, nv)), np.empty((count, 3)), np.empty((count, 3)))
        for part, source, shift in ((chosen < own, self.gradients, 0), (chosen >= own, self.world, own)):
            if part.any():
                out.put(part, source.at(points, twists, rows[part], chosen[part] - shift))
        return out

    def travel(self, postures: Array, linear: Array, angular: Array, padded: bool) -> Array:
        """By how much distances can change at most, (n, pairs) [m]; see `CollisionModel.travel_of`.

        Args:
            postures: (k, nq).
            linear: (n, bodies) [m].
            angular: (n, bodies) [rad].
            padded: Whether points lie off the generators by the radii.
        """
        extents, table, world = self.reach.extents(postures, linear), self.table, self.world
        groups = ((table.first, table.second), (world.volume, None))
        parts = [self.reach.of_pairs(first, second, extents) for first, second in groups]
        moved, arms = (np.vstack(part) for part in zip(*parts, strict=True))
        if padded:
            arms = arms + moved * np.concatenate([table.radii, self.motion.radii[world.volume]])[:, None]
        out: Array = linear @ moved.T + angular @ arms.T
        return out
