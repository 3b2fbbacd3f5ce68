"""What a good swept volume is: little volume, and not far beyond the shape.

For a generator G the smallest radius r is the largest distance of the points from G, so volume V and excess e (how far
it reaches beyond the hull of the whole shape) are functions of the vertices of G alone. What is minimised is

    log(V / s³ + v) + w e / s            [fit.cost]   s: half the diagonal of the main box of the whole

with v = 0.001, so that volume does not count for what is flat, and w = 2: a hundredth of s in excess is worth two
percent of volume. e = r + the largest n·g − h(n) over vertices g and directions n, h the support function of the whole
(`surefoot.geometry.fit.excess`). Volume alone gives generators with long spikes, excess alone gives fat ones.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry.fit.nearest import union_volume

EXCESS_WEIGHT, FLAT_VOLUME = 2.0, 0.001  # w and v of [fit.cost]
FINE = 128  # directions in which the excess is looked at, where it matters


class Found(NamedTuple):
    """A swept volume around points.

    Args:
        generator: (k, 3) [m].
        radius: [m].
    """

    generator: Array
    radius: float


class MainBox(NamedTuple):
    """A box around points along their principal axes, the longest edge first.

    Args:
        centre: (3,).
        axes: (3, 3), one axis in each row.
        half: (3,) half edges.
    """

    centre: Array
    axes: Array
    half: Array

    @property
    def size(self) -> float:
        """Half the diagonal; one for a point."""
        return float(np.linalg.norm(self.half)) or 1.0


class Whole(NamedTuple):
    """What an excess is measured from: the hull of a whole shape.

    Args:
        points: (m, 3) [m], those that are farthest in many directions.
        size: Half the diagonal of the main box [m].
    """

    points: Array
    size: float

    @classmethod
    def of(cls, points: Array) -> Whole:
        """The hull of points (n, 3)."""
        return cls(np.unique(support_points(points, 2 * FINE), axis=0), main_box(points).size)

    def heights(self, count: int, centres: Array, scales: Array) -> Array:
        """How far it reaches in directions, seen from centres and in units of scales.

        Args:
            count: Number of directions.
            centres: (b, 3) [m].
            scales: (b,) [m].

        Returns:
            (b, count).
        """
        directions = spread_directions(count)
        return ((self.points @ directions.T).max(axis=0) - centres @ directions.T) / scales[:, None]

    def cost(self, found: Sequence[Found]) -> float:
        """[fit.cost] of several volumes: with the volume of their union and the largest excess."""
        heights = self.heights(FINE, np.zeros((1, 3)), np.ones(1))
        excess = max(best.radius + float(beyond_hull(heights, best.generator[None])[0][0]) for best in found)
        return float(np.log(union_volume(found) / self.size**3 + FLAT_VOLUME)) + EXCESS_WEIGHT * excess / self.size


@functools.cache
def spread_directions(count: int) -> Array:
    """Unit vectors spread evenly over the sphere, on a spiral of the golden angle, (count, 3)."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - height**2)
    out = np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])
    out.setflags(write=False)
    return out


def support_points(points: Array, count: int) -> Array:
    """The points that are farthest in evenly spread directions, (count, 3); a point may come several times."""
    return points[np.argmax(points @ spread_directions(count).T, axis=0)]


def main_box(points: Array) -> MainBox:
    """The box along the principal axes of points (m, 3)."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T
    inside = points @ axes.T
    low, high = inside.min(axis=0), inside.max(axis=0)
    order = np.argsort(low - high, kind="stable")
    return MainBox(0.5 * (low + high) @ axes, axes[order], 0.5 * (high - low)[order])


def beyond_hull(heights: Array, generators: Array) -> tuple[Array, Array]:
    """Largest signed distance of vertices from a hull, as seen from some directions, and its slope.

    Args:
        heights: (b, n) how far the hull reaches in n spread directions.
        generators: (b, k, 3).

    Returns:
        The distance (b,), negative where all vertices are inside, and its derivatives (b, k, 3).
    """
    directions = spread_directions(heights.shape[-1])
    above = (generators @ directions.T - heights[:, None, :]).reshape(len(generators), -1)
    worst = np.argmax(above, axis=1)
    rows = np.arange(len(generators))
    vertex, direction = np.divmod(worst, len(directions))
    slope = np.zeros_like(generators)
    slope[rows, vertex] = directions[direction]
    return above[rows, worst], slope
