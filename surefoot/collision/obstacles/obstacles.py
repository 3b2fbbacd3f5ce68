"""Obstacles at their places: how far generators of the robot are from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, placement_matrix
from surefoot.collision.obstacles.ball_tree import BallTree
from surefoot.collision.obstacles.pieces import Pieces, PointCloud, height_field_pieces, shape_pieces
from surefoot.geometry import Box, Plane, Shape
from surefoot.motion import Ground, GroundBox, GroundPlane, MovableObject, Obstacle, World
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

    Args:
        world: The world.
    """
    items: list[Obstacle | MovableObject] = [*world.obstacles, *world.objects]
    things = [placed_obstacle(x.name, x.shape, x.pose) for x in items]
    return (*things, *(_ground(f"ground {k}", piece) for k, piece in enumerate(world.ground)))


def _ground(name: str, piece: Ground) -> PlacedObstacle:
    match piece:
        case GroundPlane():
            return PlacedObstacle(name, placement(piece.point, so3.turn_to(piece.normal)), is_ground=True)
        case GroundBox():
            return placed_obstacle(name, Box(piece.size), piece.pose, is_ground=True)
    return _of_pieces(name, placement(), height_field_pieces(piece), is_ground=True)


def _of_pieces(name: str, pose: Array, pieces: Pieces, is_ground: bool) -> PlacedObstacle:
    return PlacedObstacle(name, pose, pieces, BallTree(pieces.vertices, pieces.radii), is_ground)
