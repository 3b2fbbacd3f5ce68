"""Distances of the robot's own shapes by `coal`: slow, and the truth that swept volumes are held against."""

from __future__ import annotations

from collections.abc import Iterable

import coal
import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.collision.volumes import stored_hull
from surefoot.errors import NotSupportedError, one_of
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere
from surefoot.motion import Obstacle
from surefoot.robot import Geometry, Robot


class ExactCollision:
    """Distances between links from their collision shapes.

        exact = ExactCollision(robot, model.link_pairs)
        exact.distances(q)                   # (link pairs,), or (n, link pairs)

    Args:
        robot: The robot.
        link_pairs: Pairs of links that have collision shapes; all pairs on different bodies if omitted.
        hulls: Take the convex hull of meshes; else their triangles, which is exact, and slower by far. Triangles have
            no inside.
        obstacles: Obstacles, whose names pairs may hold in place of the second link.
    """

    def __init__(
        self,
        robot: Robot,
        link_pairs: Iterable[tuple[str, str]] | None = None,
        hulls: bool = True,
        obstacles: Iterable[Obstacle] = (),
    ) -> None:
        self.robot = robot
        known = list(dict.fromkeys(item.link for item in robot.collisions))
        pairs = _movable_pairs(robot, known) if link_pairs is None else list(link_pairs)
        self.link_pairs: tuple[tuple[str, str], ...] = tuple((a, b) for a, b in pairs)
        wanted = {link for pair in self.link_pairs for link in pair}
        by_link: dict[str, list[int]] = {}
        self._shapes = pin.GeometryModel()
        for item in robot.collisions:
            if item.link in wanted:
                by_link.setdefault(item.link, []).append(self._shapes.addGeometryObject(_placed(robot, item, hulls)))
        for thing in obstacles:
            by_link[thing.name] = [self._shapes.addGeometryObject(_standing(thing, hulls))]
        starts = []
        for pair in self.link_pairs:
            for link in pair:
                if link not in by_link:
                    raise one_of("link with collision shapes", link, known)
            starts.append(len(self._shapes.collisionPairs))
            for i in by_link[pair[0]]:
                for j in by_link[pair[1]]:
                    self._shapes.addCollisionPair(pin.CollisionPair(i, j))
        self._starts = np.array([*starts, len(self._shapes.collisionPairs)], dtype=np.int64)
        self._data, self._shape_data = robot.model.createData(), self._shapes.createData()

    def distances(self, q: ArrayLike) -> Array:
        """The smallest distance of the shapes of each pair of links, (link pairs,) [m], or (n, link pairs).

        Hulls and plain shapes that overlap have negative distances: minus the way to part them.

        Args:
            q: (nq,) or (n, nq).
        """
        if np.ndim(q) == 2:
            rows = [self.distances(row) for row in np.asarray(q)]
            return np.array(rows).reshape(len(rows), len(self.link_pairs))
        if not self.link_pairs:
            return np.zeros(0)
        pin.computeDistances(self.robot.model, self._data, self._shapes, self._shape_data, self.robot.checked_q(q))
        found = np.array([result.min_distance for result in self._shape_data.distanceResults])
        return np.minimum.reduceat(found, self._starts[:-1])

    def at(self, q: ArrayLike, columns: Iterable[int]) -> Array:
        """The distances of some of the pairs at one posture, (columns,) [m].

        Args:
            q: (nq,).
            columns: Which of `link_pairs`.
        """
        shapes, data = self._shapes, self._shape_data
        pin.updateGeometryPlacements(self.robot.model, self._data, shapes, data, self.robot.checked_q(q))
        pieces = (range(self._starts[k], self._starts[k + 1]) for k in columns)
        return np.array([min(pin.computeDistance(shapes, data, i).min_distance for i in piece) for piece in pieces])


def _movable_pairs(robot: Robot, links: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for k, a in enumerate(links) for b in links[k + 1 :] if robot.body_of(a) != robot.body_of(b)]


def _placed(robot: Robot, item: Geometry, hulls: bool) -> pin.GeometryObject:
    """A collision shape on the joint that carries its link."""
    frame = robot.model.frames[robot.frame_id(item.link)]
    T = frame.placement * pin.SE3(np.array(item.placement))
    return pin.GeometryObject(item.name, frame.parentJoint, T, _coal_shape(item.shape, hulls))


def _standing(thing: Obstacle, hulls: bool) -> pin.GeometryObject:
    """An obstacle on the world."""
    return pin.GeometryObject(thing.name, 0, pin.SE3(np.array(thing.pose)), _coal_shape(thing.shape, hulls))


def _coal_shape(shape: Shape, hulls: bool) -> coal.CollisionGeometry:
    match shape:
        case Sphere(radius):
            return coal.Sphere(radius)
        case Box(size):
            return coal.Box(*size)
        case Cylinder(radius, length):
            return coal.Cylinder(radius, length)
        case Capsule(radius, length):
            return coal.Capsule(radius, length)
        case Ellipsoid(radii):
            return coal.Ellipsoid(*radii)
        case Plane():
            return coal.Halfspace(np.array([0.0, 0.0, 1.0]), 0.0)
        case Mesh():
            return _mesh(shape, hulls)
    raise NotSupportedError(f"shape {type(shape).__name__} is not known to coal")


def _mesh(shape: Mesh, hulls: bool) -> coal.CollisionGeometry:
    if hulls or not len(shape.triangles()):
        return stored_hull(shape).shape
    points, faces = shape.vertices(), shape.triangles()
    model = coal.BVHModelOBBRSS()
    model.beginModel(len(faces), len(points))
    model.addVertices(points)
    model.addTriangles(faces)
    model.endModel()
    return model
