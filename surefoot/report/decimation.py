"""Fewer triangles that look the same."""

from __future__ import annotations

from collections.abc import Sequence

import fast_simplification
import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.report.shape_mesh import Triangles

__all__ = ["decimated", "shares", "welded"]

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
