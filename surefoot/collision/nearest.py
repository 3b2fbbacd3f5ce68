"""Nearest points of many generators (points, lines, triangles), whatever their order."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.arrays import Array
from surefoot.collision.pair_kernels import pair_kernel

__all__ = ["KINDS", "Nearest", "generator_distances", "generator_nearest"]

_TOUCH = 1e-12  # [m]
KINDS = {1: "point", 2: "line", 3: "triangle"}


@dataclass(frozen=True, eq=False)
class Nearest:
    """Distances of n pairs of generators.

    Args:
        distance: (n,) [m].
        point_a: (n, 3) the nearest point of the first.
        point_b: (n, 3) the nearest point of the second.
    """

    distance: Array
    point_a: Array
    point_b: Array

    @property
    def direction(self) -> Array:
        """(n, 3) unit vectors from the first to the second; shorter, and zero in the end, where they all but meet."""
        return (self.point_b - self.point_a) / np.maximum(self.distance, _TOUCH)[:, None]


def generator_distances(A: Array, B: Array) -> Array:
    """Distances (n,) of generators [m].

    Args:
        A: (n, k, 3) vertices [m].
        B: (n, l, 3) vertices [m].
    """
    if A.shape[1] > B.shape[1]:
        A, B = B, A
    radii = np.zeros(len(A))
    found: Array = pair_kernel(KINDS[A.shape[1]], KINDS[B.shape[1]])(A, radii, B, radii)
    return found


def generator_nearest(A: Array, B: Array) -> Nearest:
    """Distances of generators and their nearest points.

    Args:
        A: (n, k, 3) vertices [m].
        B: (n, l, 3) vertices [m].
    """
    if A.shape[1] > B.shape[1]:
        x = generator_nearest(B, A)
        return Nearest(x.distance, x.point_b, x.point_a)
    radii = np.zeros(len(A))
    return Nearest(*pair_kernel(KINDS[A.shape[1]], KINDS[B.shape[1]], "nearest")(A, radii, B, radii))
