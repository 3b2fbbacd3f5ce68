"""Ways round obstacles for the middle of the feet: what the search takes for the distance to the goal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import distance_transform_edt
from scipy.sparse import coo_array
from scipy.sparse.csgraph import dijkstra

from surefoot.arrays import Array
from surefoot.collision.obstacles import PlacedObstacle, world_obstacles
from surefoot.motion import World

_CELLS = 6.0  # of the radius of the robot
_WIDEST = 12.0  # radii of the robot: how far from start and goal a way round may lead
_MOST_CELLS = 100_000
_FLOOR = 0.2  # of the height of the robot: what is lower is stepped over
_STEPS = ((1, 0), (0, 1), (1, 1), (1, -1))


class Detours:
    """Shortest ways over a grid whose free cells are farther from obstacles than the robot is wide.

    Args:
        world: The world; ground, objects that move and what hands may touch are not in the way.
        start: (2,) middle of the feet at the start [m].
        goal: (2,) and at the goal [m].
        radius: Of the feet about their middle [m].
        height: Of the robot [m].
    """

    def __init__(self, world: World, start: Array, goal: Array, radius: float, height: float) -> None:
        ends = np.array([start, goal])
        size = np.ptp(ends, axis=0) + 2.0 * _WIDEST * radius
        self.goal, self._pitch = np.array(goal), max(radius / _CELLS, float(np.sqrt(size.prod() / _MOST_CELLS)))
        self._low = ends.min(axis=0) - _WIDEST * radius
        counts = np.ceil((ends.max(axis=0) + _WIDEST * radius - self._low) / self._pitch).astype(int) + 1
        xy = self._low + self._pitch * np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1)
        taken = np.zeros(tuple(counts), dtype=bool)
        for thing, placed in zip(world.obstacles, world_obstacles(world), strict=False):
            if not thing.touchable:
                taken |= self._under(placed, xy, world, height)
        wide = self._pitch * distance_transform_edt(~taken) if taken.any() else np.full(taken.shape, np.inf)
        self._free: NDArray[np.bool_] = wide > radius
        self._known: dict[int, tuple[Array, float]] = {}
        self._before, self._left, self._nearest = self._ways()
        begin = np.unravel_index(self._cell(ends[0]), self._free.shape)
        begin = tuple(distance_transform_edt(~self._free, return_distances=False, return_indices=True)[:, *begin])
        reached = bool(np.isfinite(self._left.reshape(self._free.shape)[begin]))
        self.needed = not self.sees(*ends) and reached
        """Whether the straight way is blocked, and another one is known."""

    def _under(self, placed: PlacedObstacle, xy: Array, world: World, height: float) -> NDArray[np.bool_]:
        """Cells over which an obstacle stands between what is stepped over and the height of the robot."""
        flat = xy.reshape(-1, 2)
        ground = np.nan_to_num(world.height(flat[:, 0], flat[:, 1]), neginf=0.0)
        low = _FLOOR * height + 0.5 * self._pitch
        posts = np.stack([np.c_[flat, ground + z] for z in (low, max(low, height))], axis=1)
        found = placed.nearest(posts, np.full(len(flat), self._pitch))
        return np.asarray(found.distance < 0.5 * self._pitch).reshape(xy.shape[:2])

    def _ways(self) -> tuple[NDArray[np.int64], Array, NDArray[np.int64]]:
        """For each cell the next one to the goal, the way left [m], and the nearest cell with a way (Dijkstra)."""
        shape = self._free.shape
        numbers = np.arange(self._free.size).reshape(shape)
        rows, columns, lengths = [], [], []
        for dx, dy in _STEPS:
            a = (slice(0, shape[0] - dx), slice(max(0, -dy), shape[1] - max(0, dy)))
            b = (slice(dx, shape[0]), slice(max(0, dy), shape[1] - max(0, -dy)))
            both = self._free[a] & self._free[b]
            rows.append(numbers[a][both])
            columns.append(numbers[b][both])
            lengths.append(np.full(int(both.sum()), self._pitch * np.hypot(dx, dy)))
        entries = np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))
        graph = coo_array(entries, shape=(self._free.size,) * 2).tocsr()
        left, before = dijkstra(graph, directed=False, indices=self._cell(self.goal), return_predecessors=True)
        x, y = distance_transform_edt(~np.isfinite(left).reshape(shape), return_distances=False, return_indices=True)
        return np.asarray(before, dtype=np.int64), left, numbers[x, y].ravel()

    def _cell(self, place: Array) -> int:
        x, y = np.clip(np.round((place - self._low) / self._pitch).astype(int), 0, np.array(self._free.shape) - 1)
        return int(x * self._free.shape[1] + y)

    def _place(self, cell: int) -> Array:
        return self._low + self._pitch * np.array(divmod(cell, self._free.shape[1]))

    def sees(self, a: Array, b: Array) -> bool:
        """Whether the straight way between two places (2,) is wide enough.

        Args:
            a: [m].
            b: [m].
        """
        count = max(2, int(np.ceil(float(np.linalg.norm(b - a)) / (0.5 * self._pitch))))
        along = a + np.linspace(0.0, 1.0, count)[:, None] * (b - a)
        cells = np.round((along - self._low) / self._pitch).astype(int)
        cells = np.clip(cells, 0, np.array(self._free.shape) - 1)
        return bool(self._free[cells[:, 0], cells[:, 1]].all())

    def next(self, place: Array) -> tuple[Array, float]:
        """Where to go straight from a place (2,) [m], and the way that is left from there [m].

        Args:
            place: Middle of the feet [m].
        """
        cell = self._cell(place)
        if cell not in self._known:
            self._known[cell] = self._corner(cell)
        return self._known[cell]

    def _corner(self, cell: int) -> tuple[Array, float]:
        """The farthest place of the way that can be seen, and the way that is left there."""
        nearest = int(self._nearest[cell])
        if nearest != cell:
            return self._place(nearest), float(self._left[nearest])
        way, here = [cell], self._place(cell)
        while self._before[way[-1]] >= 0:
            way.append(int(self._before[way[-1]]))
        best = max((k for k in range(len(way)) if self.sees(here, self._place(way[k]))), default=0)
        return (self.goal if best == len(way) - 1 else self._place(way[best])), float(self._left[way[best]])

    def corners(self, start: Array) -> Array:
        """(k, 2) where the way from a place turns [m]; the goal is the last.

        Args:
            start: (2,) [m].
        """
        out, left = [np.array(start)], np.inf
        while left > 0.0:
            place, left = self.next(out[-1])
            out.append(place)
        return np.array(out[1:])
