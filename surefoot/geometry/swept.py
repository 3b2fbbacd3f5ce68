"""`SweptVolume`: a ball moved over a point, a line or a triangle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError

_KINDS = {1: "point", 2: "line", 3: "triangle"}


@dataclass(frozen=True, eq=False)
class SweptVolume:
    """All points within `radius` of the hull of one, two or three vertices.   Buschmann 2014, section 5.2.

    Args:
        vertices: (k, 3) with k = 1, 2 or 3 [m].
        radius: [m], not negative.
    """

    vertices: Array
    radius: float

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=float)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or len(vertices) not in _KINDS:
            raise ShapeError("a swept volume has one, two or three vertices", evidence={"shape": vertices.shape})
        if not np.isfinite(vertices).all() or not np.isfinite(self.radius) or self.radius < 0.0:
            raise ShapeError("vertices must be finite and the radius not negative", evidence={"radius": self.radius})
        vertices.setflags(write=False)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "radius", float(self.radius))

    @property
    def kind(self) -> str:
        """Either "point", "line" or "triangle"."""
        return _KINDS[len(self.vertices)]

    def placed(self, T: ArrayLike) -> SweptVolume:
        """The volume moved by a placement T (4, 4)."""
        matrix = rigid(T)
        return SweptVolume(self.vertices @ matrix[:3, :3].T + matrix[:3, 3], self.radius)


def rigid(T: ArrayLike) -> Array:
    """A placement (4, 4): anything else would change sizes.

    Args:
        T: A rotation, a position [m] and the last row 0 0 0 1.

    Raises:
        ShapeError: It is none.
    """
    matrix = np.asarray(T, dtype=float)
    if matrix.shape != (4, 4) or not np.isfinite(matrix).all():
        raise ShapeError("a placement is a finite 4 × 4 matrix", evidence={"shape": matrix.shape})
    R = matrix[:3, :3]
    if np.abs(R @ R.T - np.eye(3)).max() > 1e-6 or np.linalg.det(R) < 0.0 or matrix[3].tolist() != [0.0, 0.0, 0.0, 1.0]:
        raise ShapeError("a placement has a rotation, a position and the last row 0 0 0 1", evidence={"T": matrix})
    return matrix
