"""Pieces of a surface and the plane that cuts one in two so that two swept volumes fit best.

A triangle that a plane crosses is cut there, so every point of the surface lies in a triangle of one of the pieces; a
volume is convex and contains these triangles as soon as it contains their corners. For what the surface encloses see
`surefoot.geometry.fit_corners`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.geometry.fit_cost import Found, Whole, main_box, support_points
from surefoot.geometry.fit_search import best_found
from surefoot.geometry.swept import SweptVolume

__all__ = ["Cut", "Piece", "best_cut", "fitted", "joined"]

Plane = tuple[Array, float]  # normal and offset: n·x = offset
_OFFSETS = (-0.5, -0.25, 0.0, 0.25, 0.5)  # of cuts across an axis, in half edges of the box
_SHIFTS = (-0.125, 0.125)
_KEPT = 3  # cuts that are looked at closely
_GRAIN = 48  # the search sees a mesh with this many cells along its longest edge


class Piece(NamedTuple):
    """A part of a surface, or of a cloud of points.

    Args:
        points: (n, 3) [m].
        triangles: (m, 3) indices of points; none for a cloud.
        exact: The swept volume that the piece stands for, where it is one.
        sides: The planes that cut it out of the whole: n·x ≥ offset on its side.
    """

    points: Array
    triangles: NDArray[np.int64]
    exact: SweptVolume | None = None
    sides: tuple[Plane, ...] = ()


class Cut(NamedTuple):
    """A piece cut in two.

    Args:
        pieces: The two pieces.
        found: A volume around each.
    """

    pieces: tuple[Piece, Piece]
    found: tuple[Found, Found]


def joined(pieces: list[Piece]) -> Piece:
    """Several pieces as one."""
    offsets = np.cumsum([0, *(len(piece.points) for piece in pieces[:-1])])
    triangles = [piece.triangles + offset for piece, offset in zip(pieces, offsets, strict=True)]
    return Piece(np.vstack([piece.points for piece in pieces]), np.vstack(triangles))


def fitted(pieces: list[Piece], whole: Whole, gain: float) -> list[Found]:
    """A volume around each piece, before the polish; for what is a swept volume, itself."""
    rough = [piece for piece in pieces if piece.exact is None]
    sets = np.array([support_points(piece.points, 64) for piece in rough])
    found = iter(best_found(sets, whole, gain) if rough else [])
    return [Found(p.exact.vertices, p.exact.radius) if p.exact is not None else next(found) for p in pieces]


def best_cut(piece: Piece, whole: Whole, gain: float) -> Cut | None:
    """The cut after which the volumes around both parts cost least; None where nothing can be cut.

    Args:
        piece: What to cut.
        whole: What the excess is measured from.
        gain: As for `best_found`.
    """
    if piece.exact is not None:
        return None
    coarse = _thinned(piece)
    first = _ranked(coarse, list(_planes(coarse.points)), whole, gain, steps=12, count=32)[:_KEPT]
    reach = main_box(coarse.points).half.max()
    close = [(normal, offset + shift * reach) for normal, offset in first for shift in (*_SHIFTS, 0.0)]
    second = _ranked(coarse, close, whole, gain, steps=30, count=48)[:_KEPT]
    cuts = [parts for plane in second if (parts := _parts(piece, plane)) is not None]
    found = fitted([part for parts in cuts for part in parts], whole, gain) if cuts else []
    choices = [Cut(parts, (found[2 * i], found[2 * i + 1])) for i, parts in enumerate(cuts)]
    return min(choices, key=lambda cut: whole.cost(cut.found), default=None)


def _planes(points: Array) -> Iterator[Plane]:
    """Planes across the main axes, and along the diagonals of the main box."""
    box = main_box(points)
    for axis, half in zip(box.axes, box.half, strict=True):
        for share in _OFFSETS:
            yield axis, float(axis @ box.centre + share * half)
    for i, j in ((0, 1), (0, 2), (1, 2)):
        for sign in (-1.0, 1.0):
            normal = box.half[j] * box.axes[i] + sign * box.half[i] * box.axes[j]
            length = float(np.linalg.norm(normal))
            if length > 0.0:
                yield normal / length, float(normal @ box.centre) / length


def _ranked(piece: Piece, planes: list[Plane], whole: Whole, gain: float, steps: int, count: int) -> list[Plane]:
    """The planes that cut the piece, best first, by descents of so many steps on so many points of each part."""
    cuts = [(plane, parts) for plane in planes if (parts := _parts(piece, plane)) is not None]
    if not cuts:
        return []
    sets = np.array([support_points(part.points, count) for _, parts in cuts for part in parts])
    found = best_found(sets, whole, gain, planes=1, steps=steps)
    costs = [whole.cost(found[i : i + 2]) for i in range(0, len(found), 2)]
    return [cuts[i][0] for i in np.argsort(costs, kind="stable")]


def _parts(piece: Piece, plane: Plane) -> tuple[Piece, Piece] | None:
    """The parts of a piece on both sides of a plane; None where one of them is empty."""
    height = piece.points @ plane[0] - plane[1]
    if not (height.min() < 0.0 < height.max()):
        return None
    if not len(piece.triangles):
        none = np.zeros((0, 3), dtype=np.int64)
        return Piece(piece.points[height < 0.0], none), Piece(piece.points[height >= 0.0], none)
    below, above = (-plane[0], -plane[1]), plane
    return (
        _clipped(piece, -height)._replace(sides=(*piece.sides, below)),
        _clipped(piece, height)._replace(sides=(*piece.sides, above)),
    )


def _clipped(piece: Piece, height: Array) -> Piece:
    """What of a piece has a height that is not negative."""
    inside = height[piece.triangles] >= 0.0
    number = inside.sum(axis=1)
    one, two = (_turned(piece.triangles[number == n], inside[number == n], n) for n in (1, 2))
    points, new = piece.points, len(piece.points)
    a, b, c = one.T  # a is inside: keep a, ab, ac
    d, e, f = two.T  # f is outside: keep d, e, ef and d, ef, df
    ends = [(a, b), (a, c), (e, f), (d, f)]
    crossings = [_crossing(points, height, start, end) for start, end in ends]
    ab, ac, ef, df = np.split(new + np.arange(sum(map(len, crossings))), np.cumsum([len(x) for x in crossings])[:-1])
    kept = [piece.triangles[number == 3], *(np.column_stack(t) for t in ((a, ab, ac), (d, e, ef), (d, ef, df)))]
    return _compact(np.vstack([points, *crossings]), np.vstack(kept))


def _turned(triangles: NDArray[np.int64], inside: NDArray[np.bool_], number: int) -> NDArray[np.int64]:
    """Triangles with the corner that is alone on its side first (number 1) or last (number 2)."""
    alone = np.argmax(inside if number == 1 else ~inside, axis=1)
    first = alone if number == 1 else alone + 1
    return np.take_along_axis(triangles, (first[:, None] + np.arange(3)) % 3, axis=1)


def _crossing(points: Array, height: Array, start: NDArray[np.int64], end: NDArray[np.int64]) -> Array:
    """Where edges cross height zero; the same point whichever end comes first."""
    low, high = np.minimum(start, end), np.maximum(start, end)
    share = (height[low] / (height[low] - height[high]))[:, None]
    return points[low] + share * (points[high] - points[low])


def _compact(points: Array, triangles: NDArray[np.int64]) -> Piece:
    """Only the points that triangles use."""
    used = np.zeros(len(points), dtype=bool)
    used[triangles] = True
    return Piece(points[used], (np.cumsum(used) - 1)[triangles])


def _thinned(piece: Piece) -> Piece:
    """A coarser piece: of the points in a cell of a grid one is kept; triangles may shrink to lines and points."""
    low, size = piece.points.min(axis=0), float(np.ptp(piece.points, axis=0).max())
    if size == 0.0 or len(piece.points) < _GRAIN:
        return piece
    cells = np.minimum(((piece.points - low) / size * _GRAIN).astype(np.int64), _GRAIN - 1)
    number = (cells[:, 0] * _GRAIN + cells[:, 1]) * _GRAIN + cells[:, 2]
    _, first, label = np.unique(number, return_index=True, return_inverse=True)
    return Piece(piece.points[first], np.unique(np.sort(label.reshape(-1)[piece.triangles], axis=1), axis=0))
