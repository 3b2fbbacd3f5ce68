"""Triangle meshes of shapes for display, and their simplification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array
from surefoot.geometry import Box, Mesh, Plane, Shape, SweptVolume, surface_points

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


_GRAIN = 1e-6  # width of a grid over the extent of a mesh: vertices in one cell are the same
_CARE = (2.0, 3.0)  # low: slow and true to the shape; at 7, the default, thin parts crumple
_SIZE = 0.4  # [m]: extent of a mesh while it is made coarser
_TOLERATED = 3.0  # times the number of triangles that was asked for, where fewer would need less care
_LEAST = 160  # triangles that a part keeps so that it can be known again


def shares(meshes: Sequence[Triangles], budget: int) -> list[int]:
    """How many triangles each mesh may have: in proportion to its size, but enough for small ones.

    Args:
        meshes: Vertices and faces.
        budget: Most triangles for all together, kept unless there are more than `budget` / 160 meshes.
    """
    counts = np.array([len(faces) for _, faces in meshes], dtype=float)
    if counts.sum() <= budget:
        return counts.astype(int).tolist()
    sizes = np.array([np.linalg.norm(np.ptp(v, axis=0)) if len(v) else 0.0 for v, _ in meshes])

    def given(scale: float) -> Array:
        return np.asarray(np.minimum(counts, np.maximum(_LEAST, scale * sizes)))

    low, high = 0.0, budget / max(float(sizes.min(initial=np.inf, where=sizes > 0.0)), 1e-6)
    for _ in range(60):  # bisection: the sum grows with the scale
        middle = 0.5 * (low + high)
        low, high = (middle, high) if given(middle).sum() <= budget else (low, middle)
    return np.floor(given(low)).astype(int).tolist()


def decimated(mesh: Triangles, most: int) -> Triangles:
    """A mesh with fewer triangles (edges collapse in the order of the quadric error they cost).

    Garland & Heckbert 1997, as `fast-simplification` has it, with care. A mesh of many loose pieces or sharp details
    resists and keeps more: it would crumple.

    Args:
        mesh: Vertices and faces.
        most: Number of triangles to aim for.
    """
    if len(mesh[1]) <= most:
        return mesh
    vertices, faces = welded(mesh)
    size = _SIZE / max(float(np.ptp(vertices, axis=0).max()), 1e-9)
    vertices = size * vertices  # its bounds on the error are lengths: all meshes get the same size
    for care in _CARE:
        if len(faces) <= (most if care == _CARE[0] else _TOLERATED * most):
            break
        vertices, faces = _collapsed(vertices, faces, most, care)
    return vertices / size, faces


def _collapsed(vertices: Array, faces: NDArray[np.int64], most: int, care: float) -> Triangles:
    import fast_simplification  # only for meshes that are not in the cache

    points, corners = fast_simplification.simplify(
        np.ascontiguousarray(vertices, dtype=np.float64),
        np.ascontiguousarray(faces, dtype=np.int32),
        target_count=int(most),
        agg=care,
    )[:2]
    return np.asarray(points, dtype=float), np.asarray(corners, dtype=np.int64)


def welded(mesh: Triangles, grain: float = _GRAIN) -> Triangles:
    """Vertices in the same cell of a grid become one; triangles that lose their area thereby go, and repeated ones.

    Args:
        mesh: Vertices and faces.
        grain: Width of a cell over the largest extent of the mesh.
    """
    vertices, faces = mesh
    width = grain * max(float(np.ptp(vertices, axis=0).max(initial=0.0)), 1e-9)
    _, first, renamed = np.unique(np.round(vertices / width), axis=0, return_index=True, return_inverse=True)
    corners = renamed.reshape(-1)[faces]
    a, b, c = corners.T
    corners = corners[(a != b) & (b != c) & (c != a)]
    _, kept = np.unique(np.sort(corners, axis=1), axis=0, return_index=True)
    return vertices[first], corners[np.sort(kept)].astype(np.int64)
