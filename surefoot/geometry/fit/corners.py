"""Corners that cuts make inside a solid: without them, volumes around the cut surface could leave holes within.

An enclosed point of a piece is a mixture of extreme points of its enclosed part. Such a point lies on the surface, or
where three of the planes meet that bound the piece: on one plane, and on the line where two meet, a point off the
surface could be moved both ways. So a convex volume around the cut surface and these corners contains it all.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry.fit.cut import Piece
from surefoot.geometry.fit.excess import Surface

_PARALLEL = 1e-9  # volume of three unit normals, below which their planes have no common point
_ROUNDING = 1e-9  # of a height over a plane, as a share of the size


def with_inner_corners(pieces: Sequence[Piece], surface: Surface) -> list[Piece]:
    """The pieces with the corners that cuts make inside the surface among their points."""
    return [piece._replace(points=np.vstack([piece.points, _inner_corners(piece, surface)])) for piece in pieces]


def _inner_corners(piece: Piece, surface: Surface) -> Array:
    """Points (n, 3) where three sides of a piece meet, on its side of all others, that the surface may enclose."""
    if len(piece.sides) < 3 or not len(piece.triangles):
        return np.zeros((0, 3))
    normals = np.array([normal for normal, _ in piece.sides])
    offsets = np.array([offset for _, offset in piece.sides])
    triples = np.array(list(itertools.combinations(range(len(offsets)), 3)))
    triples = triples[np.abs(np.linalg.det(normals[triples])) > _PARALLEL]
    corners = np.linalg.solve(normals[triples], offsets[triples][:, :, None])[:, :, 0]
    slack = _ROUNDING * float(np.abs(surface.piece.points).max())
    corners = corners[(corners @ normals.T >= offsets - slack).all(axis=1)]
    return corners[surface.may_hold(corners)] if len(corners) else corners
