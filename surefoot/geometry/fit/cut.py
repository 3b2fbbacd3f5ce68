"""Pieces of a surface and the plane that cuts one in two so that two swept volumes fit best.

A triangle that a plane crosses is cut there, so every point of the surface lies in a triangle of one of the pieces; a
volume is convex and contains these triangles as soon as it contains their corners. For what the surface encloses see
`surefoot.geometry.fit.corners`.

A good swept volume around points: a descent on [fit.cost] from many starts, for many sets of points at once.

The cost has kinks where the farthest point changes; they are smoothed by a soft maximum that hardens from step to step.
Steps after D. P. Kingma, J. Ba: "Adam: a method for stochastic optimization", 2015.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.geometry.fit.cost import (
    EXCESS_WEIGHT,
    FLAT_VOLUME,
    Found,
    MainBox,
    Whole,
    beyond_hull,
    main_box,
    support_points,
)
from surefoot.geometry.fit.nearest import farthest, nearest_weights, volume_slopes
from surefoot.geometry.swept import SweptVolume

_KINDS = (1, 2, 3)
_COARSE = 32  # directions in which the excess is looked at
_SURVIVORS = 4  # starts that are followed to the end


class _Tasks(NamedTuple):
    """Sets of points in units of their sizes.

    Args:
        points: (b, m, 3).
        heights: (b, n) how far the whole reaches in n directions.
        weights: (b,) of the excess.
        flat: (b,) volume that does not count.
    """

    points: Array
    heights: Array
    weights: Array
    flat: Array


def best_found(sets: Array, whole: Whole, gain: float, planes: int = 2, steps: int = 60) -> list[Found]:
    """Around each set of points the swept volume of least cost, as far as a descent finds it.

    Args:
        sets: (s, m, 3) [m]; the sets are worked on together.
        whole: What the excess is measured from.
        gain: A generator with one vertex more must save this share of the volume, or as much cost.
        planes: In how many planes of the main box triangles are started, and along how many of its axes lines.
        steps: Number of steps.

    Returns:
        s volumes.
    """
    boxes = [main_box(points) for points in sets]
    scales, centres = np.array([box.size for box in boxes]), np.array([box.centre for box in boxes])
    scaled, share = (sets - centres[:, None]) / scales[:, None, None], scales / whole.size
    heights = whole.heights(_COARSE, centres, scales)
    tasks = _Tasks(scaled, heights, EXCESS_WEIGHT * share, FLAT_VOLUME / share**3)
    units = [MainBox(np.zeros(3), box.axes, box.half / box.size) for box in boxes]
    chosen = _best_of_kind(tasks, units, _KINDS[0], planes, steps // 2)  # a point has three numbers only
    for k in _KINDS[1:]:
        other = _best_of_kind(tasks, units, k, planes, steps)
        chosen = [b if b[1] < a[1] + np.log1p(-gain) else a for a, b in zip(chosen, other, strict=True)]
    generators = [c + s * generator for (generator, _), c, s in zip(chosen, centres, scales, strict=True)]
    return [Found(generator, farthest(generator, points)) for generator, points in zip(generators, sets, strict=True)]


def _best_of_kind(
    tasks: _Tasks, boxes: list[MainBox], vertices: int, planes: int, steps: int
) -> list[tuple[Array, float]]:
    """The best generator with so many vertices, and its cost, for each set."""
    begin = np.array([
        np.vstack([_starts(box, vertices, planes), _corners(points)[None, :vertices]])
        for box, points in zip(boxes, tasks.points, strict=True)
    ])  # fmt: skip
    boldness = np.geomspace(1.0, 0.02, steps)
    early, costs = _descend(tasks, begin, boldness[: steps // 3])
    kept = np.argsort(costs, axis=1, kind="stable")[:, :_SURVIVORS]
    late, costs = _descend(tasks, np.take_along_axis(early, kept[..., None, None], axis=1), boldness[steps // 3 :])
    return [(late[i, j], float(costs[i, j])) for i, j in enumerate(np.argmin(costs, axis=1))]


def _starts(box: MainBox, vertices: int, planes: int) -> Array:
    """Generators to start from, along the axes of a box, (n, vertices, 3)."""
    if vertices == 1:
        return box.centre[None, None]
    found = []
    pairs = ((0, 1), (0, 2), (1, 2)) if vertices == 3 else ((0, 1), (1, 2), (2, 0))
    for i, j in pairs[:planes]:
        thick = box.half[3 - i - j] if vertices == 3 else 0.5 * (box.half.sum() - box.half[i])
        a, b = (max(box.half[k] - thick, 0.2 * box.half[k]) * box.axes[k] for k in (i, j))
        if vertices == 2:
            found.append([a, -a])
            continue
        found += [[a + b, a - b, b - a], [a + b, a - b, -a - b], [a + b, b - a, -a - b], [a - b, b - a, -a - b]]
        found += [[a + b, a - b, -a], [-a + b, -a - b, a], [a + b, b - a, -b], [a - b, -a - b, b]]
    return box.centre + np.array(found)


def _corners(points: Array) -> Array:
    """Three points (3, 3) far apart: what is a point, a line or a triangle is found at once."""
    first = points[np.argmax(np.linalg.norm(points - points.mean(axis=0), axis=1))]
    second = points[np.argmax(np.linalg.norm(points - first, axis=1))]
    line = np.array([first, second])
    third = points[np.argmax(np.linalg.norm(points - nearest_weights(line, points) @ line, axis=1))]
    return np.array([first, second, third])


def _descend(tasks: _Tasks, generators: Array, boldness: Array) -> tuple[Array, Array]:
    """Move the vertices of generators so that the costs of the volumes around their points fall.

    Args:
        tasks: s tasks.
        generators: (s, n, k, 3): n for each task.
        boldness: Length of each step, and softness of its maximum, from 1 down.

    Returns:
        The best generators on the way (s, n, k, 3) and their costs (s, n).
    """
    several = _Tasks(*(np.repeat(part, generators.shape[1], axis=0) for part in tasks))
    g = generators.reshape(-1, *generators.shape[2:])
    best, best_cost = g.copy(), np.full(len(g), np.inf)
    mean, square = np.zeros_like(g), np.zeros((len(g), 1, 1))
    for step, bold in enumerate(boldness, 1):
        cost, slope = _soft_slope(several, g, softness=0.05 * bold)
        better = cost < best_cost
        best[better], best_cost[better] = g[better], cost[better]
        mean = 0.8 * mean + 0.2 * slope
        square = 0.95 * square + 0.05 * np.mean(slope**2, axis=(1, 2), keepdims=True)
        root = np.sqrt(square / (1.0 - 0.95**step))
        g = g - 0.1 * bold * mean / (1.0 - 0.8**step) / np.maximum(root, 1e-12)
    return best.reshape(generators.shape), best_cost.reshape(generators.shape[:2])


def _soft_slope(tasks: _Tasks, g: Array, softness: float) -> tuple[Array, Array]:
    """Costs (b,) and their slopes by the vertices, with a soft maximum in place of the largest distance (b, k, 3)."""
    weights = nearest_weights(g, tasks.points)
    away = tasks.points - weights @ g
    distance = np.sqrt(np.einsum("bmi,bmi->bm", away, away))
    radius = distance.max(axis=-1)
    share = np.exp((distance - radius[:, None]) / softness)
    pull = (share / share.sum(axis=-1, keepdims=True) / np.maximum(distance, 1e-12))[..., None] * away
    radius_slope = -(np.swapaxes(weights, -1, -2) @ pull)
    volume, by_vertex, by_radius = volume_slopes(g, radius)
    counted = volume + tasks.flat
    beyond, beyond_slope = beyond_hull(tasks.heights, g)
    slope = by_vertex / counted[:, None, None] + tasks.weights[:, None, None] * beyond_slope
    slope += (by_radius / counted + tasks.weights)[:, None, None] * radius_slope
    return np.log(counted) + tasks.weights * (radius + beyond), slope


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
    """The part of a piece whose height is not negative."""
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
