"""How far points are from points, segments and triangles, for whole batches of them, and the size of swept volumes.

The nearest point of a generator is given by weights of its vertices. Whatever their rounding, weights that are not
negative and sum to one name a point of the generator, so distances from them are never too small: a radius that is the
largest of them contains the points.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array

_TINY = 1e-30
# Points in the unit cube on a lattice of low discrepancy (M. Roberts 2018: powers of the root of x⁴ = x + 1).
_LATTICE = (0.5 + np.arange(1, 2049)[:, None] * 1.2207440846057596 ** -np.arange(1.0, 4.0)) % 1.0
# The next and the last vertex of a generator with so many.
_NEXT = {1: [0], 2: [1, 0], 3: [1, 2, 0]}
_LAST = {1: [0], 2: [1, 0], 3: [2, 0, 1]}


def nearest_weights(generators: Array, points: Array) -> Array:
    """Weights of the vertices of generators that give their points nearest to points.

    Args:
        generators: (..., k, 3) with k = 1, 2 or 3 vertices.
        points: (..., m, 3); the leading axes broadcast.

    Returns:
        (..., m, k), not negative, each row with the sum one.
    """
    k = generators.shape[-2]
    first = generators[..., :1, :]
    if k == 1:
        return np.ones((*np.broadcast_shapes(first.shape[:-2], points.shape[:-2]), points.shape[-2], 1))
    edges = generators[..., 1:, :] - first
    gram = edges @ np.swapaxes(edges, -1, -2)
    along = (points - first) @ np.swapaxes(edges, -1, -2)
    if k == 2:
        share = _share(along[..., 0], gram[..., 0, 0, None])
        return np.stack([1.0 - share, share], axis=-1)
    return _triangle_weights(gram[..., None, :, :], along)


def _share(along: Array, square: Array) -> Array:
    """Where on an edge the nearest point is, 0…1."""
    return np.clip(along / np.maximum(square, _TINY), 0.0, 1.0)


def _triangle_weights(gram: Array, along: Array) -> Array:
    """Weights on a triangle: the best of the three edges and, where it lies inside, the foot of the perpendicular.

    With w the weights of the second and third vertex, the squared distance is w·G·w − 2 w·x and a constant.

    Args:
        gram: (..., 1, 2, 2) products of the two edges from the first vertex.
        along: (..., m, 2) products x of these edges with the points.
    """
    g11, g12, g22 = gram[..., 0, 0], gram[..., 0, 1], gram[..., 1, 1]
    x1, x2 = along[..., 0], along[..., 1]
    opposite = _share(x2 - x1 + g11 - g12, g11 - 2.0 * g12 + g22)
    zero = np.zeros_like(x1)
    candidates = [(_share(x1, g11), zero), (zero, _share(x2, g22)), (1.0 - opposite, opposite)]
    det = g11 * g22 - g12 * g12
    flat = det <= 1e-14 * g11 * g22
    det = np.where(flat, 1.0, det)
    u, v = (g22 * x1 - g12 * x2) / det, (g11 * x2 - g12 * x1) / det
    inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & ~flat
    best_u, best_v, best = u, v, np.where(inside, -np.inf, np.inf)
    for one, two in candidates:
        value = one * (g11 * one + 2.0 * g12 * two - 2.0 * x1) + two * (g22 * two - 2.0 * x2)
        better = value < best
        best_u, best_v, best = np.where(better, one, best_u), np.where(better, two, best_v), np.minimum(value, best)
    return np.stack([np.maximum(1.0 - best_u - best_v, 0.0), best_u, best_v], axis=-1)


def farthest(generator: Array, points: Array) -> float:
    """Largest distance [m] of points (m, 3) from one generator (k, 3)."""
    feet = nearest_weights(generator, points) @ generator
    return float(np.sqrt(((points - feet) ** 2).sum(axis=-1).max()))


def volume_of(generators: Array, radius: Array) -> Array:
    """Volume of swept volumes (...), as in `volume_slopes`.

    Args:
        generators: (..., k, 3).
        radius: (...).
    """
    return volume_slopes(generators, radius)[0]


def volume_slopes(generators: Array, radius: Array) -> tuple[Array, Array, Array]:
    """Volume of swept volumes, and its derivatives, by Steiner's formula for area A and perimeter P of the generator.

        V = 2 A r + ½ π P r² + 4/3 π r³            [geometry.swept_volume]   J. Steiner 1840

    A segment counts as a triangle without area, so P is twice its length.

    Args:
        generators: (..., k, 3).
        radius: (...).

    Returns:
        The volume (...), its derivatives by the vertices (..., k, 3), and by the radius (...).
    """
    ahead = generators - generators[..., _NEXT[generators.shape[-2]], :]
    length = np.sqrt(np.einsum("...i,...i->...", ahead, ahead))
    unit = ahead / np.maximum(length, _TINY)[..., None]
    perimeter, square = length.sum(axis=-1), radius * radius
    volume = (0.5 * np.pi * perimeter + 4.0 / 3.0 * np.pi * radius) * square
    by_vertex = (0.5 * np.pi * square)[..., None, None] * (unit - unit[..., _LAST[generators.shape[-2]], :])
    by_radius = np.pi * perimeter * radius + 4.0 * np.pi * square
    if generators.shape[-2] < 3:
        return volume, by_vertex, by_radius
    normal = _cross(ahead[..., 0, :], ahead[..., 1, :])
    double_area = np.sqrt(np.einsum("...i,...i->...", normal, normal))
    normal = normal / np.maximum(double_area, _TINY)[..., None]
    by_area = radius[..., None, None] * _cross(ahead[..., _NEXT[3], :], normal[..., None, :])
    return volume + double_area * radius, by_vertex + by_area, by_radius + double_area


def _cross(a: Array, b: Array) -> Array:
    """Cross product along the last axis."""
    return a[..., _NEXT[3]] * b[..., _LAST[3]] - a[..., _LAST[3]] * b[..., _NEXT[3]]


def union_volume(volumes: Sequence[tuple[Array, float]]) -> float:
    """Volume of the union of swept volumes, to about a percent, by counting points of a lattice.

    Args:
        volumes: Generators (k, 3) and radii.
    """
    if len(volumes) == 1:
        return float(volume_of(volumes[0][0], np.array(volumes[0][1])))
    low = np.min([generator.min(axis=0) - radius for generator, radius in volumes], axis=0)
    size = np.max([generator.max(axis=0) + radius for generator, radius in volumes], axis=0) - low
    points = low + size * _LATTICE
    inside = np.zeros(len(points), dtype=bool)
    for generator, radius in volumes:
        away = points - nearest_weights(generator, points) @ generator
        inside |= np.einsum("mi,mi->m", away, away) <= radius * radius
    return float(size.prod() * inside.mean())
