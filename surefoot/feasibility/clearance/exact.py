"""Distances by hulls and meshes: which pair of links comes nearest, and do hulls that overlap touch in truth?

Volumes are thicker than links, so that the pair with the least bound need not be the nearest. Distances are measured in
the order of the bounds until one of them is no larger than every bound that is left: that one is the least of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.collision import ExactCollision
from surefoot.geometry import Mesh
from surefoot.motion import Obstacle
from surefoot.robot import Robot

__all__ = ["MeshOverlap", "Nearest", "nearest_pair"]

_RAY = np.array([0.5257311, 0.3090170, 0.7926])  # no direction that edges are likely to have


class MeshOverlap:
    """Pairs of links, or of a link and an obstacle, by their meshes.

    Args:
        robot: The robot.
        pairs: The pairs.
        obstacles: What stands in the world.
    """

    def __init__(self, robot: Robot, pairs: Sequence[tuple[str, str]], obstacles: Sequence[Obstacle] = ()) -> None:
        self._robot, self._data, self._pairs = robot, robot.model.createData(), pairs
        self._exact = [ExactCollision(robot, [pair], hulls=False, obstacles=obstacles) for pair in pairs]
        links = {link for pair in pairs for link in pair}
        self._triangles = {link: _triangles(robot, link) for link in links & set(robot.link_names)}

    def distances(self, pair: int, q: Array, hulls: Array) -> Array:
        """(m,) distance of the meshes where they are apart, else that of the hulls [m].

        Args:
            pair: Which pair.
            q: (m, nq) postures.
            hulls: (m,) distance of the hulls there.
        """
        links = self._pairs[pair]
        if not any(len(self._triangles.get(link, ())) for link in links):
            return hulls  # hulls of plain shapes are the shapes
        found = self._exact[pair].distances(q)[:, 0]
        apart = [bool(gap > 0.0) and not self._nested(links, row) for gap, row in zip(found, q, strict=True)]
        return np.where(apart, found, hulls)

    def _nested(self, links: tuple[str, str], q: Array) -> bool:
        """Whether a corner of one link lies inside a mesh of the other."""
        if not all(len(self._triangles.get(link, ())) for link in links):
            return True  # nobody can tell: the hulls are believed
        pin.forwardKinematics(self._robot.model, self._data, np.array(q))
        a, b = (pin.updateFramePlacement(self._robot.model, self._data, self._robot.frame_id(link)) for link in links)
        in_b = (b.inverse() * a).act(self._triangles[links[0]][0, 0])
        in_a = (a.inverse() * b).act(self._triangles[links[1]][0, 0])
        return _inside(self._triangles[links[1]], in_b) or _inside(self._triangles[links[0]], in_a)


def _triangles(robot: Robot, link: str) -> Array:
    """(k, 3, 3) corners of the triangles of the meshes of a link, in its frame [m]."""
    found = [np.zeros((0, 3, 3))]
    for item in robot.collisions:
        if item.link == link and isinstance(item.shape, Mesh):
            T = np.asarray(item.placement)
            points = item.shape.vertices() @ T[:3, :3].T + T[:3, 3]
            found.append(points[item.shape.triangles()])
    return np.concatenate(found)


def _inside(triangles: Array, point: Array) -> bool:
    """Whether a ray from a point meets a mesh an odd number of times (Möller & Trumbore 1997)."""
    a, ab, ac = triangles[:, 0], triangles[:, 1] - triangles[:, 0], triangles[:, 2] - triangles[:, 0]
    p = np.cross(_RAY, ac)
    det = np.einsum("ij,ij->i", ab, p)
    usable = np.abs(det) > 1e-15
    inverse = np.where(usable, 1.0 / np.where(usable, det, 1.0), 0.0)
    to = point - a
    w = np.cross(to, ab)
    u, v, t = np.einsum("ij,ij->i", to, p) * inverse, w @ _RAY * inverse, np.einsum("ij,ij->i", ac, w) * inverse
    hits = usable & (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t > 0.0)
    return bool(hits.sum() % 2)


_MOST = 2000  # postures at which distances are measured


class Nearest(NamedTuple):
    """Distances with the least of them measured.

    Args:
        distance: (m, pairs) [m]; where it was measured the distance, elsewhere a lower bound.
        bound_from: If the least is not below that, it is a lower bound: nobody measured it [m].
    """

    distance: Array
    bound_from: float


def nearest_pair(
    exact: ExactCollision, q: Array, bounds: Array, pairs: Sequence[tuple[str, str]], within: float
) -> Nearest:
    """The least distance of pairs of links.

    Args:
        exact: Measures some of the pairs.
        q: (m, nq) postures.
        bounds: (m, pairs) lower bounds of the distances [m].
        pairs: Their names.
        within: What is farther than that is not measured [m].
    """
    place = {frozenset(pair): k for k, pair in enumerate(exact.link_pairs)}
    known = np.array([frozenset(pair) in place for pair in pairs], dtype=bool)
    columns = np.array([place.get(frozenset(pair), -1) for pair in pairs], dtype=np.int64)
    distance = np.minimum(bounds, within)
    least, nearest = within, distance.min(axis=1)
    order = np.argsort(nearest, kind="stable")
    for row in order[:_MOST]:
        if nearest[row] >= least:
            break
        some = np.flatnonzero(known & (distance[row] < least))
        measured = exact.at(q[row], columns[some])
        distance[row, some] = np.minimum(np.maximum(distance[row, some], measured), within)
        least = min(least, float(distance[row, some].min(initial=within)))
    left = [distance[order[_MOST:]].min(initial=within), distance[:, ~known].min(initial=within)]
    return Nearest(distance, within if min(left) >= least else float(min(left)))
