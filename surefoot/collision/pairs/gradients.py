"""Gradients of the distances of pairs: one force along the line of nearest points, read by all joints.

What a collision model answers about single pairs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.pairs.table import PairTable
from surefoot.collision.volumes import VolumeMotion

Indices = NDArray[np.int64]
_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


@dataclass(frozen=True, eq=False)
class Proximity:
    """Distances of k pairs, with all that belongs to them.

    Args:
        distance: (k,) [m]; negative where they overlap.
        gradient: (k, nv) its rate is gradient @ v; zero where generators cross.
        point_a: (k, 3) nearest point on the surface of the first, in world [m].
        point_b: (k, 3) nearest point on the surface of the second, in world [m].
    """

    distance: Array
    gradient: Array
    point_a: Array
    point_b: Array

    def put(self, where: NDArray[np.bool_], part: Proximity) -> None:
        """Write the pairs of a part to their places.

        Args:
            where: (k,) the places.
            part: As many pairs.
        """
        self.distance[where], self.gradient[where] = part.distance, part.gradient
        self.point_a[where], self.point_b[where] = part.point_a, part.point_b


class PairGradients:
    """Distances, gradients and nearest points of pairs of volumes."""

    def __init__(self, table: PairTable) -> None:
        self._table = table

    @cached_property
    def _signs(self) -> Array:
        """(P, m): 1 for joints that move the second volume, −1 the first, 0 both or none."""
        motion = self._table.motion
        carried = motion.carried[:, motion.twist_body].astype(float)
        return np.asarray(carried[self._table.second] - carried[self._table.first])

    def at(self, points: Array, twists: Array, rows: Indices, columns: Indices) -> Proximity:
        """Distances and gradients of single pairs at single postures.

        Args:
            points: (n, …, 3) as `VolumeMotion.points` gives them.
            twists: (n, m, 6) as `VolumeMotion.twists` gives them.
            rows: (k,) which posture.
            columns: (k,) which pair.
        """
        table = self._table
        near = table.some_nearest(points, rows, columns)
        normal = near.direction
        rates = joint_rates(table.motion, twists, rows, normal, near.point_a, self._signs[columns])
        radius_a = table.motion.radii[table.first[columns], None]
        radius_b = table.motion.radii[table.second[columns], None]
        return Proximity(
            near.distance - table.radii[columns],
            rates,
            near.point_a + radius_a * normal,
            near.point_b - radius_b * normal,
        )


def joint_rates(motion: VolumeMotion, twists: Array, rows: Indices, normal: Array, point: Array, signs: Array) -> Array:
    """Gradients (k, nv): the work of a unit force along `normal` through `point` for unit rates of the joints.

    Args:
        motion: Tells which entry of v moves which joint.
        twists: (n, m, 6) of the joints at the world's origin, linear first.
        rows: (k,) which posture.
        normal: (k, 3).
        point: (k, 3) [m].
        signs: (k, m): 1 for joints that move the second thing, −1 the first, 0 both or none.
    """
    moment = point[:, _NEXT] * normal[:, _LAST] - point[:, _LAST] * normal[:, _NEXT]  # quicker than `np.cross`
    wrench = np.concatenate([normal, moment], axis=1)
    rates = signs * _powers(twists, rows, wrench)
    entry, nv = motion.twist_entry, motion.robot.nv
    if len(entry) == nv and np.array_equal(entry, np.arange(nv)):
        found: Array = rates
        return found
    out = np.zeros((len(rates), nv))
    np.add.at(out.T, entry, rates.T)
    return out


def _powers(twists: Array, rows: Indices, wrench: Array) -> Array:
    """twists[rows] · wrench (k, m); as one product for each posture where all have as many rows."""
    n = len(twists)
    if n == 1 or (n and len(rows) % n == 0 and np.array_equal(rows, np.repeat(np.arange(n), len(rows) // n))):
        return np.matmul(wrench.reshape(n, -1, 6), np.swapaxes(twists, 1, 2)).reshape(len(rows), -1)
    return np.matmul(twists[rows], wrench[:, :, None])[:, :, 0]


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
