"""Distances of hulls that are smooth everywhere: C¹ where lines become parallel, corners pass, or hulls meet.

F = min |p_a − p_b|² + ½ β² (|λ|² + |μ|²),  p_a = Σ λ_i a_i,  p_b = Σ μ_j b_j,  λ, μ ≥ 0, Σ λ = Σ μ = 1
d_β = √F                               [swept.smooth]   after Moreau 1965 and Danskin 1967
∂d_β/∂a_i = λ_i (p_a − p_b) / d_β,  ∂d_β/∂b_j = −μ_j (p_a − p_b) / d_β

The second term makes the problem strictly convex, so that its minimiser is unique and depends on the vertices without
jumps (it is Lipschitz), and so does the gradient. As |λ|² and |μ|² are between ⅓ and 1,

    d ≤ d_β ≤ √(d² + β²) ≤ d + min(β, β² / 2d).

The term is a distance itself: with the vertices of each hull moved apart, by β, in dimensions of its own, F is the
square of the exact distance of the hulls in up to seven dimensions, plus a constant. So one algorithm serves both.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.geometry.swept_closest import closest, inner_triangles, nearer
from surefoot.geometry.swept_distance import DistanceGradient, hull_points, vertex_gradients
from surefoot.ops import Array

__all__ = ["smooth_distance"]

# Vertices of regular simplices with edges of unit length about the origin, by the number of vertices.
_SIMPLEX: dict[int, NDArray[np.float64]] = {
    1: np.zeros((1, 0)),
    2: np.array([[-0.5], [0.5]]),
    3: np.array([[-0.5, -math.sqrt(1 / 12)], [0.5, -math.sqrt(1 / 12)], [0.0, math.sqrt(1 / 3)]]),
}


def smooth_distance(A: Array, B: Array, blur: Any) -> DistanceGradient:
    """A distance of two hulls with a continuous gradient everywhere.

    It exceeds the exact distance d by at most min(blur, blur² / 2d): take `blur` from it to be on the safe side.

    Args:
        A: (k, 3) vertices, k = 1, 2 or 3 [m].
        B: (l, 3) vertices, l = 1, 2 or 3 [m], in the same frame.
        blur: By how much it may exceed the exact distance, more than 0 [m]. Gradients turn within an angle of about
            blur² / (d · length): too small a value makes them jump again.

    Raises:
        ShapeError: `blur` is a number that is not positive.
    """
    if not ops.is_symbolic(blur) and not blur > 0.0:
        raise ShapeError("the blur of a smooth distance must be positive", evidence={"blur": blur})
    lifted = _lifted(A, B, blur)
    found = closest(*lifted)
    if len(A) == len(B) == 3:
        found = nearer([found, inner_triangles(*lifted)])
    least = 0.5 * (1.0 / len(A) + 1.0 / len(B))
    distance = ops.sqrt(found.squared + least * blur * blur)
    point_a, point_b = hull_points(A, B, found)
    direction = (point_a - point_b) * (1.0 / distance)
    return DistanceGradient(distance, point_a, point_b, *vertex_gradients(found, direction))


def _lifted(A: Array, B: Array, blur: Any) -> tuple[Array, Array]:
    """The vertices of each hull `blur` further apart, in dimensions of its own."""
    a, b = _SIMPLEX[len(A)] * blur, _SIMPLEX[len(B)] * blur
    flat_a, flat_b = np.zeros((len(A), b.shape[1])), np.zeros((len(B), a.shape[1]))
    return ops.concatenate([A, a, flat_a], axis=1), ops.concatenate([B, flat_b, b], axis=1)
