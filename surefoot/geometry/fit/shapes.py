"""`fit_shapes`: few swept-sphere volumes that contain several placed shapes, such as those of a link.

Balls and capsules are swept volumes themselves. Other round shapes are contained together with a polyhedron around
them, and their excess is measured from a polyhedron inside, so both bounds hold for the shape.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.geometry.fit.corners import with_inner_corners
from surefoot.geometry.fit.cost import Found, Whole, spread_directions
from surefoot.geometry.fit.cut import Piece, fitted, joined
from surefoot.geometry.fit.excess import Surface, excess_of_hull, hull_planes, hull_triangles
from surefoot.geometry.fit.swept import (
    DEFAULT_GAIN,
    DEFAULT_MOST,
    SweptFit,
    checked_piece,
    divided,
    enclosing,
    outside_of,
    require_settings,
)
from surefoot.geometry.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere, require_size
from surefoot.geometry.swept import SweptVolume, rigid

_AROUND, _ON_BALL = 128, 1000  # corners of the polygons and of the polyhedra that stand for round shapes


def fit_shapes(
    shapes: Sequence[tuple[Shape, ArrayLike]], most: int = DEFAULT_MOST, gain: float = DEFAULT_GAIN
) -> SweptFit:
    """Few swept volumes that contain shapes.

    Shapes are put together to as many groups as there may be volumes, or fewer, and the groups are cut as in
    `fit_swept`; what costs least is taken. The excess is measured from the union of the shapes, meshes as there.

    Args:
        shapes: Shapes, each with its placement T (4, 4).
        most: Most volumes.
        gain: Share of the volume that a further volume, or a further vertex of a volume, must save.

    Raises:
        ShapeError: There is no shape, or sizes are negative or not finite, or as for `fit_swept`.
        NotSupportedError: A plane has no end.
        MissingMeshError: There is no such mesh file.
        FileFormatError: A mesh file cannot be read.
    """
    require_settings(most, gain)
    if not shapes:
        raise ShapeError("there is no shape to contain")
    outer = [_placed(polyhedron(shape, outside=True), T) for shape, T in shapes]
    whole = Whole.of(np.vstack([piece.points for piece in outer]))
    options = [divided(*groups, whole, most, gain) for groups in _groupings(outer, whole, most, gain)]
    pieces, found = min(options, key=lambda option: whole.cost(option[1]) - len(option[1]) * np.log1p(-gain))
    pieces = with_inner_corners(pieces, Surface(joined(outer)))
    volumes = enclosing(pieces, found, whole)
    return SweptFit(volumes, outside_of(volumes, pieces), _excess(volumes, pieces, shapes))


def _excess(
    volumes: Sequence[SweptVolume], pieces: Sequence[Piece], shapes: Sequence[tuple[Shape, ArrayLike]]
) -> float:
    """How far the volumes reach beyond the shapes [m]."""
    if all(piece.exact is not None for piece in pieces):
        return 0.0
    inner = [_placed(polyhedron(shape, outside=False), T) for shape, T in shapes]
    shape = shapes[0][0]
    if len(shapes) == 1 and not (isinstance(shape, Mesh) and len(shape.triangles())):
        return excess_of_hull(volumes, inner[0].points)
    return Surface(joined(inner)).excess(volumes)


def _groupings(pieces: list[Piece], whole: Whole, most: int, gain: float) -> Iterator[tuple[list[Piece], list[Found]]]:
    """Pieces put together, always the two that cost least together: to `most` groups, to one less, … to one."""
    groups = dict(enumerate(zip(pieces, fitted(pieces, whole, gain), strict=True)))
    pairs: dict[tuple[int, int], tuple[Piece, Found]] = {}
    while True:
        if len(groups) <= most:
            yield [piece for piece, _ in groups.values()], [found for _, found in groups.values()]
        if len(groups) == 1:
            return
        new = [pair for pair in itertools.combinations(groups, 2) if pair not in pairs]
        both = [joined([groups[i][0], groups[j][0]]) for i, j in new]
        pairs |= zip(new, zip(both, fitted(both, whole, gain), strict=True), strict=True)
        best = min(itertools.combinations(groups, 2), key=lambda pair: _cost_with(groups, pair, pairs[pair][1], whole))
        groups = {name: group for name, group in groups.items() if name not in best}
        groups[len(pieces) + len(pairs)] = pairs[best]


def _cost_with(groups: dict[int, tuple[Piece, Found]], pair: tuple[int, int], together: Found, whole: Whole) -> float:
    """The cost of all volumes with one in place of those of two groups."""
    return whole.cost([together, *(found for name, (_, found) in groups.items() if name not in pair)])


def _placed(piece: Piece, T: ArrayLike) -> Piece:
    """The piece moved by T (4, 4)."""
    matrix = rigid(T)
    moved = piece.points @ matrix[:3, :3].T + matrix[:3, 3]
    return Piece(moved, piece.triangles, None if piece.exact is None else piece.exact.placed(matrix))


def polyhedron(shape: Shape, *, outside: bool) -> Piece:
    """A polyhedron that contains a shape, or that a shape contains; a mesh is its own.

    Args:
        shape: The shape.
        outside: Whether the polyhedron contains the shape.
    """
    require_size(shape)
    match shape:
        case Box(size):
            corners, triangles, _ = _unit_box()
            return Piece(corners * np.array(size), triangles)
        case Cylinder(radius, length):
            points, triangles, inside = _unit_cylinder()
            wide = radius / inside if outside else radius
            return Piece(points * [wide, wide, length], triangles)
        case Sphere(radius):
            points, triangles, inside = _unit_ball()
            exact = SweptVolume(np.zeros((1, 3)), radius)
            return Piece(points * (radius / inside if outside else radius), triangles, exact)
        case Ellipsoid(radii):
            points, triangles, inside = _unit_ball()
            return Piece(points * np.array(radii) / (inside if outside else 1.0), triangles)
        case Capsule(radius, length):
            points, triangles, inside = _unit_capsule()
            ends = np.array([[0.0, 0.0, 0.5 * length], [0.0, 0.0, -0.5 * length]])
            ball = points * (radius / inside if outside else radius)
            return Piece(np.vstack([ball + ends[0], ball + ends[1]]), triangles, SweptVolume(ends, radius))
        case Mesh():
            points, triangles = shape.vertices(), shape.triangles()
            return checked_piece(points, triangles if len(triangles) else hull_triangles(points))
        case Plane():
            raise NotSupportedError("a plane has no end, so no volume contains it", next_step="leave planes out")


Unit = tuple[Array, NDArray[np.int64], float]  # points on a unit shape, triangles, and what part of it these contain


@functools.cache
def _unit_box() -> Unit:
    corners = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T
    return corners, hull_triangles(corners), 1.0


@functools.cache
def _unit_cylinder() -> Unit:
    turn = np.linspace(0.0, 2.0 * np.pi, _AROUND, endpoint=False)
    ring = np.column_stack([np.cos(turn), np.sin(turn), np.full(_AROUND, 0.5)])
    points = np.vstack([ring, ring * [1.0, 1.0, -1.0]])
    return points, hull_triangles(points), float(np.cos(np.pi / _AROUND))


@functools.cache
def _unit_ball() -> Unit:
    points = spread_directions(_ON_BALL)
    return points, hull_triangles(points), float(-hull_planes(points)[:, 3].max())


@functools.cache
def _unit_capsule() -> Unit:
    """The points of a ball, and triangles between them at the upper and the lower end of a capsule."""
    points, _, inside = _unit_ball()
    up = np.array([0.0, 0.0, 1.0])
    ends = np.vstack([points + up, points - up])
    return points, hull_triangles(ends), inside
