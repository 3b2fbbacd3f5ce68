"""Shapes as triangles, for looking at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array
from surefoot.geometry import Box, Mesh, Plane, Shape, SweptVolume, surface_points

__all__ = ["Triangles", "ball_points", "hull_triangles", "shape_triangles", "volume_triangles"]

Triangles = tuple[Array, NDArray[np.int64]]
"""Vertices (n, 3) [m] and faces (m, 3), counter-clockwise seen from outside."""
_BOX_FACES = np.array(
    [[0, 1, 3], [0, 3, 2], [4, 6, 7], [4, 7, 5], [0, 4, 5], [0, 5, 1], [2, 3, 7], [2, 7, 6], [0, 2, 6], [0, 6, 4],
     [1, 5, 7], [1, 7, 3]]
)  # fmt: skip
_NOTHING = (np.zeros((0, 3)), np.zeros((0, 3), dtype=np.int64))


def shape_triangles(shape: Shape, around: int = 24) -> Triangles:
    """The surface of a shape, in its own frame; nothing for a plane, which has no end.

    Args:
        shape: The shape.
        around: Corners of each circle of round shapes.

    Raises:
        FileFormatError: A mesh file cannot be read.
        MissingMeshError: A mesh file does not exist.
    """
    if isinstance(shape, Plane):
        return _NOTHING
    if isinstance(shape, Box):
        corners = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
        return corners * np.array(shape.size), _BOX_FACES
    if isinstance(shape, Mesh):
        vertices, faces = shape.vertices(), shape.triangles()
        if not len(faces):
            return hull_triangles(vertices)
        mirrored = shape.points is None and np.prod(shape.scale) < 0.0
        return vertices, faces[:, ::-1] if mirrored else faces
    return hull_triangles(surface_points(shape, around))


def hull_triangles(points: Array) -> Triangles:
    """The convex hull of points; nothing where they lie in a plane.

    Args:
        points: (n, 3) [m].
    """
    if len(points) < 4:
        return _NOTHING
    try:
        hull = ConvexHull(points)
    except QhullError:  # flat: nothing to see
        return _NOTHING
    corners = points[hull.simplices]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inward = np.einsum("ij,ij->i", normals, hull.equations[:, :3]) < 0.0
    faces = np.where(inward[:, None], hull.simplices[:, ::-1], hull.simplices)
    used, renamed = np.unique(faces, return_inverse=True)
    return points[used], renamed.reshape(-1, 3).astype(np.int64)


def volume_triangles(volume: SweptVolume, around: int = 12) -> Triangles:
    """The surface of a swept volume: the hull of balls at its vertices.

    Args:
        volume: The volume.
        around: Corners of the equator of each ball.
    """
    ball = ball_points(around) * max(volume.radius, 1e-4)
    return hull_triangles((volume.vertices[:, None] + ball).reshape(-1, 3))


def ball_points(around: int) -> Array:
    """Points (n, 3) on the unit sphere, on circles of latitude.

    Args:
        around: Points on the equator.
    """
    rows = []
    for latitude in np.linspace(-0.5 * np.pi, 0.5 * np.pi, around // 2 + 1):
        count = max(1, round(around * np.cos(latitude)))
        turn = 2.0 * np.pi * np.arange(count) / count
        level = np.full(count, np.sin(latitude))
        rows.append(np.column_stack([np.cos(latitude) * np.cos(turn), np.cos(latitude) * np.sin(turn), level]))
    return np.vstack(rows)
