"""Vertices and triangles of mesh files (STL, OBJ, DAE, PLY …), read by coal's assimp loader and kept in memory."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import FileFormatError, MissingMeshError

MAX_MESH_BYTES = 512 * 1024 * 1024
Scale = tuple[float, float, float]


def load_vertices(path: str, scale: Scale = (1.0, 1.0, 1.0)) -> Array:
    """The vertices of a mesh file.

    Args:
        path: The file.
        scale: Factor per axis.

    Returns:
        (n, 3) [m], read-only.

    Raises:
        MissingMeshError: There is no such file.
        FileFormatError: The file is too large or no mesh that can be read.
    """
    return _vertices(path, scale, _checked(path))


def load_triangles(path: str, scale: Scale = (1.0, 1.0, 1.0)) -> NDArray[np.int64]:
    """The triangles of a mesh file.

    Args:
        path: The file.
        scale: Factor per axis, as for `load_vertices`.

    Returns:
        (m, 3) indices of vertices, read-only.

    Raises:
        MissingMeshError: There is no such file.
        FileFormatError: The file is too large or no mesh that can be read.
    """
    return _triangles(path, scale, _checked(path))


def _checked(path: str) -> int:
    """When a mesh file last changed; it must be there and not too large."""
    file = Path(path)
    if not file.is_file():
        raise MissingMeshError(f"mesh `{path}` does not exist", file=path, next_step="put the file there")
    if file.stat().st_size > MAX_MESH_BYTES:
        raise FileFormatError(f"mesh is larger than {MAX_MESH_BYTES >> 20} MiB", file=path)
    return file.stat().st_mtime_ns


@functools.lru_cache(maxsize=512)
def _vertices(path: str, scale: Scale, _changed: int) -> Array:
    vertices = np.array(_read(path, scale).vertices(), dtype=float).reshape(-1, 3)
    if not len(vertices) or not np.isfinite(vertices).all():
        raise FileFormatError("mesh has no vertices or ones that are not finite", file=path)
    vertices.setflags(write=False)
    return vertices


@functools.lru_cache(maxsize=512)
def _triangles(path: str, scale: Scale, _changed: int) -> NDArray[np.int64]:
    mesh = _read(path, scale)
    found = [mesh.tri_indices(i) for i in range(mesh.num_tris)]
    triangles = np.array([(t[0], t[1], t[2]) for t in found], dtype=np.int64).reshape(-1, 3)
    triangles.setflags(write=False)
    return triangles


def _read(path: str, scale: Scale) -> Any:
    """The mesh as coal has it; of its volumes, which are not used here, boxes are built three times faster."""
    import coal

    try:
        return coal.MeshLoader(coal.NODE_TYPE.BV_AABB).load(path, np.array(scale, dtype=float))
    except (ValueError, RuntimeError) as error:
        raise FileFormatError(
            "cannot be read as a mesh", file=path, evidence={"reader": error}, next_step="export it again as STL or OBJ"
        ) from error
