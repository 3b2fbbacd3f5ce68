"""`capsule_around`: a ball or a capsule that contains a shape, at once and not as tight as `fit_shapes`.

The axis is one of the principal axes of the points or of the frame. Seen along it, the circle round the points gives
the radius, and the shortest segment on the axis whose ends reach all points the length: what is least is taken.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.geometry.fit.nearest import farthest, volume_of
from surefoot.geometry.fit.shapes import polyhedron
from surefoot.geometry.fit.swept import checked_piece
from surefoot.geometry.shapes import Mesh, Shape
from surefoot.geometry.swept import SweptVolume

_STEPS = 100  # towards the centre of a circle: it is then larger than need be by less than a percent


def capsule_around(shape: Shape) -> SweptVolume:
    """A ball or capsule that contains a shape; balls and capsules themselves as they are.

    Raises:
        ShapeError: Sizes or points are not finite.
        NotSupportedError: A plane has no end.
        MissingMeshError: There is no such mesh file.
        FileFormatError: A mesh file cannot be read.
    """
    piece = checked_piece(shape.vertices(), None) if isinstance(shape, Mesh) else polyhedron(shape, outside=True)
    return piece.exact if piece.exact is not None else capsule_around_points(piece.points)


def capsule_around_points(points: ArrayLike) -> SweptVolume:
    """A ball or capsule that contains points.

    Args:
        points: (n, 3) [m].
    """
    P = np.asarray(points, dtype=float)
    axes = np.vstack([np.eye(3), np.linalg.eigh(np.cov(P.T, bias=True))[1].T])
    across = np.stack([np.linalg.svd(axis[None])[2][1:] for axis in axes])
    flat = P @ across.transpose(0, 2, 1)
    centers = _centers_of_circles(flat)
    capsules = [_along(P, *given) for given in zip(axes, across, flat, centers, strict=True)]
    found = min(capsules, key=lambda x: float(volume_of(x.vertices, np.array(x.radius))))
    return SweptVolume(found.vertices, max(found.radius, farthest(found.vertices, P)))  # also after rounding


def _along(P: Array, axis: Array, across: Array, flat: Array, center: Array) -> SweptVolume:
    """The least capsule about an axis (3,), whose points (n, 2) seen along it have a circle about a centre (2,)."""
    along = P @ axis
    off = np.linalg.norm(flat - center, axis=1)
    radius = float(off.max())
    reach = np.sqrt(np.maximum(radius**2 - off**2, 0.0))
    low, high = (along + reach).min(), (along - reach).max()
    places = [low, high] if low < high else [0.5 * (low + high)]
    return SweptVolume(np.array([center @ across + s * axis for s in places]), radius)


def _centers_of_circles(flat: Array) -> Array:
    """About the centres (k, 2) of the smallest circles round sets of points (k, n, 2).

    Ever smaller steps to the farthest point (Bădoiu and Clarkson 2003).
    """
    centers, rows = 0.5 * (flat.min(axis=1) + flat.max(axis=1)), np.arange(len(flat))
    for k in range(_STEPS):
        away = flat - centers[:, None]
        farthest = flat[rows, np.argmax(np.einsum("kni,kni->kn", away, away), axis=1)]
        centers = centers + (farthest - centers) / (k + 2.0)
    return np.asarray(centers)
