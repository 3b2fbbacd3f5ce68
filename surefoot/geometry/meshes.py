"""Vertices of mesh files (STL, OBJ, DAE, PLY …), read by coal's assimp loader and kept while the program runs."""

from __future__ import annotations

import functools
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.errors import FileFormatError, MissingMeshError

__all__ = ["MAX_MESH_BYTES", "load_vertices"]

MAX_MESH_BYTES = 512 * 1024 * 1024


def load_vertices(path: str, scale: tuple[float, float, float] = (1.0, 1.0, 1.0)) -> NDArray[np.float64]:
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
    file = Path(path)
    if not file.is_file():
        raise MissingMeshError(f"mesh `{path}` does not exist", file=path, next_step="put the file there")
    if file.stat().st_size > MAX_MESH_BYTES:
        raise FileFormatError(f"mesh is larger than {MAX_MESH_BYTES >> 20} MiB", file=path)
    return _load(str(file), scale, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=512)
def _load(path: str, scale: tuple[float, float, float], _changed: int) -> NDArray[np.float64]:
    import coal

    try:
        mesh = coal.MeshLoader().load(path, np.array(scale, dtype=float))
    except (ValueError, RuntimeError) as error:
        raise FileFormatError(
            "cannot be read as a mesh", file=path, evidence={"reader": error}, next_step="export it again as STL or OBJ"
        ) from error
    vertices = np.array(mesh.vertices(), dtype=float).reshape(-1, 3)
    if not len(vertices) or not np.isfinite(vertices).all():
        raise FileFormatError("mesh has no vertices or ones that are not finite", file=path)
    vertices.setflags(write=False)
    return vertices
