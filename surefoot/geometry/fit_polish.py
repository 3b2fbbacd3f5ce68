"""A swept volume of locally least [fit.cost] around points, from a good one.

Least cost over vertices, radius and reach beyond the hull, with every point within the radius, by sequential least
squares (D. Kraft 1988). Of many points those that matter are taken; what was left out and sticks out is added.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from surefoot.arrays import Array
from surefoot.geometry.fit_cost import (
    EXCESS_WEIGHT,
    FINE,
    FLAT_VOLUME,
    Found,
    Whole,
    main_box,
    spread_directions,
    support_points,
)
from surefoot.geometry.fit_nearest import farthest, nearest_weights, volume_slopes

__all__ = ["polished"]

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
        outside = _sticking_out(generator, full, farthest(generator, core))
        if not len(outside):
            break
        core = np.vstack([core, outside])
    return min(candidates, key=lambda candidate: whole.cost([candidate]))


def _sticking_out(generator: Array, points: Array, radius: float) -> Array:
    """The points that stick out farthest."""
    distance = np.linalg.norm(points - nearest_weights(generator, points) @ generator, axis=1)
    order = np.argsort(-distance, kind="stable")[:_MORE]
    return points[order[distance[order] > radius * (1.0 + 1e-9)]]


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
