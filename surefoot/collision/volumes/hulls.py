"""Convex hulls of meshes, computed once and kept in surefoot's cache (`surefoot.codegen.cache`).

The triangles of a convex hull, with their normals outwards.

All that decides about a shape, for keys of the cache.
"""

from __future__ import annotations

import functools
import io
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import coal
import numpy as np
import scipy
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

import surefoot.geometry
from surefoot.arrays import Array
from surefoot.codegen import cache
from surefoot.collision.volumes.motion import source_text
from surefoot.errors import MissingMeshError, ShapeError
from surefoot.geometry import Mesh, Shape, SweptVolume
from surefoot.geometry.fit import capsule_around_points

_GEOMETRY = Path(surefoot.geometry.__file__).parent
_SOURCES = ("fit/*.py", "meshes.py", "polygon.py", "shapes.py", "swept.py")


@functools.cache
def method_version() -> str:
    """Hash of what decides about volumes beside the shapes: our code, and the libraries that read and compute."""
    files = sorted(path for pattern in _SOURCES for path in _GEOMETRY.glob(pattern))
    versions = f"numpy {np.__version__} scipy {scipy.__version__} coal {coal.__version__}"
    return cache.key(versions, *(part for path in files for part in (path.name, path.read_bytes())))


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


@dataclass(frozen=True, eq=False)
class Hull:
    """A convex hull.

    Args:
        corners: (k, 3) [m].
        faces: (m, 3) indices of corners, normals outwards.
        capsule: A ball or capsule round it.
    """

    corners: Array
    faces: NDArray[np.int64]
    capsule: SweptVolume

    @cached_property
    def shape(self) -> coal.CollisionGeometry:
        """For queries by coal, which may share it."""
        corners, faces = coal.StdVec_Vec3s(), coal.StdVec_Triangle()
        corners.extend(list(self.corners))
        faces.extend([coal.Triangle(a, b, c) for a, b, c in self.faces.tolist()])
        return coal.Convex(corners, faces)


def stored_hull(mesh: Mesh) -> Hull:
    """The hull of a mesh, from the cache where it was computed before.

    Raises:
        ShapeError: The hull has no volume.
        MissingMeshError: There is no such mesh file.
        FileFormatError: A mesh file cannot be read.
    """
    return _kept_hull(cache.key("hull", source_text(), method_version(), *shape_content(mesh)), mesh)


@functools.lru_cache(maxsize=256)
def _kept_hull(key: str, mesh: Mesh) -> Hull:
    content = cache.load(key)
    if content is not None:
        with np.load(io.BytesIO(content), allow_pickle=False) as data:
            return Hull(data["corners"], data["faces"], SweptVolume(data["axis"], float(data["radius"])))
    (corners, faces), out = hull_of(mesh.vertices()), io.BytesIO()
    hull = Hull(corners, faces, capsule_around_points(corners))
    np.savez(out, corners=corners, faces=faces, axis=hull.capsule.vertices, radius=hull.capsule.radius)
    cache.store(key, out.getvalue(), {"robot": "", "algorithm": "hull of a mesh", "build": f"{len(corners)}"})
    return hull


def hull_of(points: Array) -> tuple[Array, NDArray[np.int64]]:
    """Corners (k, 3) and faces (m, 3) of the hull of points; no corner has more neighbours than coal can count.

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
    return cloud[corners], outward.reshape(-1, 3)
