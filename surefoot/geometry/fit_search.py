"""A good swept volume around points: a descent on [fit.cost] from many starts, for many sets of points at once.

The cost has kinks where the farthest point changes; they are smoothed by a soft maximum that hardens from step to step.
Steps after D. P. Kingma, J. Ba: "Adam: a method for stochastic optimization", 2015.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry.fit_cost import EXCESS_WEIGHT, FLAT_VOLUME, Found, MainBox, Whole, beyond_hull, main_box
from surefoot.geometry.fit_nearest import farthest, nearest_weights, volume_slopes

__all__ = ["best_found"]

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
