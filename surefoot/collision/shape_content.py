"""All that decides about a shape, for keys of the cache."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import MissingMeshError
from surefoot.geometry import Mesh, Shape

__all__ = ["shape_content"]

Part = str | bytes | Array | NDArray[np.int64]


def shape_content(shape: Shape) -> tuple[Part, ...]:
    """Sizes, points, or the bytes of the file of a mesh.

    Args:
        shape: The shape.

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
