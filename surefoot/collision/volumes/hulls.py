"""Convex hulls of meshes, computed once and kept in surefoot's cache (`surefoot.codegen.cache`).

The triangles of a convex hull, with their normals outwards.

All that decides about a shape, for keys of the cache.
"""

from __future__ import annotations

import io
from pathlib import Path
from typing import NamedTuple

import coal
import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.collision.volumes.motion import source_text
from surefoot.errors import MissingMeshError, ShapeError
from surefoot.geometry import Mesh, Shape


def hull_faces(points: Array) -> NDArray[np.int64]:
    """Triangles (m, 3) of the hull of points (n, 3), as indices of them.

    Args:
        points: Not all in one plane [m].

    Raises:
        ShapeError: The hull has no volume.
    """
    try:
        hull = ConvexHull(points)
    except (QhullError, ValueError) as error:
        raise ShapeError("points of a shape have no hull with a volume", evidence={"Qhull": error}) from None
    faces = np.array(hull.simplices, dtype=np.int64)
    a, b, c = (points[faces[:, k]] for k in range(3))
    inward = np.einsum("ij,ij->i", np.cross(b - a, c - a), hull.equations[:, :3]) < 0.0
    faces[inward] = faces[inward, ::-1]
    return faces


Part = str | bytes | Array | NDArray[np.int64]


def shape_content(shape: Shape) -> tuple[Part, ...]:
    """Sizes, points, or the bytes of the file of a mesh.

    Raises:
        MissingMeshError: There is no such mesh file.
    """
    if not isinstance(shape, Mesh):
        return (repr(shape),)
    if shape.points is not None:
        return "points", shape.points, shape.triangles()
    file = Path(shape.path)
    if not file.is_file():
        raise MissingMeshError(f"mesh `{file}` does not exist", file=file, next_step="put the file there")
    return f"mesh {file.suffix.lower()} {shape.scale}", file.read_bytes()


_MOST_NEIGHBOURS = 250
_SHAKEN = 1e-6  # [m]


class Hull(NamedTuple):
    """A convex hull.

    Args:
        corners: (k, 3) [m].
        faces: (m, 3) indices of corners, normals outwards.
    """

    corners: Array
    faces: NDArray[np.int64]


def stored_hull(mesh: Mesh) -> Hull:
    """The hull of a mesh, from the cache where it was computed before.

    Raises:
        ShapeError: The hull has no volume.
        MissingMeshError: There is no such mesh file.
        FileFormatError: A mesh file cannot be read.
    """
    readers = f"scipy {scipy.__version__} coal {coal.__version__}"
    key = cache.key("hull", source_text(), readers, *shape_content(mesh))
    content = cache.load(key)
    if content is not None:
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            return Hull(data["corners"], data["faces"])
    hull, out = hull_of(mesh.vertices()), io.BytesIO()
    np.savez(out, corners=hull.corners, faces=hull.faces)
    cache.store(key, out.getvalue(), {"robot": "", "algorithm": "hull of a mesh", "build": f"{len(hull.corners)}"})
    return hull


def hull_of(points: Array) -> Hull:
    """The hull of points; no corner has more neighbours than coal can count.

    The fan of triangles on a round face of many corners hangs on one of them. Points that are off by a thousandth of a
    millimetre, always by the same, have faces of three corners with few neighbours each.

    Args:
        points: (n, 3) [m].

    Raises:
        ShapeError: The hull has no volume.
    """
    shaken = np.random.default_rng(0).normal(0.0, _SHAKEN, points.shape)
    for cloud in (points, points + shaken):
        corners, outward = np.unique(hull_faces(cloud), return_inverse=True)
        if np.bincount(outward.ravel()).max() <= _MOST_NEIGHBOURS:
            break
    return Hull(cloud[corners], outward.reshape(-1, 3))
