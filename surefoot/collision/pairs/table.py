"""Distances of many pairs of volumes at many postures: pairs of one kind go through one kernel together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.pairs.kernels import KINDS, Nearest, generator_distances, generator_nearest
from surefoot.collision.volumes import VolumeMotion

Indices = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class _Group:
    """Pairs of the same two kinds: their columns, and which points are their vertices."""

    columns: Indices
    vertices_a: Indices
    vertices_b: Indices


class PairTable:
    """P pairs of volumes of one robot.

    Args:
        motion: The volumes.
        pairs: (P, 2) indices of volumes. Within a pair the one with fewer vertices comes first.

    Attributes:
        first: (P,) index of the first volume.
        second: (P,) index of the second volume.
        radii: (P,) sum of the two radii [m].
    """

    def __init__(self, motion: VolumeMotion, pairs: Indices) -> None:
        pairs = np.asarray(pairs, dtype=np.int64).reshape(-1, 2)
        swapped = motion.kinds[pairs[:, 0]] > motion.kinds[pairs[:, 1]]
        pairs = np.where(swapped[:, None], pairs[:, ::-1], pairs)
        self.motion, self.first, self.second = motion, pairs[:, 0], pairs[:, 1]
        self.radii = motion.radii[self.first] + motion.radii[self.second]
        self._groups = tuple(self._grouped())
        self._group_of, self._place = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)
        for k, group in enumerate(self._groups):
            self._group_of[group.columns], self._place[group.columns] = k, np.arange(len(group.columns))

    def __len__(self) -> int:
        return len(self.first)

    @property
    def kinds(self) -> list[tuple[str, str]]:
        """The kinds of the two volumes of every pair."""
        kinds = self.motion.kinds
        return [(KINDS[int(kinds[a])], KINDS[int(kinds[b])]) for a, b in zip(self.first, self.second, strict=True)]

    def _grouped(self) -> Iterator[_Group]:
        motion = self.motion
        kinds_a, kinds_b = motion.kinds[self.first], motion.kinds[self.second]
        for a, b in sorted({(int(a), int(b)) for a, b in zip(kinds_a, kinds_b, strict=True)}):
            columns = np.flatnonzero((kinds_a == a) & (kinds_b == b))
            yield _Group(
                columns,
                motion.starts[self.first[columns], None] + np.arange(a),
                motion.starts[self.second[columns], None] + np.arange(b),
            )

    def distances(self, points: Array) -> Array:
        """Distances (n, P) [m] of all pairs.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
        """
        out = np.empty((len(points), len(self)))
        for group in self._groups:
            A = _gathered(points, group.vertices_a)
            B = _gathered(points, group.vertices_b)
            out[:, group.columns] = generator_distances(A, B).reshape(len(points), len(group.columns))
        out -= self.radii
        return out

    def lower_bounds(self, points: Array) -> Array:
        """Lower bounds (n, P) [m] of all distances, from the balls round the volumes.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
        """
        centers, balls = points[:, self.motion.count :], self.motion.ball_radii
        apart = centers.take(self.second, axis=1) - centers.take(self.first, axis=1)
        between = np.sqrt(np.einsum("npi,npi->np", apart, apart))
        return np.asarray(between - (balls[self.first] + balls[self.second]))

    def some_distances(self, points: Array, rows: Indices, columns: Indices) -> Array:
        """Distances (k,) [m] of single pairs at single postures.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
            rows: (k,) which posture.
            columns: (k,) which pair.
        """
        out = np.empty(len(rows))
        for at, A, B in self._picked(points, rows, columns):
            out[at] = generator_distances(A, B)
        return out - self.radii[columns]

    def some_nearest(self, points: Array, rows: Indices, columns: Indices) -> Nearest:
        """Distances of the generators and their nearest points, of single pairs at single postures.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
            rows: (k,) which posture.
            columns: (k,) which pair.
        """
        out = Nearest(np.empty(len(rows)), np.empty((len(rows), 3)), np.empty((len(rows), 3)))
        for at, A, B in self._picked(points, rows, columns):
            found = generator_nearest(A, B)
            out.distance[at], out.point_a[at], out.point_b[at] = found.distance, found.point_a, found.point_b
        return out

    def _picked(self, points: Array, rows: Indices, columns: Indices) -> Iterator[tuple[Indices, Array, Array]]:
        """For each kind: where it occurs in the list, and its generators."""
        flat, stride, kinds = points.reshape(-1, 3), points.shape[1], self._group_of[columns]
        for k in sorted(set(kinds.tolist())):
            at, group = np.flatnonzero(kinds == k), self._groups[k]
            origin, pair = rows[at, None] * stride, self._place[columns[at]]
            yield at, flat[origin + group.vertices_a[pair]], flat[origin + group.vertices_b[pair]]


def _gathered(points: Array, vertices: Indices) -> Array:
    """Vertices (p, k) of every posture as (n p, k, 3)."""
    found = points.take(vertices.ravel(), axis=1)
    return found.reshape(len(points) * len(vertices), vertices.shape[1], 3)
