"""Nearest points of points, lines and triangles in a space of any dimension, without branches.

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

from collections.abc import Sequence
from typing import Any, NamedTuple

from surefoot import ops
from surefoot.errors import ShapeError
from surefoot.ops import Array

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
        return _point_triangle(A[0], B)
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


def _point_triangle(p: Array, B: Array) -> Closest:
    offset, side, free = p - B[0], B[1] - B[0], B[2] - B[0]
    s, t = _in_triangle(offset, side, free)
    inside = Closest(_square(offset - s * side - t * free), _weights(), _weights(s, t))
    return nearer([inside, *(_on_edge_of_b(_point_line(p, B[list(edge)]), edge) for edge in _EDGES[:2])])


def _line_triangle(A: Array, B: Array) -> Closest:
    on_edges = [_on_edge_of_b(_line_line(A, B[list(edge)]), edge) for edge in _EDGES[:2]]
    return nearer([_line_across(A, B), *on_edges])


def _triangles(A: Array, B: Array) -> Closest:
    """Edges of the first with the second cover all but points inside the first; edges of the second cover these."""
    candidates = []
    for edge in _EDGES:
        candidates.append(_on_edge_of_a(_line_triangle(A[list(edge)], B), edge))
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


def _on_edge_of_a(found: Closest, edge: tuple[int, int]) -> Closest:
    return found._replace(a=_edge_weights(found.a[0], edge))


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
