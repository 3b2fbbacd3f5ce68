"""The best swept volume around points: a descent from many starts at once, then a polish of the best.

For a generator G the smallest radius is the largest distance of the points from G, so volume V and excess e (how far it
reaches beyond the hull of the whole shape) are functions of the vertices of G alone. What is minimised is

    log(V / s³ + v) + w e / s            [fit.cost]   s: half the diagonal of the main box of the whole

with v = 0.01, so that volume does not count for what is flat, and w = 2: a hundredth of s in excess is worth two percent
of volume; ande = r + the largest n·g − h(n) over vertices g and directions n, h the support function of the whole
(`surefoot.geometry.fit_excess`). Volume alone gives generators with long spikes, excess alone gives fat ones.

The cost has kinks where the farthest point changes. Descent: they are smoothed by a soft maximum that hardens from step
to step (steps after D. P. Kingma, J. Ba: "Adam: a method for stochastic optimization", 2015). Polish: least cost over G,
r and e with every point within r of G, by sequential least squares (D. Kraft 1988), started at the best found; points
that were left out and stick out are added until there are none.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.geometry.fit_nearest import farthest, nearest_weights, union_volume, volume_slopes

__all__ = ["Found", "Whole", "best_found", "main_box", "polished", "spread_directions", "support_points"]

Array = NDArray[np.float64]
_WEIGHT, _FLAT = 2.0, 0.01  # w and v of [fit.cost]
_COARSE, _FINE = 32, 128  # directions in which the descent and the polish look at the excess
_KINDS = (1, 2, 3)
_ROUNDS = 4  # of the polish, each with more points


class Found(NamedTuple):
    """A swept volume around points.

    Args:
        generator: (k, 3) [m].
        radius: The largest distance of the points from it [m].
    """

    generator: Array
    radius: float


class _Box(NamedTuple):
    """A box around points along their principal axes, the longest edge first.

    Args:
        centre: (3,).
        axes: (3, 3), one axis in each row.
        half: (3,) half edges.
    """

    centre: Array
    axes: Array
    half: Array


class Whole(NamedTuple):
    """What an excess is measured from: the hull of a whole shape.

    Args:
        points: (m, 3) [m], those that are farthest in many directions.
        size: Half the diagonal of the main box [m].
    """

    points: Array
    size: float

    @classmethod
    def of(cls, points: Array) -> Whole:
        """The hull of points (n, 3)."""
        return cls(np.unique(support_points(points, 2 * _FINE), axis=0), _scale(main_box(points)))

    def heights(self, count: int, centres: Array, scales: Array) -> Array:
        """How far it reaches in `count` directions, from centres (b, 3) and in units of scales (b,): (b, count)."""
        directions = spread_directions(count)
        return ((self.points @ directions.T).max(axis=0) - centres @ directions.T) / scales[:, None]

    def cost(self, found: Sequence[Found]) -> float:
        """[fit.cost] of several volumes: with the volume of their union and the largest excess."""
        volume = union_volume([(best.generator, best.radius) for best in found])
        heights = self.heights(_FINE, np.zeros((1, 3)), np.ones(1))
        excess = max(best.radius + float(_beyond(heights, best.generator[None])[0][0]) for best in found)
        return float(np.log(volume / self.size**3 + _FLAT)) + _WEIGHT * excess / self.size


@functools.cache
def spread_directions(count: int) -> Array:
    """Unit vectors spread evenly over the sphere, on a spiral of the golden angle, (count, 3)."""
    height = 1.0 - (2.0 * np.arange(count) + 1.0) / count
    turn = np.pi * (3.0 - np.sqrt(5.0)) * np.arange(count)
    ring = np.sqrt(1.0 - height**2)
    return np.column_stack([ring * np.cos(turn), ring * np.sin(turn), height])


def support_points(points: Array, count: int) -> Array:
    """The points that are farthest in evenly spread directions, (count, 3); a point may come several times."""
    return points[np.argmax(points @ spread_directions(count).T, axis=0)]


def main_box(points: Array) -> _Box:
    """The box along the principal axes of points (m, 3)."""
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1].T
    inside = points @ axes.T
    low, high = inside.min(axis=0), inside.max(axis=0)
    order = np.argsort(low - high, kind="stable")
    return _Box(0.5 * (low + high) @ axes, axes[order], 0.5 * (high - low)[order])


def best_found(sets: Array, whole: Whole, gain: float, planes: int = 2, steps: int = 60) -> list[Found]:
    """Around each set of points the swept volume of least cost, as far as a descent finds it.

    Args:
        sets: (s, m, 3) [m]; the sets are worked on together.
        whole: What the excess is measured from.
        gain: A generator with one vertex more must lower the logarithm of the volume by this share.
        planes: As in `_starts`.
        steps: As in `_descend`.

    Returns:
        s volumes.
    """
    boxes = [main_box(points) for points in sets]
    scales = np.array([_scale(box) for box in boxes])
    centres = np.array([box.centre for box in boxes])
    scaled = (sets - centres[:, None]) / scales[:, None, None]
    units = [_Box(np.zeros(3), box.axes, box.half / scale) for box, scale in zip(boxes, scales, strict=True)]
    share = scales / whole.size
    tasks = _Tasks(scaled, whole.heights(_COARSE, centres, scales), _WEIGHT * share, _FLAT / share**3)
    chosen = _best_of_kind(tasks, units, _KINDS[0], planes, steps)
    for k in _KINDS[1:]:
        other = _best_of_kind(tasks, units, k, planes, steps)
        chosen = [b if b[1] < a[1] + np.log1p(-gain) else a for a, b in zip(chosen, other, strict=True)]
    return [
        Found(g := centre + scale * generator, farthest(g, points))
        for (generator, _), points, centre, scale in zip(chosen, sets, centres, scales, strict=True)
    ]


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


def _scale(box: _Box) -> float:
    """Half the diagonal; one for a point."""
    return float(np.linalg.norm(box.half)) or 1.0


def _best_of_kind(
    tasks: _Tasks, boxes: list[_Box], vertices: int, planes: int, steps: int
) -> list[tuple[Array, float]]:
    """The best generator with so many vertices, and its cost, for each set."""
    begin = np.array([
        np.vstack([_starts(box, vertices, planes), _corners(points)[None, :vertices]])
        for box, points in zip(boxes, tasks.points, strict=True)
    ])  # fmt: skip
    count = begin.shape[1]
    moved, costs = _descend(
        _Tasks(*(np.repeat(part, count, axis=0) for part in tasks)), begin.reshape(-1, vertices, 3), steps
    )
    best = np.argmin(costs.reshape(-1, count), axis=1) + count * np.arange(len(boxes))
    return [(moved[i], float(costs[i])) for i in best]


def _starts(box: _Box, vertices: int, planes: int) -> Array:
    """Generators to start from, along the axes of a box, (n, vertices, 3).

    Args:
        box: From `main_box`.
        vertices: 1, 2 or 3.
        planes: In how many of its planes triangles, and along how many of its axes lines are put.
    """
    if vertices == 1:
        return box.centre[None, None]
    found = []
    pairs = ((0, 1), (0, 2), (1, 2))[:planes]
    for i, j in pairs if vertices == 3 else ((k, (k + 1) % 3) for k in range(planes)):
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
    centre = points.mean(axis=0)
    first = points[np.argmax(np.linalg.norm(points - centre, axis=1))]
    second = points[np.argmax(np.linalg.norm(points - first, axis=1))]
    line = np.array([first, second])
    third = points[np.argmax(np.linalg.norm(points - nearest_weights(line, points) @ line, axis=1))]
    return np.array([first, second, third])


def _descend(tasks: _Tasks, generators: Array, steps: int) -> tuple[Array, Array]:
    """Move the vertices of generators so that the costs of the volumes around their points fall.

    Args:
        tasks: b tasks.
        generators: (b, k, 3).
        steps: Number of steps.

    Returns:
        The best generators on the way (b, k, 3) and their costs (b,).
    """
    g = generators.copy()
    best, best_cost = g.copy(), np.full(len(g), np.inf)
    mean, square = np.zeros_like(g), np.zeros((len(g), 1, 1))
    for step in range(steps):
        done = step / max(steps - 1, 1)
        cost, slope = _soft_slope(tasks, g, softness=0.05 * 0.02**done)
        better = cost < best_cost
        best[better], best_cost[better] = g[better], cost[better]
        mean = 0.8 * mean + 0.2 * slope
        square = 0.95 * square + 0.05 * np.mean(slope**2, axis=(1, 2), keepdims=True)
        root = np.sqrt(square / (1.0 - 0.95 ** (step + 1)))
        g = g - 0.1 * 0.02**done * mean / (1.0 - 0.8 ** (step + 1)) / np.maximum(root, 1e-12)
    return best, best_cost


def _soft_slope(tasks: _Tasks, g: Array, softness: float) -> tuple[Array, Array]:
    """Costs (b,) and their slopes by the vertices, with a soft maximum in place of the largest distance (b, k, 3)."""
    weights = nearest_weights(g, tasks.points)
    away = tasks.points - weights @ g
    distance = np.sqrt(np.einsum("bmi,bmi->bm", away, away))
    radius = distance.max(axis=-1)
    share = np.exp((distance - radius[:, None]) / softness)
    pull = (share / share.sum(axis=-1, keepdims=True) / np.maximum(distance, 1e-12))[..., None] * away
    by_radius_of_vertex = -(np.swapaxes(weights, -1, -2) @ pull)
    volume, by_vertex, by_radius = volume_slopes(g, radius)
    volume = volume + tasks.flat
    beyond, by_beyond = _beyond(tasks.heights, g)
    slope = by_vertex / volume[:, None, None] + tasks.weights[:, None, None] * by_beyond
    slope += (by_radius / volume + tasks.weights)[:, None, None] * by_radius_of_vertex
    return np.log(volume) + tasks.weights * (radius + beyond), slope


def _beyond(heights: Array, g: Array) -> tuple[Array, Array]:
    """Largest signed distance of vertices (b, k, 3) from a hull of such heights (b, n): (b,), and its slope."""
    directions = spread_directions(heights.shape[-1])
    above = (g @ directions.T - heights[:, None, :]).reshape(len(g), -1)
    worst = np.argmax(above, axis=1)
    rows = np.arange(len(g))
    vertex, direction = np.divmod(worst, len(directions))
    slope = np.zeros_like(g)
    slope[rows, vertex] = directions[direction]
    return above[rows, worst], slope


def polished(found: Found, points: Array, whole: Whole) -> Found:
    """A volume of locally least cost around points, from a good one.

    Args:
        found: The start.
        points: (m, 3) [m], all that must be inside.
        whole: What the excess is measured from.
    """
    core = support_points(points, _FINE)
    box = main_box(core)
    scale, centre = _scale(box), box.centre
    heights = whole.heights(_FINE, centre[None], np.array([scale]))[0]
    full, core, generator = (points - centre) / scale, (core - centre) / scale, (found.generator - centre) / scale
    best = whole.cost([found]), found.generator
    for _ in range(_ROUNDS):
        generator = _least_cost(generator, core, heights, scale / whole.size)
        moved = centre + scale * generator
        cost = whole.cost([Found(moved, farthest(moved, points))])
        best = (cost, moved) if cost < best[0] else best
        outside = _outside(generator, full, farthest(generator, core))
        if not len(outside):
            break
        core = np.vstack([core, outside])
    return Found(best[1], farthest(best[1], points))


def _outside(generator: Array, points: Array, radius: float) -> Array:
    """The points that stick out farthest, at most 32."""
    distance = np.linalg.norm(points - nearest_weights(generator, points) @ generator, axis=1)
    order = np.argsort(-distance, kind="stable")[:32]
    return points[order[distance[order] > radius * (1.0 + 1e-9)]]


def _least_cost(generator: Array, points: Array, heights: Array, share: float) -> Array:
    """Least cost over vertices, radius and reach beyond the hull, every point inside, by sequential least squares."""
    from scipy.optimize import minimize

    k, weight, flat = len(generator), _WEIGHT * share, _FLAT / share**3
    directions = spread_directions(len(heights))
    distance = np.linalg.norm(points - nearest_weights(generator, points) @ generator, axis=1)
    near = points[distance >= 0.7 * distance.max()]
    above = generator @ directions.T - heights
    vertex, direction = np.nonzero(above >= above.max() - 0.2)
    reach = np.zeros((len(vertex), k, 3))
    reach[np.arange(len(vertex)), vertex] = -directions[direction]
    reach_slope = np.hstack([reach.reshape(len(vertex), -1), np.zeros((len(vertex), 1)), np.ones((len(vertex), 1))])

    def objective(x: Array) -> tuple[float, Array]:
        volume, by_vertex, by_radius = volume_slopes(x[None, :-2].reshape(1, k, 3), x[-2:-1])
        volume = volume + flat
        cost = float(np.log(volume[0])) + weight * (x[-2] + x[-1])
        return cost, np.concatenate([by_vertex.ravel() / volume, by_radius / volume + weight, [weight]])

    def room(x: Array) -> Array:
        g = x[:-2].reshape(k, 3)
        inside = x[-2] - np.linalg.norm(near - nearest_weights(g, near) @ g, axis=1)
        return np.concatenate([inside, reach_slope @ x + heights[direction]])

    def room_slope(x: Array) -> Array:
        g = x[:-2].reshape(k, 3)
        weights = nearest_weights(g, near)
        away = near - weights @ g
        away = away / np.maximum(np.linalg.norm(away, axis=1, keepdims=True), 1e-12)
        rows = (weights[:, :, None] * away[:, None, :]).reshape(len(near), -1)
        return np.vstack([np.hstack([rows, np.ones((len(near), 1)), np.zeros((len(near), 1))]), reach_slope])

    found = minimize(
        objective, np.concatenate([generator.ravel(), [distance.max(), above.max()]]), jac=True, method="SLSQP",
        bounds=[(None, None)] * (3 * k) + [(0.0, None), (None, None)],
        constraints={"type": "ineq", "fun": room, "jac": room_slope}, options={"maxiter": 60, "ftol": 1e-9},
    )  # fmt: skip
    return found.x[:-2].reshape(k, 3) if np.isfinite(found.x).all() else generator
