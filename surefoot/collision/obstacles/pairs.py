"""Distances of a robot's volumes from obstacles.

Far ones are ruled out first by balls: one round the robot, one round each volume, one round each obstacle.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.obstacles.obstacles import PlacedObstacle
from surefoot.collision.pairs import Proximity, joint_rates
from surefoot.collision.volumes import VolumeMotion

Indices = NDArray[np.int64]


class ObstaclePairs:
    """Pairs of a volume and an obstacle, ordered by obstacles.

    Args:
        motion: The volumes.
        obstacles: M obstacles.
        watched: (V, M) whether a volume is held against an obstacle.

    Attributes:
        volume: (C,) the volume of every pair.
        obstacle: (C,) the index of its obstacle.
    """

    def __init__(self, motion: VolumeMotion, obstacles: Sequence[PlacedObstacle], watched: NDArray[np.bool_]) -> None:
        self.motion, self.obstacles, self.watched = motion, tuple(obstacles), watched
        self.obstacle, self.volume = (x.astype(np.int64) for x in np.nonzero(watched.T))
        self._starts = np.searchsorted(self.obstacle, np.arange(len(self.obstacles) + 1))

    def __len__(self) -> int:
        return len(self.volume)

    def distances(self, points: Array, within: Array) -> Array:
        """Distances (n, C) [m]; those not below `within` are lower bounds.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
            within: (n,) what is farther than that need not be exact [m].
        """
        lower = self._gaps(points)
        out = np.repeat(lower, np.diff(self._starts), axis=1)
        for k in np.flatnonzero((lower <= within[:, None]).any(axis=0)):
            rows = np.flatnonzero(lower[:, k] <= within)
            self._look_at(int(k), points, rows, within, out)
        return out

    def _look_at(self, k: int, points: Array, rows: Indices, within: Array, out: Array) -> None:
        """Fill in the distances from obstacle k at some postures."""
        columns = np.arange(self._starts[k], self._starts[k + 1])
        centers = points[rows][:, self.motion.count + self.volume[columns]]
        gaps = self.obstacles[k].gaps(centers, self.motion.ball_radii[self.volume[columns]])
        out[np.ix_(rows, columns)] = np.maximum(gaps, out[np.ix_(rows, columns)])
        r, c = np.nonzero(gaps <= within[rows, None])
        rows, columns = rows[r], columns[c]
        for at, generators, radii in self._generators(points, rows, columns):
            limit = within[rows[at]]
            found = self.obstacles[k].nearest(generators, limit + radii).distance
            out[rows[at], columns[at]] = np.where(found < limit + radii, found - radii, limit)

    def upper_bounds(self, points: Array) -> Array:
        """(n,) something is nearer than that; infinite where there is no obstacle [m].

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
        """
        out = np.full(len(points), np.inf)
        for k, obstacle in enumerate(self.obstacles):
            volumes = self.volume[self._starts[k] : self._starts[k + 1]]
            _, radius = obstacle.ball
            if len(volumes) and radius >= 0.0:
                extra = 0.0 if obstacle.tree is None else 2.0 * radius
                gaps = obstacle.gaps(points[:, self.motion.count + volumes], self.motion.radii[volumes]) + extra
                out = np.minimum(out, gaps.min(axis=1))
        return out

    def at(self, points: Array, twists: Array, rows: Indices, columns: Indices) -> Proximity:
        """Distances, gradients and nearest points of single pairs at single postures.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
            twists: (n, m, 6) as `VolumeMotion.twists` gives them.
            rows: (k,) which posture.
            columns: (k,) which pair.
        """
        count, nv = len(rows), self.motion.robot.nv
        out = Proximity(np.empty(count), np.empty((count, nv)), np.empty((count, 3)), np.empty((count, 3)))
        carried = self.motion.carried[:, self.motion.twist_body].astype(float)
        for at, generators, radii in self._generators(points, rows, columns):
            for k in np.unique(self.obstacle[columns[at]]):
                own = self.obstacle[columns[at]] == k
                pick, radius = at[own], radii[own]
                found = self.obstacles[k].nearest(generators[own], np.full(len(pick), np.inf))
                signs = -carried[self.volume[columns[pick]]]
                out.distance[pick] = found.distance - radius
                out.gradient[pick] = joint_rates(self.motion, twists, rows[pick], found.normal, found.point_a, signs)
                out.point_a[pick] = found.point_a + radius[:, None] * found.normal
                out.point_b[pick] = found.point_b
        return out

    def _gaps(self, points: Array) -> Array:
        """Lower bounds (n, M) of the distances of the whole robot from the obstacles."""
        if not len(self):
            return np.full((len(points), len(self.obstacles)), np.inf)
        center, radius = self._robot_ball(points)
        balls = [obstacle.ball for obstacle in self.obstacles]
        across = np.linalg.norm(center[:, None] - np.array([place for place, _ in balls]), axis=2)
        out: Array = across - np.array([size for _, size in balls]) - radius[:, None]
        for k in [k for k, obstacle in enumerate(self.obstacles) if obstacle.tree is None]:
            out[:, k] = self.obstacles[k].gaps(center, radius)
        return out

    def _robot_ball(self, points: Array) -> tuple[Array, Array]:
        """Centre (n, 3) and radius (n,) of a ball round all volumes that are looked at."""
        volumes = np.flatnonzero(self.watched.any(axis=1))
        centers = points[:, self.motion.count + volumes]
        middle = 0.5 * (centers.min(axis=1) + centers.max(axis=1))
        reach = np.linalg.norm(centers - middle[:, None], axis=2) + self.motion.ball_radii[volumes]
        return middle, reach.max(axis=1)

    def _generators(self, points: Array, rows: Indices, columns: Indices) -> Iterator[tuple[Indices, Array, Array]]:
        """For each kind of volume: where it is in the list, its vertices (m, k, 3) and radii (m,)."""
        volumes = self.volume[columns]
        for k in (1, 2, 3):
            at = np.flatnonzero(self.motion.kinds[volumes] == k)
            if len(at):
                corners = self.motion.starts[volumes[at], None] + np.arange(k)
                yield at, points[rows[at, None], corners], self.motion.radii[volumes[at]]
