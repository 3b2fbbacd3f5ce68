"""`fit_swept`: few swept-sphere volumes that contain a mesh, with proven bounds on what sticks out and on the excess.

One volume of least volume is put around the whole; then the piece is cut by a plane whose two volumes save most, and
so on, as long as a further volume saves a given share. Larsen, Gottschalk, Lin, Manocha: "Fast proximity queries with
swept sphere volumes", 1999, have the volumes; the fitting and its bounds are our own.

A swept volume of locally least [fit.cost] around points, from a good one.

Least cost over vertices, radius and reach beyond the hull, with every point within the radius, by sequential least
squares (D. Kraft 1988). Of many points those that matter are taken; omitted ones that stick out are added.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.errors import ShapeError
from surefoot.geometry.fit.corners import with_inner_corners
from surefoot.geometry.fit.cost import (
    EXCESS_WEIGHT,
    FINE,
    FLAT_VOLUME,
    Found,
    Whole,
    main_box,
    spread_directions,
    support_points,
)
from surefoot.geometry.fit.cut import Cut, Piece, best_cut, fitted
from surefoot.geometry.fit.excess import Surface, excess_of_hull
from surefoot.geometry.fit.nearest import farthest, nearest_weights, volume_slopes
from surefoot.geometry.swept import SweptVolume

_ROUNDS = 4  # each with more points
_MORE = 32  # points that are added in a round, at most


def polished(found: Found, points: Array, whole: Whole) -> Found:
    """A volume of locally least cost around points, not worse than the one given.

    Args:
        found: The start.
        points: (m, 3) [m], all that must be inside.
        whole: What the excess is measured from.
    """
    core = support_points(points, FINE)
    box = main_box(core)
    heights = whole.heights(FINE, box.centre[None], np.array([box.size]))[0]
    full, core = (points - box.centre) / box.size, (core - box.centre) / box.size
    generator = (found.generator - box.centre) / box.size
    candidates = [Found(found.generator, farthest(found.generator, points))]
    for _ in range(_ROUNDS):
        generator = _Problem(generator, core, heights, box.size / whole.size).solution()
        moved = box.centre + box.size * generator
        candidates.append(Found(moved, farthest(moved, points)))
        # The points that stick out farthest
        distance = np.linalg.norm(full - nearest_weights(generator, full) @ generator, axis=1)
        order = np.argsort(-distance, kind="stable")[:_MORE]
        outside = full[order[distance[order] > farthest(generator, core) * (1.0 + 1e-9)]]
        if not len(outside):
            break
        core = np.vstack([core, outside])
    return min(candidates, key=lambda candidate: whole.cost([candidate]))


@dataclass(frozen=True, eq=False)
class _Problem:
    """Least cost over x: the vertices, the radius, and the largest signed distance of a vertex from the hull.

    Args:
        start: (k, 3) vertices.
        points: (m, 3) that must be inside.
        heights: (n,) how far the whole reaches in n directions.
        share: The unit of length as a share of the size of the whole.
    """

    start: Array
    points: Array
    heights: Array
    share: float

    def solution(self) -> Array:
        """The vertices (k, 3)."""
        from scipy.optimize import minimize

        free, k = (None, None), len(self.start)
        found = minimize(
            self._cost, np.array([*self.start.ravel(), self._distances.max(), self._above.max()]), jac=True,
            bounds=[free] * (3 * k) + [(0.0, None), free], method="SLSQP", options={"maxiter": 60, "ftol": 1e-9},
            constraints={"type": "ineq", "fun": self._room, "jac": self._room_slope},
        )  # fmt: skip
        return found.x[:-2].reshape(k, 3) if np.isfinite(found.x).all() else self.start

    @cached_property
    def _distances(self) -> Array:
        return np.linalg.norm(self.points - nearest_weights(self.start, self.points) @ self.start, axis=1)

    @cached_property
    def _above(self) -> Array:
        return self.start @ spread_directions(len(self.heights)).T - self.heights

    @cached_property
    def _near(self) -> Array:
        """The points that may become the farthest."""
        return self.points[self._distances >= 0.7 * self._distances.max()]

    @cached_property
    def _reach(self) -> tuple[Array, Array]:
        """Rows and constants of reach − (n·g − h) for vertices and directions that may become the worst."""
        vertex, direction = np.nonzero(self._above >= self._above.max() - 0.2)
        rows = np.zeros((len(vertex), *self.start.shape))
        rows[np.arange(len(vertex)), vertex] = -spread_directions(len(self.heights))[direction]
        return np.column_stack([rows.reshape(len(vertex), -1), 0.0 * vertex, 1.0 + 0.0 * vertex]), self.heights[
            direction
        ]

    def _cost(self, x: Array) -> tuple[float, Array]:
        weight = EXCESS_WEIGHT * self.share
        volume, by_vertex, by_radius = volume_slopes(x[:-2].reshape(self.start.shape), x[-2])
        counted = float(volume) + FLAT_VOLUME / self.share**3
        slope = [*(by_vertex.ravel() / counted), float(by_radius) / counted + weight, weight]
        return float(np.log(counted)) + weight * (x[-2] + x[-1]), np.array(slope)

    def _room(self, x: Array) -> Array:
        g, (rows, constants) = x[:-2].reshape(self.start.shape), self._reach
        inside = x[-2] - np.linalg.norm(self._near - nearest_weights(g, self._near) @ g, axis=1)
        return np.concatenate([inside, rows @ x + constants])

    def _room_slope(self, x: Array) -> Array:
        g = x[:-2].reshape(self.start.shape)
        weights = nearest_weights(g, self._near)
        away = self._near - weights @ g
        away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        by_vertex = (weights[:, :, None] * away[:, None, :]).reshape(len(away), -1)
        ones = np.ones(len(away))
        return np.vstack([np.column_stack([by_vertex, ones, 0.0 * ones]), self._reach[0]])


DEFAULT_MOST, DEFAULT_GAIN = 3, 0.1
_ROUNDING = 1e-9  # added to the radius, as a share of the size


@dataclass(frozen=True, eq=False)
class SweptFit:
    """Swept volumes that stand for a shape.

    Args:
        volumes: Their union stands for the shape.
        outside: No point of the shape is farther outside of the union than this [m].
        excess: No point of the union is farther from the shape than this [m].
    """

    volumes: tuple[SweptVolume, ...]
    outside: float
    excess: float


def fit_swept(
    points: ArrayLike, triangles: ArrayLike | None = None, most: int = DEFAULT_MOST, gain: float = DEFAULT_GAIN
) -> SweptFit:
    """Few swept volumes that contain a mesh, or a cloud of points.

    Contained is every point of every triangle, and all that a closed mesh encloses (`surefoot.geometry.fit.corners`).
    The excess is measured from the mesh together with what it encloses, where a gap narrower than about a 48th of its
    size counts as closed; for a cloud, from the hull of the points. Same input, same result.

    Args:
        points: (n, 3) [m].
        triangles: (m, 3) indices of points; points that no triangle uses do not count. None for a cloud.
        most: Most volumes.
        gain: Share of the volume that a further volume, or a further vertex of a volume, must save.

    Raises:
        ShapeError: Wrong shapes, numbers that are not finite, nothing to contain, settings out of range.
    """
    require_settings(most, gain)
    piece = checked_piece(points, triangles)
    whole = Whole.of(piece.points)
    pieces, found = divided([piece], fitted([piece], whole, gain), whole, most, gain)
    surface = Surface(piece)
    pieces = with_inner_corners(pieces, surface)
    volumes = enclosing(pieces, found, whole)
    excess = surface.excess(volumes) if len(piece.triangles) else excess_of_hull(volumes, piece.points)
    return SweptFit(volumes, outside_of(volumes, pieces), excess)


def divided(
    pieces: list[Piece], found: list[Found], whole: Whole, most: int, gain: float
) -> tuple[list[Piece], list[Found]]:
    """Cut pieces as long as it pays.

    Args:
        pieces: What there is.
        found: A volume around each piece.
        whole: What the excess is measured from.
        most: Most pieces.
        gain: Share of the volume of the union that a cut must save.

    Returns:
        Pieces and a volume around each.
    """
    cuts: list[Cut | str | None] = ["open"] * len(pieces)
    while len(pieces) < most:
        cuts = [best_cut(piece, whole, gain) if cut == "open" else cut for piece, cut in zip(pieces, cuts, strict=True)]
        choices = [
            (whole.cost([*found[:i], *cut.found, *found[i + 1 :]]), i, cut)
            for i, cut in enumerate(cuts) if isinstance(cut, Cut)
        ]  # fmt: skip
        cost, i, cut = min(choices, key=lambda choice: choice[:2], default=(np.inf, 0, None))
        if cut is None or cost > whole.cost(found) + np.log1p(-gain):
            break
        pieces = [*pieces[:i], *cut.pieces, *pieces[i + 1 :]]
        found = [*found[:i], *cut.found, *found[i + 1 :]]
        cuts = [*cuts[:i], "open", "open", *cuts[i + 1 :]]
    return pieces, found


def enclosing(pieces: Sequence[Piece], found: Sequence[Found], whole: Whole) -> tuple[SweptVolume, ...]:
    """The volumes after the polish, each with a radius that contains its piece, also after rounding."""
    out = []
    for piece, best in zip(pieces, found, strict=True):
        if piece.exact is not None:
            out.append(piece.exact)
            continue
        generator = polished(best, piece.points, whole).generator
        size = float(np.abs(piece.points - generator[0]).max())
        out.append(SweptVolume(generator, farthest(generator, piece.points) + _ROUNDING * size))
    return tuple(out)


def outside_of(volumes: Sequence[SweptVolume], pieces: Sequence[Piece]) -> float:
    """How far [m] a point of a piece sticks out of the volume that it belongs to; nothing can stick out more."""
    pairs = [(v, piece) for v, piece in zip(volumes, pieces, strict=True) if piece.exact is None]
    return max([0.0, *(farthest(volume.vertices, piece.points) - volume.radius for volume, piece in pairs)])


def checked_piece(points: ArrayLike, triangles: ArrayLike | None) -> Piece:
    """The mesh as a piece, with nothing in it that does not count."""
    p = np.array(points, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3 or not len(p):
        raise ShapeError("points are rows of three numbers, at least one", evidence={"shape": p.shape})
    if not np.isfinite(p).all():
        bad = np.flatnonzero(~np.isfinite(p).all(axis=1))
        raise ShapeError("points are not finite", evidence={"rows": bad[:10].tolist()}, next_step="repair the mesh")
    if triangles is None:
        return Piece(np.unique(p, axis=0), np.zeros((0, 3), dtype=np.int64))
    t = np.array(triangles)
    if t.ndim != 2 or t.shape[1] != 3 or t.dtype.kind not in "iu" or not len(t):
        raise ShapeError("triangles are rows of three indices, at least one", evidence={"shape": t.shape})
    if not 0 <= int(t.min()) <= int(t.max()) < len(p):
        raise ShapeError("triangles name points that do not exist", evidence={"number of points": len(p)})
    used, same = np.unique(p[t.ravel()], axis=0, return_inverse=True)
    return Piece(used, same.reshape(-1, 3).astype(np.int64))


def require_settings(most: int, gain: float) -> None:
    """Refuse settings that are out of range."""
    if not (most >= 1 and most % 1 == 0 and 0.0 < gain < 1.0):
        raise ShapeError(f"most is {most}, gain is {gain}; expected a whole number from 1 on, and between 0 and 1")
