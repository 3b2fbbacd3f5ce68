"""Convex hulls of meshes, computed once and kept in surefoot's cache (`surefoot.compiler.cache`)."""

from __future__ import annotations

import io
from typing import NamedTuple

import coal
import numpy as np
import scipy
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.collision.hull_faces import hull_faces
from surefoot.collision.shape_content import shape_content
from surefoot.collision.sources import source_text
from surefoot.compiler import cache
from surefoot.geometry import Mesh

__all__ = ["Hull", "hull_of", "stored_hull"]

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

    Args:
        mesh: The mesh.

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
