"""Obstacles at their places: how far generators of the robot are from them.

A tree of balls round many points, lines or triangles, and the search for the nearest one, for many queries at once.

The pieces are halved along the longest side of their bounding box until few are left; every half has a ball round it.
A search goes down to the nearest ball first, which gives a good bound, then level by level through all balls that may
hold something nearer (branch and bound; Quinlan 1994, "Efficient distance computation between non-convex objects").
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, placement_matrix
from surefoot.collision.obstacles.pieces import Pieces, PointCloud, height_field_pieces, shape_pieces
from surefoot.collision.pairs import Nearest, generator_distances, generator_nearest
from surefoot.geometry import Box, Plane, Shape
from surefoot.motion import Ground, GroundBox, GroundPlane, World
from surefoot.robot import placement
from surefoot.spatial import so3


@dataclass(frozen=True, eq=False)
class SignedNearest:
    """How far m generators are from an obstacle.

    Args:
        distance: (m,) [m]; negative inside. A lower bound where it is farther than was asked for.
        normal: (m, 3) unit direction in which a generator gets nearer, in world; zero where there is none.
        point_a: (m, 3) nearest point of the generator, in world [m].
        point_b: (m, 3) nearest point of the obstacle's surface, in world [m].
    """

    distance: Array
    normal: Array
    point_a: Array
    point_b: Array


@dataclass(frozen=True, eq=False)
class PlacedObstacle:
    """An obstacle somewhere in the world.

    Args:
        name: Its name.
        pose: T_world_obstacle, (4, 4).
        pieces: What it consists of; None for the half space below z = 0 of its frame.
        tree: Balls round the pieces; None for a half space.
        is_ground: Whether robots stand on it.
    """

    name: str
    pose: Array
    pieces: Pieces | None = None
    tree: BallTree | None = None
    is_ground: bool = False

    def moved(self, pose: ArrayLike) -> PlacedObstacle:
        """The same obstacle elsewhere; nothing is built anew.

        Args:
            pose: T_world_obstacle, (4, 4).
        """
        return replace(self, pose=placement_matrix(pose, f"pose of obstacle `{self.name}`"))

    @cached_property
    def ball(self) -> tuple[Array, float]:
        """Centre (3,) in world and radius of a ball round it [m]; infinite for a half space, −inf where it is empty."""
        if self.tree is None:
            return self.pose[:3, 3], np.inf
        center, radius = self.tree.ball
        return self.pose[:3, :3] @ center + self.pose[:3, 3], radius

    def gaps(self, centers: Array, radii: Array) -> Array:
        """A lower bound of the distance of balls from the obstacle [m].

        Args:
            centers: (…, 3) in world [m].
            radii: (…) or a number [m].
        """
        if self.tree is None:
            out: Array = (centers - self.pose[:3, 3]) @ self.pose[:3, 2] - radii
            return out
        center, radius = self.ball
        across = np.linalg.norm(centers - center, axis=-1)
        return np.asarray(across - radius - radii)

    def nearest(self, generators: Array, within: Array) -> SignedNearest:
        """Distances of generators.

        Args:
            generators: (m, k, 3) vertices in world [m].
            within: (m,) what is farther than that need not be exact [m].
        """
        R, p = self.pose[:3, :3], self.pose[:3, 3]
        found = self._nearest_here((generators - p) @ R, np.asarray(within, dtype=float))
        return SignedNearest(found.distance, found.normal @ R.T, found.point_a @ R.T + p, found.point_b @ R.T + p)

    def _nearest_here(self, generators: Array, within: Array) -> SignedNearest:
        """The same in the frame of the obstacle."""
        if self.pieces is None or self.tree is None:
            return _above_plane(generators)
        inside = np.any([self.pieces.contains(corner) for corner in np.moveaxis(generators, 1, 0)], axis=0)
        found = self.tree.nearest(generators, np.where(inside, np.inf, within))
        known, sign = found.piece >= 0, np.where(inside, -1.0, 1.0)
        radii = found.nearest.distance - np.where(known, found.distance, 0.0)
        normal = sign[:, None] * found.nearest.direction
        distance = np.where(known, sign * found.nearest.distance - radii, found.distance)
        return SignedNearest(distance, normal, found.nearest.point_a, found.nearest.point_b - radii[:, None] * normal)


def _above_plane(generators: Array) -> SignedNearest:
    """Distances from the half space below z = 0: of the lowest vertex."""
    rows = np.arange(len(generators))
    lowest = generators[rows, np.argmin(generators[:, :, 2], axis=1)]
    normal = np.tile([0.0, 0.0, -1.0], (len(generators), 1))
    return SignedNearest(lowest[:, 2], normal, lowest, lowest * [1.0, 1.0, 0.0])


def placed_obstacle(
    name: str, shape: Shape | PointCloud | ArrayLike, pose: ArrayLike | None = None, is_ground: bool = False
) -> PlacedObstacle:
    """An obstacle from a shape.

    Args:
        name: Its name.
        shape: A shape, a point cloud, or an array (n, 3) of points [m].
        pose: T_world_shape, (4, 4); the world's frame if omitted.
        is_ground: Whether robots stand on it.
    """
    T = placement_matrix(placement() if pose is None else pose, f"pose of obstacle `{name}`")
    if isinstance(shape, Plane):
        return PlacedObstacle(name, T, is_ground=is_ground)
    return _of_pieces(name, T, shape_pieces(shape), is_ground)


def world_obstacles(world: World) -> tuple[PlacedObstacle, ...]:
    """Everything in a world that a robot may hit: obstacles, objects, and ground pieces (`ground 0`, `ground 1` …).

    Touchable obstacles count as ground does: bodies with contact surfaces may touch them.
    """
    fixed = [placed_obstacle(x.name, x.shape, x.pose, is_ground=x.touchable) for x in world.obstacles]
    things = [placed_obstacle(x.name, x.shape, x.pose) for x in world.objects]
    return (*fixed, *things, *(_ground(f"ground {k}", piece) for k, piece in enumerate(world.ground)))


def _ground(name: str, piece: Ground) -> PlacedObstacle:
    match piece:
        case GroundPlane():
            return PlacedObstacle(name, placement(piece.point, so3.turn_to(piece.normal)), is_ground=True)
        case GroundBox():
            return placed_obstacle(name, Box(piece.size), piece.pose, is_ground=True)
    return _of_pieces(name, placement(), height_field_pieces(piece), is_ground=True)


def _of_pieces(name: str, pose: Array, pieces: Pieces, is_ground: bool) -> PlacedObstacle:
    return PlacedObstacle(name, pose, pieces, BallTree(pieces.vertices, pieces.radii), is_ground)


Indices = NDArray[np.int64]
_LEAF = 4
_QUERIES_AT_ONCE = 4096
_MOST_OPEN = 1 << 17  # balls that are looked at together: where all pieces are as far away, no ball is ruled out


@dataclass(frozen=True, eq=False)
class NearestPiece:
    """The nearest piece for each of m generators.

    Args:
        distance: (m,) from generator to piece, the piece's radius taken off [m]; where nothing is nearer than was asked
            for, a lower bound.
        piece: (m,) index of the piece; −1 where nothing is near enough.
        nearest: (m,) points of the generators and of the generators of the pieces; zero where nothing is near enough.
    """

    distance: Array
    piece: Indices
    nearest: Nearest


@dataclass(frozen=True, eq=False)
class _Level:
    """Balls of one level: centres (k, 3), radii (k,), and the pieces of ball i: starts[i] … starts[i + 1]."""

    centers: Array
    radii: Array
    starts: Indices


class BallTree:
    """Balls round N pieces that all have k vertices.

    Args:
        pieces: (N, k, 3) vertices [m].
        radii: (N,) of the pieces [m].
    """

    def __init__(self, pieces: Array, radii: Array) -> None:
        depth = max(0, int(np.ceil(np.log2(max(len(pieces), 1) / _LEAF))))
        splits = [np.arange(2**level + 1) * len(pieces) // 2**level for level in range(depth + 1)]
        self._order = _sorted(pieces.mean(axis=1), splits) if len(pieces) else np.zeros(0, dtype=np.int64)
        self._pieces, self._radii = pieces[self._order], radii[self._order]
        self._levels = [_balls(self._pieces, self._radii, starts) for starts in splits] if len(pieces) else []

    @property
    def ball(self) -> tuple[Array, float]:
        """Centre (3,) and radius of the ball round everything; the radius is −inf where there is nothing."""
        if not self._levels:
            return np.zeros(3), -np.inf
        return self._levels[0].centers[0], float(self._levels[0].radii[0])

    def nearest(self, generators: Array, within: Array) -> NearestPiece:
        """The nearest piece of every generator.

        Args:
            generators: (m, k, 3) vertices [m].
            within: (m,) what is farther than that is not looked for [m].
        """
        m = len(generators)
        nothing = Nearest(np.zeros(m), np.zeros((m, 3)), np.zeros((m, 3)))
        out = NearestPiece(np.array(within, dtype=float), np.full(m, -1, dtype=np.int64), nothing)
        for start in range(0, m if self._levels else 0, _QUERIES_AT_ONCE):
            self._search(generators, np.arange(start, min(start + _QUERIES_AT_ONCE, m)), out)
        return out

    def _search(self, generators: Array, queries: Indices, out: NearestPiece) -> None:
        """Fill in the answers of some queries."""
        node = self._descended(generators[queries])
        self._look_into(generators, queries, node, out)
        self._open(generators, queries, np.zeros(len(queries), dtype=np.int64), 1, out)

    def _open(self, generators: Array, queries: Indices, nodes: Indices, depth: int, out: NearestPiece) -> None:
        """Go on from balls of the level above a depth, one for each query, to all that may hold something nearer."""
        for k, level in enumerate(self._levels[depth:], depth):
            if len(queries) > _MOST_OPEN:
                for start in range(0, len(queries), _MOST_OPEN):
                    part = slice(start, start + _MOST_OPEN)
                    self._open(generators, queries[part], nodes[part], k, out)
                return
            queries = np.repeat(queries, 2)
            nodes = np.stack([2 * nodes, 2 * nodes + 1], axis=1).ravel()
            gap = generator_distances(level.centers[nodes, None], generators[queries]) - level.radii[nodes]
            near = gap < out.distance[queries]
            queries, nodes = queries[near], nodes[near]
        self._look_into(generators, queries, nodes, out)

    def _descended(self, generators: Array) -> Indices:
        """The leaf that is reached by always going to the nearer ball."""
        nodes = np.zeros(len(generators), dtype=np.int64)
        for level in self._levels[1:]:
            gaps = [
                generator_distances(level.centers[2 * nodes + side, None], generators) - level.radii[2 * nodes + side]
                for side in (0, 1)
            ]
            nodes = 2 * nodes + (gaps[1] < gaps[0])
        return nodes

    def _look_into(self, generators: Array, queries: Indices, leaves: Indices, out: NearestPiece) -> None:
        """Compare queries with all pieces of a leaf each, and keep what is nearer than what is known."""
        starts = self._levels[-1].starts
        counts = starts[leaves + 1] - starts[leaves]
        query = np.repeat(queries, counts)
        within_leaf = np.arange(len(query)) - np.repeat(np.cumsum(counts) - counts, counts)
        piece = np.repeat(starts[leaves], counts) + within_leaf
        if not len(query):
            return
        found = generator_nearest(generators[query], self._pieces[piece])
        gap = found.distance - self._radii[piece]
        order = np.lexsort((gap, query))
        best = order[np.flatnonzero(np.diff(query[order], prepend=-1))]
        best = best[gap[best] < out.distance[query[best]]]
        at = query[best]
        out.distance[at], out.piece[at] = gap[best], self._order[piece[best]]
        out.nearest.distance[at] = found.distance[best]
        out.nearest.point_a[at], out.nearest.point_b[at] = found.point_a[best], found.point_b[best]


def _sorted(centers: Array, splits: list[Indices]) -> Indices:
    """An order in which every node's pieces lie together: each node is sorted along its longest side, then halved."""
    order = np.arange(len(centers))
    for starts in splits[:-1]:
        node = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
        sides = np.maximum.reduceat(centers[order], starts[:-1]) - np.minimum.reduceat(centers[order], starts[:-1])
        along = centers[order, np.argmax(sides, axis=1)[node]]
        order = order[np.lexsort((along, node))]
    return order


def _balls(pieces: Array, radii: Array, starts: Indices) -> _Level:
    """The balls of one level: round the middle of the bounding box of their pieces."""
    lower = np.minimum.reduceat(pieces.min(axis=1), starts[:-1])
    upper = np.maximum.reduceat(pieces.max(axis=1), starts[:-1])
    centers = 0.5 * (lower + upper)
    node = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    reach = np.linalg.norm(pieces - centers[node, None], axis=2).max(axis=1) + radii
    return _Level(centers, np.maximum.reduceat(reach, starts[:-1]), starts)
