"""Distances of swept-sphere volumes with nearest points and gradients, over `surefoot.ops`.

d = |p_a − p_b| − r_a − r_b          [swept.distance]   Buschmann 2014, section 5.2
∂d/∂a_i = λ_i n,  ∂d/∂b_j = −μ_j n,  n = (p_a − p_b) / |p_a − p_b|,  p_a = Σ λ_i a_i,  p_b = Σ μ_j b_j

The gradient follows from the envelope theorem; where nearest points are not unique (parallel lines), it is one of those
that the distance has from different sides. `smooth_distance` has one everywhere.

Distances of hulls that are smooth everywhere: C¹ where lines become parallel, corners pass, or hulls meet.

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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.geometry.swept_closest import Closest, closest, inner_triangles, nearer, with_first
from surefoot.ops import Array

_TOUCH = 1e-12  # [m]: hulls that are nearer meet, and there is no direction from one to the other


class Nearest(NamedTuple):
    """Two bodies where they are nearest.

    Args:
        distance: [m].
        point_a: (3,) the nearest point of the first [m].
        point_b: (3,) the nearest point of the second [m].
    """

    distance: Any
    point_a: Array
    point_b: Array


class DistanceGradient(NamedTuple):
    """A distance and how it changes with the vertices.

    Args:
        distance: [m].
        point_a: (3,) the nearest point of the first hull [m].
        point_b: (3,) the nearest point of the second hull [m].
        gradient_a: (k, 3) with respect to the vertices of the first; the sum of its rows is the change when the whole
            hull moves.
        gradient_b: (l, 3) with respect to the vertices of the second.
    """

    distance: Any
    point_a: Array
    point_b: Array
    gradient_a: Array
    gradient_b: Array


def generator_distance(A: Array, B: Array) -> Nearest:
    """Distance of the hulls of two sets of one, two or three vertices; zero where they meet.

    It is right to rounding for parallel, overlapping and collapsed ones, too: about 1e-15 of the largest length.

    Args:
        A: (k, 3) vertices [m].
        B: (l, 3) vertices [m], in the same frame.
    """
    found = closest(A, B)
    return Nearest(ops.sqrt(found.squared), *hull_points(A, B, found))


def swept_distance(A: Array, radius_a: Any, B: Array, radius_b: Any) -> Nearest:
    """Distance of two swept-sphere volumes, with points on their surfaces.

    Where they overlap it is negative: by how much the radii are too large. As long as the hulls of the vertices do not
    meet, that is how far one must move for them to touch. Where these meet, there is no direction, and the points are
    those of the hulls.

    Args:
        A: (k, 3) vertices of the first [m].
        radius_a: Its radius [m].
        B: (l, 3) vertices of the second [m], in the same frame.
        radius_b: Its radius [m].
    """
    distance, point_a, point_b = generator_distance(A, B)
    direction = _direction(point_a, point_b, distance)
    return Nearest(distance - (radius_a + radius_b), point_a - radius_a * direction, point_b + radius_b * direction)


def generator_gradient(A: Array, B: Array) -> DistanceGradient:
    """Distance of two hulls and its gradient; the gradient is zero where they meet.

    Args:
        A: (k, 3) vertices [m].
        B: (l, 3) vertices [m], in the same frame.
    """
    found = closest(A, B)
    distance = ops.sqrt(found.squared)
    point_a, point_b = hull_points(A, B, found)
    direction = _direction(point_a, point_b, distance)
    return DistanceGradient(distance, point_a, point_b, *vertex_gradients(found, direction))


def hull_points(A: Array, B: Array, found: Closest) -> tuple[Array, Array]:
    """The points with the given weights, (3,) each [m].

    Args:
        A: (k, 3) vertices [m].
        B: (l, 3) vertices [m].
        found: Their weights.
    """
    return _hull_point(A, found.a), _hull_point(B, found.b)


def vertex_gradients(found: Closest, direction: Array) -> tuple[Array, Array]:
    """Gradients (k, 3) and (l, 3) of a distance with respect to the vertices.

    Args:
        found: Weights of the nearest points.
        direction: (3,) how the distance changes with the first of them.
    """
    return _outer(with_first(found.a), direction), _outer(with_first(found.b), -direction)


def _hull_point(vertices: Array, weights: Array) -> Array:
    point = vertices[0]
    for vertex, weight in zip(vertices[1:], weights, strict=True):
        point = point + weight * (vertex - vertices[0])
    return point


def _direction(point_a: Array, point_b: Array, distance: Any) -> Array:
    """From the second to the first, of unit length; zero where they meet."""
    apart = ops.less(_TOUCH, distance)
    return (point_a - point_b) * ops.where(apart, 1.0 / ops.where(apart, distance, 1.0), 0.0)


def _outer(weights: Array, direction: Array) -> Array:
    return ops.stack([weight * direction for weight in weights])


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
    # The vertices of each hull `blur` further apart, in dimensions of its own
    a, b = _SIMPLEX[len(A)] * blur, _SIMPLEX[len(B)] * blur
    flat_a, flat_b = np.zeros((len(A), b.shape[1])), np.zeros((len(B), a.shape[1]))
    lifted = ops.concatenate([A, a, flat_a], axis=1), ops.concatenate([B, flat_b, b], axis=1)
    found = closest(*lifted)
    if len(A) == len(B) == 3:
        found = nearer([found, inner_triangles(*lifted)])
    least = 0.5 * (1.0 / len(A) + 1.0 / len(B))
    distance = ops.sqrt(found.squared + least * blur * blur)
    point_a, point_b = hull_points(A, B, found)
    direction = (point_a - point_b) * (1.0 / distance)
    return DistanceGradient(distance, point_a, point_b, *vertex_gradients(found, direction))
