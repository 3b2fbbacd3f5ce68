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

Nearest points of points, lines and triangles in a space of any dimension, without branches.

The hull of k vertices is written with k − 1 weights: v₀ + Σ wᵢ (vᵢ − v₀). Weights of a line lie in [0, 1], those of a
triangle are not negative and their sum is at most 1. Every candidate below lies in its hull, so that no rounding can
make a distance too small, and the smallest candidate is the answer:

- two lines: the minimum over the strip 0 ≤ s ≤ 1, −∞ < t < ∞ in closed form; if it leaves the box, the minimum lies on
  the side that it leaves through, because the square is convex (Lumelsky 1985; Ericson 2005, section 5.1.9).
- a line or a point and a triangle: with the weight along one edge left free it is the problem of two lines, seen along
  that edge; if the free weight leaves the triangle, the minimum lies on one of two edges.
- two triangles: in three dimensions some nearest point lies on an edge, also where they meet, so that it is the
  problem of an edge and a triangle, six times.

Directions are made orthogonal one after the other, and each weight is found from what the ones before it left over, as
in the modified Gram–Schmidt solution of least squares, whose remainder is right to rounding however close to parallel
the directions are (Björck 1967). Where they are parallel, some weight is noise between 0 and 1; a path from it to a
minimum leaves the hull, if at all, through an edge that another candidate has. So lines of no length, collinear and
coincident vertices need no case of their own.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.errors import ShapeError
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


_LEAST = 1e-36  # [m²], [m⁴]: what squares are at least before they divide; float32 still holds its inverse
_EDGES = ((0, 1), (1, 2), (0, 2))  # of a triangle; the last is the one that a weight is left free along


class Closest(NamedTuple):
    """Where two hulls are nearest.

    Args:
        squared: Square of the distance [m²].
        a: Weights (k − 1,) of the vertices of the first hull after its first one.
        b: Weights (l − 1,) of the vertices of the second hull after its first one.
    """

    squared: Any
    a: Array
    b: Array


class _Line(NamedTuple):
    """A direction with its length; `inverse` is 1 / |along|²."""

    along: Array
    inverse: Any


def closest(A: Array, B: Array) -> Closest:
    """Nearest points of two hulls in three dimensions (of points and lines, and of a triangle with them, in any).

    Args:
        A: (k, n) vertices, k = 1, 2 or 3 [m].
        B: (l, n) vertices, l = 1, 2 or 3 [m].

    Raises:
        ShapeError: There are more vertices, or none, or points of different dimensions.
    """
    if not (1 <= len(A) <= 3 and 1 <= len(B) <= 3) or A.shape[1:] != B.shape[1:]:
        raise ShapeError("hulls have one, two or three vertices each", evidence={"shapes": (A.shape, B.shape)})
    if len(A) > len(B):
        found = closest(B, A)
        return Closest(found.squared, found.b, found.a)
    if len(B) == 1:
        return Closest(_square(A[0] - B[0]), _weights(), _weights())
    if len(B) == 2:
        return _point_line(A[0], B) if len(A) == 1 else _line_line(A, B)
    if len(A) == 1:
        p = A[0]
        offset, side, free = p - B[0], B[1] - B[0], B[2] - B[0]
        s, t = _in_triangle(offset, side, free)
        inside = Closest(_square(offset - s * side - t * free), _weights(), _weights(s, t))
        return nearer([inside, *(_on_edge_of_b(_point_line(p, B[list(edge)]), edge) for edge in _EDGES[:2])])
    return _line_triangle(A, B) if len(A) == 2 else _triangles(A, B)


def nearer(candidates: Sequence[Closest]) -> Closest:
    """The candidate with the smallest distance.

    Args:
        candidates: At least one.
    """
    best = candidates[0]
    for other in candidates[1:]:
        smaller = ops.less(other.squared, best.squared)
        best = Closest(*(ops.where(smaller, x, y) for x, y in zip(other, best, strict=True)))
    return best


def with_first(weights: Array) -> Array:
    """Weights (k,) of all vertices, from those (k − 1,) after the first.

    Args:
        weights: (k − 1,).
    """
    first = 1.0
    for weight in weights:
        first = first - weight
    return ops.array([first, *weights])


# -- pairs ----------------------------------------------------------------------------------------------------------


def _point_line(p: Array, B: Array) -> Closest:
    line, offset = _line(B[1] - B[0]), p - B[0]
    t = _unit(offset @ line.along * line.inverse)
    return Closest(_square(offset - t * line.along), _weights(), _weights(t))


def _line_line(A: Array, B: Array) -> Closest:
    first, second = _line(A[1] - A[0]), _line(B[1] - B[0])
    offset = A[0] - B[0]
    s, t = _of_lines(offset, first, second)
    return Closest(_square(offset + s * first.along - t * second.along), _weights(s), _weights(t))


def _line_triangle(A: Array, B: Array) -> Closest:
    on_edges = [_on_edge_of_b(_line_line(A, B[list(edge)]), edge) for edge in _EDGES[:2]]
    return nearer([_line_across(A, B), *on_edges])


def _triangles(A: Array, B: Array) -> Closest:
    """Edges of the first with the second cover all but points inside the first; edges of the second cover these."""
    candidates = []
    for edge in _EDGES:
        found = _line_triangle(A[list(edge)], B)
        candidates.append(found._replace(a=_edge_weights(found.a[0], edge)))
        inside = _line_across(B[list(edge)], A)
        candidates.append(_on_edge_of_b(Closest(inside.squared, inside.b, inside.a), edge))
    return nearer(candidates)


def _line_across(A: Array, B: Array) -> Closest:
    """The minimum over a line and a triangle if it is inside the triangle, else some pair of points."""
    offset, along, side, free = A[0] - B[0], A[1] - A[0], B[1] - B[0], _line(B[2] - B[0])
    r, s = _of_lines(_without(offset, free), _line(_without(along, free)), _line(_without(side, free)))
    to_free, along_free, side_free = (x @ free.along for x in (offset, along, side))
    t = _below((to_free + r * along_free - s * side_free) * free.inverse, 1.0 - s)
    return Closest(_square(offset + r * along - s * side - t * free.along), _weights(r), _weights(s, t))


def inner_triangles(A: Array, B: Array) -> Closest:
    """The minimum over two triangles if it is inside both, else some pair of points; for four dimensions and more.

    Args:
        A: (3, n) vertices [m].
        B: (3, n) vertices [m].
    """
    offset, one, two, side, free = A[0] - B[0], A[1] - A[0], A[2] - A[0], B[1] - B[0], _line(B[2] - B[0])
    across = _line(_without(side, free))
    left, left_one, left_two = (_without(_without(x, free), across) for x in (offset, one, two))
    r, q = _in_triangle(-left, left_one, left_two)
    offset = offset + r * one + q * two
    s, t = _in_triangle(offset, side, free.along)
    return Closest(_square(offset - s * side - t * free.along), _weights(r, q), _weights(s, t))


# -- parts ----------------------------------------------------------------------------------------------------------


def _of_lines(offset: Array, first: _Line, second: _Line) -> tuple[Any, Any]:
    """Weights of the nearest points; `offset` is from the start of the second line to that of the first."""
    along = first.along @ second.along
    to_second = offset @ second.along
    across = first.along - (along * second.inverse) * second.along
    left = offset - (to_second * second.inverse) * second.along
    s = _unit(-(left @ across) * _inverse(_square(across)))
    t = _unit((to_second + s * along) * second.inverse)
    return _unit((t * along - offset @ first.along) * first.inverse), t


def _in_triangle(point: Array, side: Array, free: Array) -> tuple[Any, Any]:
    """Weights of the point of a triangle from the origin that is nearest to another one, if it is not on an edge."""
    line = _line(free)
    across = _line(_without(side, line))
    s = _unit(_without(point, line) @ across.along * across.inverse)
    return s, _below((point @ free - s * (side @ free)) * line.inverse, 1.0 - s)


def _line(along: Array) -> _Line:
    return _Line(along, _inverse(_square(along)))


def _without(x: Array, line: _Line) -> Array:
    """The part of a vector that is orthogonal to a line."""
    return x - (x @ line.along * line.inverse) * line.along


def _on_edge_of_b(found: Closest, edge: tuple[int, int]) -> Closest:
    return found._replace(b=_edge_weights(found.b[0], edge))


def _edge_weights(weight: Any, edge: tuple[int, int]) -> Array:
    """Weights of a triangle, of a point on one of its edges."""
    whole = {edge[0]: 1.0 - weight, edge[1]: weight}
    return _weights(whole.get(1, 0.0), whole.get(2, 0.0))


def _weights(*values: Any) -> Array:
    return ops.array(list(values))


def _square(x: Array) -> Any:
    return x @ x


def _inverse(square: Any) -> Any:
    return 1.0 / (square + _LEAST)


def _unit(x: Any) -> Any:
    """The nearest number in [0, 1]."""
    return _below(x, 1.0)


def _below(x: Any, most: Any) -> Any:
    """The nearest number in [0, most]."""
    return ops.where(ops.less(x, 0.0), 0.0, ops.where(ops.less(most, x), most, x))
