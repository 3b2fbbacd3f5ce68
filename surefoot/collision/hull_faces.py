"""The triangles of a convex hull, with their normals outwards."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull, QhullError

from surefoot.arrays import Array
from surefoot.errors import ShapeError

__all__ = ["hull_faces"]


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
