"""Shapes of the world as points, lines and triangles with radii: what distances are computed to.

Balls, capsules, boxes, meshes and clouds are taken as they are. Cylinders and ellipsoids become polyhedra that contain
them; cells of height fields become two triangles with a radius that covers the bilinear patch between them, on a block.
What is closed is solid: a volume that is wholly inside is known to be there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.collision.volumes import hull_faces
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere, require_size, surface_points
from surefoot.motion import HeightField

Indices = NDArray[np.int64]
_AROUND = 24
_GROUND_DEPTH = 1.0


@dataclass(frozen=True, eq=False)
class PointCloud:
    """Points of a sensor, each with a ball round it.

    Args:
        points: (n, 3) [m]; none is allowed.
        radius: Of each ball [m].
    """

    points: Array
    radius: float = 0.0

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=float)
        points = points.reshape(0, 3) if points.size == 0 else points
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise ShapeError("a point cloud must be (n, 3) finite numbers", evidence={"shape": points.shape})
        if not (np.isfinite(self.radius) and self.radius >= 0.0):
            raise ShapeError(f"the radius of a point cloud is {self.radius}", next_step="give metres, 0 or more")
        points.setflags(write=False)
        object.__setattr__(self, "points", points)


@dataclass(frozen=True, eq=False)
class Pieces:
    """N generators with k vertices each.

    Args:
        vertices: (N, k, 3) in the frame of the shape [m]; triangles of a solid have their normals outwards.
        radii: (N,) [m].
        solid: Whether they are triangles without a gap round something full; else a surface, points or lines.
    """

    vertices: Array
    radii: Array
    solid: bool = False

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Whether points (m, 3) lie inside the solid; never, where there is none.

        Args:
            points: In the frame of the shape [m].
        """
        return _inside(points, self.vertices) if self.solid else np.zeros(len(points), dtype=bool)


def shape_pieces(shape: Shape | PointCloud | ArrayLike) -> Pieces:
    """The pieces of a bounded shape, in its frame.

    Args:
        shape: A shape, a point cloud, or an array (n, 3) of points.

    Raises:
        NotSupportedError: A plane, which has no pieces.
        ShapeError: Sizes are negative, numbers are not finite, or there is no volume where one is needed.
    """
    if isinstance(shape, Shape):
        require_size(shape)
    match shape:
        case Sphere(radius):
            return _even(np.zeros((1, 1, 3)), radius)
        case Capsule(radius, length):
            return _even(np.array([[[0.0, 0.0, -0.5 * length], [0.0, 0.0, 0.5 * length]]]), radius)
        case Box():
            return _hull(surface_points(shape))
        case Cylinder() | Ellipsoid():
            return _around(shape)
        case Mesh():
            return _mesh(shape)
        case PointCloud(points, radius):
            return _even(points[:, None], radius)
        case np.ndarray() | list() | tuple():
            return shape_pieces(PointCloud(np.asarray(shape)))
    raise NotSupportedError(f"{type(shape).__name__} has no pieces")


def height_field_pieces(ground: HeightField) -> Pieces:
    """Two triangles for each cell of a height field, in world, and a block below it that reaches 1 m below its lowest.

    The bilinear patch between four heights lies within a quarter of |h00 − h01 − h10 + h11| of the two triangles.
    """
    nx, ny = ground.heights.shape
    i, j = np.meshgrid(np.arange(nx), np.arange(ny), indexing="ij")
    grid = np.stack([i * ground.cell, j * ground.cell, ground.heights], axis=2) + ground.origin
    a, b, c, d = (x.reshape(-1, 3) for x in (grid[:-1, :-1], grid[1:, :-1], grid[1:, 1:], grid[:-1, 1:]))
    twist = 0.25 * np.abs(a[:, 2] - b[:, 2] + c[:, 2] - d[:, 2])
    triangles = [np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1), *_block_below(grid)]
    radii = [twist, twist, *(np.zeros(len(x)) for x in triangles[2:])]
    return Pieces(np.concatenate(triangles), np.concatenate(radii), solid=True)


def _block_below(grid: Array) -> list[Array]:
    """Walls and floor (…, 3, 3) below the rim of a grid of points (nx, ny, 3), normals outwards."""
    rim = np.concatenate([grid[:-1, 0], grid[-1, :-1], grid[:0:-1, -1], grid[0, :0:-1]])  # counter-clockwise from above
    foot = np.array(rim)
    foot[:, 2] = grid[:, :, 2].min() - _GROUND_DEPTH
    after, foot_after = np.roll(rim, -1, axis=0), np.roll(foot, -1, axis=0)
    corners = np.array([grid[0, 0], grid[-1, 0], grid[-1, -1], grid[0, -1]])
    corners[:, 2] = foot[0, 2]
    return [
        np.stack([rim, foot, foot_after], axis=1),
        np.stack([rim, foot_after, after], axis=1),
        np.stack([corners[[0, 2, 1]], corners[[0, 3, 2]]]),
    ]


def _even(vertices: Array, radius: float) -> Pieces:
    return Pieces(np.asarray(vertices, dtype=float), np.full(len(vertices), float(radius)))


def _hull(points: Array) -> Pieces:
    """The triangles of the hull of points."""
    triangles = points[hull_faces(points)]
    return Pieces(triangles, np.zeros(len(triangles)), solid=True)


def _around(shape: Cylinder | Ellipsoid) -> Pieces:
    """A polyhedron that contains a round shape: the hull of points on it, grown until its faces touch the shape."""
    if isinstance(shape, Cylinder):
        points = surface_points(shape, _AROUND)
        return _hull(points * [1.0 / np.cos(np.pi / _AROUND), 1.0 / np.cos(np.pi / _AROUND), 1.0])
    ball = surface_points(Sphere(1.0), _AROUND)
    a, b, c = np.moveaxis(ball[hull_faces(ball)], 1, 0)
    normals = np.cross(b - a, c - a)
    nearest_face = float((np.einsum("ij,ij->i", normals, a) / np.linalg.norm(normals, axis=1)).min())
    return _hull(ball / nearest_face * np.array(shape.radii))


def _mesh(shape: Mesh) -> Pieces:
    """The triangles of a mesh, of its hull if it has none; solid if they are closed."""
    points, faces = shape.vertices(), shape.triangles()
    if not np.isfinite(points).all():
        raise ShapeError("points of a mesh are not finite", next_step="repair the mesh")
    if not len(faces):
        return _hull(points)
    triangles = points[faces]
    return Pieces(triangles, np.zeros(len(triangles)), _is_closed(points, faces))


def _is_closed(points: Array, faces: Indices) -> bool:
    """Whether every edge is run through once in each direction; corners at one place count as one."""
    _, same = np.unique(np.round(points, 9), axis=0, return_inverse=True)
    corners = same.reshape(-1)[faces]
    edges = np.concatenate([corners[:, [0, 1]], corners[:, [1, 2]], corners[:, [2, 0]]])
    edges = edges[edges[:, 0] != edges[:, 1]]
    forward, backward = edges[np.lexsort(edges.T)], edges[:, ::-1][np.lexsort(edges[:, ::-1].T)]
    return bool(np.array_equal(forward, backward))


def _inside(points: Array, triangles: Array) -> NDArray[np.bool_]:
    """Whether closed triangles go round points (m, 3): their solid angles add up to 4π, or to 0 outside.

    Solid angle of a triangle: van Oosterom & Strackee 1983, (8).
    """
    lower, upper = triangles.min(axis=(0, 1)), triangles.max(axis=(0, 1))
    out = ((points > lower) & (points < upper)).all(axis=1)
    for k in np.flatnonzero(out):
        a, b, c = np.moveaxis(triangles - points[k], 1, 0)
        la, lb, lc = (np.linalg.norm(x, axis=1) for x in (a, b, c))
        volume = np.einsum("ij,ij->i", a, np.cross(b, c))
        ab, bc, ca = (np.einsum("ij,ij->i", x, y) for x, y in ((a, b), (b, c), (c, a)))
        angles = 2.0 * np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb)
        out[k] = abs(angles.sum()) > 2.0 * np.pi
    return out
