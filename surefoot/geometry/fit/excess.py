"""How far swept volumes reach beyond what they stand for: proven upper bounds.

Beyond a convex solid: exact. The largest distance of a convex body from another one is the largest difference of their
support functions (R. Schneider, "Convex bodies", 2014, lemma 1.8.14); for a swept volume with vertices g_i and radius r

    excess = r + max_i s(g_i)            [fit.excess]   s: signed distance from the solid, negative inside

Beyond any surface: by subdivision. The distance from the surface changes by no more than the way walked, so a value at
the middle of a cube bounds it in the whole cube; cubes that could hold the maximum are divided (branch and bound).

Triangles and planes of the convex hull of points, whatever their dimension.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.geometry.fit.cut import Piece
from surefoot.geometry.fit.nearest import nearest_weights
from surefoot.geometry.polygon import convex_hull
from surefoot.geometry.swept import SweptVolume

_FLAT = 1e-9  # thickness, as a share of the size, below which points lie in a plane


def hull_planes(points: Array) -> Array:
    """Planes n·x + d ≤ 0 of the hull of points (n, 3), (m, 4); none for points in a plane."""
    from scipy.spatial import ConvexHull

    return ConvexHull(points).equations if _dimension(points) == 3 else np.zeros((0, 4))


def hull_triangles(points: Array) -> NDArray[np.int64]:
    """Triangles that cover the surface of the hull of points (n, 3), (m, 3); of points in a plane, the hull itself.

    Points on a line give a triangle without area, a single point gives one that is that point.
    """
    from scipy.spatial import ConvexHull

    dimension = _dimension(points)
    if dimension == 3:
        return np.asarray(ConvexHull(points).simplices, dtype=np.int64)
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
    flat = centred @ axes[:, :2]
    if dimension < 2:
        first, last = int(np.argmin(flat[:, 0])), int(np.argmax(flat[:, 0]))
        return np.array([[first, last, last]])
    corners = convex_hull(flat, tolerance=0.0)
    around = np.argmin(np.linalg.norm(flat[None] - corners[:, None], axis=2), axis=1)
    return np.array([[around[0], around[i], around[i + 1]] for i in range(1, len(around) - 1)])


def _dimension(points: Array) -> int:
    """0 for a point, 1 for a line, 2 for a plane, 3."""
    centred = points - points.mean(axis=0)
    spread = np.linalg.svd(centred, compute_uv=False) if len(points) > 1 else np.zeros(1)
    return int((spread > _FLAT * max(float(spread[0]), 1e-300) * np.sqrt(len(points))).sum())


_CELLS = 48  # of the grid that tells what a surface encloses, along the longest edge
_SPACING = 0.8  # of the samples, in cells; their distance from any point of the surface is then below half a cell
_ACCURACY = 0.05  # of the bound, as a share
_NEARLY = 0.02  # a sample so much farther than the nearest will do: the distance stays an upper bound
_FLOOR = 0.25  # least bound, in cells
_MOST_CUBES = 200_000
_OCTANTS = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T


def excess_of_hull(volumes: Sequence[SweptVolume], points: Array) -> float:
    """How far volumes reach beyond the hull of points [m]; exact.

    Args:
        volumes: The volumes.
        points: (n, 3) [m].
    """
    triangles = points[hull_triangles(points)]
    planes = hull_planes(points)
    beyond = [
        volume.radius + max(_signed_distance(vertex, triangles, planes) for vertex in volume.vertices)
        for volume in volumes
    ]
    return max(0.0, *beyond)


def _signed_distance(point: Array, triangles: Array, planes: Array) -> float:
    """Distance of a point (3,) from a hull with such triangles (m, 3, 3) and planes (n, 4); negative inside."""
    depth = float((planes[:, :3] @ point + planes[:, 3]).max(initial=-np.inf))
    if len(planes) and depth <= 0.0:
        return depth
    feet = (nearest_weights(triangles, point[None]) @ triangles)[:, 0]
    return float(np.linalg.norm(feet - point, axis=1).min())


@dataclass(frozen=True, eq=False)
class Surface:
    """A surface with what it encloses: all that cannot be reached from outside in steps of a 48th of its size."""

    piece: Piece

    @cached_property
    def _low(self) -> Array:
        return self.piece.points.min(axis=0)

    @cached_property
    def _cell(self) -> float:
        return max(float(np.ptp(self.piece.points, axis=0).max()) / _CELLS, 1e-12)

    @cached_property
    def _samples(self) -> Array:
        return _sampled(self.piece, _SPACING * self._cell)

    @cached_property
    def _tree(self) -> Any:
        from scipy.spatial import KDTree

        # Cells cut in the middle: a balanced tree is far slower for points in the middle of a round shape.
        return KDTree(self._samples, balanced_tree=False, compact_nodes=False)

    @cached_property
    def _enclosed(self) -> NDArray[np.bool_]:
        """Cells that are not reached from outside and hold no surface; the outermost layer is outside.

        The way from one middle of a cell to the next crosses the surface only where one of the two holds a sample.
        """
        from scipy.ndimage import label

        cells = np.floor((self._samples - self._low) / self._cell).astype(np.int64) + 1
        free = np.ones(cells.max(axis=0) + 2, dtype=bool)
        free[tuple(cells.T)] = False
        labels, _ = label(free)
        return np.asarray(free & (labels != labels[0, 0, 0]))

    def distance(self, points: Array) -> Array:
        """Distance of points from the surface and what it encloses [m].

        Args:
            points: (n, 3) [m].

        Returns:
            (n,), never too small; where a point is enclosed, minus a distance from which on the surface may begin.
        """
        cells = np.floor((points - self._low) / self._cell).astype(np.int64) + 1
        within = ((cells >= 0) & (cells < self._enclosed.shape)).all(axis=1)
        inside = np.zeros(len(points), dtype=bool)
        inside[within] = self._enclosed[tuple(cells[within].T)]
        distance = self._tree.query(points, eps=_NEARLY)[0]
        return np.where(inside, -np.maximum(distance / (1.0 + _NEARLY) - np.sqrt(3.0) * self._cell, 0.0), distance)

    def may_hold(self, points: Array) -> NDArray[np.bool_]:
        """Whether points are on the surface or enclosed (n,); also true for some that are all but so.

        Args:
            points: (n, 3) [m].
        """
        found: NDArray[np.bool_] = self.distance(points) <= (1.0 + _NEARLY) * np.sqrt(3.0) * self._cell
        return found

    def excess(self, volumes: Sequence[SweptVolume]) -> float:
        """An upper bound on the distance [m] of any point of volumes from the surface and what it encloses.

        The bound is at most a twentieth above the largest distance that was met, or half a percent of the size, unless
        that would take too long.
        """
        floor = _FLOOR * self._cell
        for volume in volumes:
            floor = self._beyond(volume, floor)
        return floor

    def _beyond(self, volume: SweptVolume, floor: float) -> float:
        """The bound for one volume, at least `floor`."""
        centres, half = _first_cubes(volume)
        met, settled = 0.0, floor
        while len(centres):
            reach = np.sqrt(3.0) * half
            nearest, depth = _into(volume, centres)
            touched = depth <= reach
            centres, nearest = centres[touched], nearest[touched]
            distance = self.distance(nearest)
            met = max(met, float(distance.max(initial=0.0)))
            # all cells that touch a cube farther from the surface than it and a cell are wide are enclosed as well
            bound = np.where(distance < -reach, 0.0, np.maximum(distance, 0.0) + reach)
            enough = max(settled, (1.0 + _ACCURACY) * met)
            open_ = bound > enough
            if 8 * open_.sum() > _MOST_CUBES:
                return max(enough, float(bound.max()))
            settled = max(settled, float(bound[~open_].max(initial=0.0)))
            centres = (centres[open_, None] + half * _OCTANTS).reshape(-1, 3)
            half *= 0.5
        return settled


def _first_cubes(volume: SweptVolume) -> tuple[Array, float]:
    """Middles of cubes that cover the box around a volume, and half their edge."""
    low = volume.vertices.min(axis=0) - volume.radius
    size = volume.vertices.max(axis=0) + volume.radius - low
    edge = float(size.max()) / 12.0 or 1.0
    counts = np.maximum(np.ceil(size / edge).astype(int), 1)
    steps = [low[i] + edge * (np.arange(counts[i]) + 0.5) for i in range(3)]
    return np.stack(np.meshgrid(*steps, indexing="ij"), axis=-1).reshape(-1, 3), 0.5 * edge


def _into(volume: SweptVolume, points: Array) -> tuple[Array, Array]:
    """The points of a volume nearest to points (n, 3), and how far these are outside (n,).

    Seen from any point of the volume, which is convex, the nearest point is not farther than the point itself.
    """
    feet = nearest_weights(volume.vertices, points) @ volume.vertices
    away = points - feet
    length = np.linalg.norm(away, axis=1)
    share = np.minimum(volume.radius / np.maximum(length, 1e-30), 1.0)
    return feet + share[:, None] * away, np.maximum(length - volume.radius, 0.0)


def _sampled(piece: Piece, spacing: float) -> Array:
    """Points on triangles so that each of their parts has edges no longer than the spacing, (n, 3)."""
    corners = piece.points[piece.triangles]
    edges = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
    counts = np.maximum(np.ceil(edges / spacing).astype(int), 1)
    out = [piece.points[np.unique(piece.triangles)]]
    for count in np.unique(counts[counts > 1]):
        i, j = np.meshgrid(np.arange(count + 1), np.arange(count + 1), indexing="ij")
        keep = i + j <= count
        weights = np.column_stack([i[keep], j[keep], count - i[keep] - j[keep]]) / count
        out.append((weights @ corners[counts == count]).reshape(-1, 3))
    return np.vstack(out)
