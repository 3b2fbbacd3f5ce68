"""Motions inside one stance: a bidirectional planner with lazy edges, in batches, and shortcuts on what it finds.

Two trees grow from start and goal, a batch of states at a time; edges are looked at only when a bridge between the
trees makes a path of them, all edges of it in one batch (SBL: Sánchez & Latombe 2003). Before that, the straight edge
is tried, and for feet that swing a lift, a way over, and a drop, at several heights together.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.planning.space import Mode

Indices = NDArray[np.int64]
LIFTS = np.array([0.02, 0.03, 0.045, 0.065, 0.09, 0.12, 0.16])
"""Heights of swings that are tried before any search [m]."""


@dataclass(frozen=True)
class Budget:
    """What a single-mode planner may spend.

    Args:
        states: Checked states; together with a seed it decides the result, whatever the speed of the machine.
        batch: New states of each tree in a round.
        step: Largest way of one extension [m].
    """

    states: int = 4_000
    batch: int = 48
    step: float = 0.06


SingleMode = Callable[[Mode, Array, Array, np.random.Generator, Budget], Array | None]
"""planner(mode, start, goal, rng, budget) → (k, 6 + 3 L) corners of a path, or None."""


def connect(mode: Mode, start: Array, goal: Array, rng: np.random.Generator, budget: Budget) -> Array | None:
    """A path between two allowed states of a stance, or None if the budget is spent.

    Args:
        mode: The stance.
        start: (6 + 3 L,).
        goal: (6 + 3 L,).
        rng: Random numbers.
        budget: What may be spent.
    """
    direct = straight(mode, start, goal)
    return direct if direct is not None else bidirectional(mode, start, goal, rng, budget)


def straight(mode: Mode, start: Array, goal: Array) -> Array | None:
    """The straight edge, or the lowest lift, way over and drop of the feet that swing; None if all are blocked.

    Args:
        mode: The stance.
        start: (6 + 3 L,).
        goal: (6 + 3 L,).
    """
    swinging = mode.swings
    if not len(swinging) or np.allclose(start[6:], goal[6:]):
        return np.array([start, goal]) if mode.check_edges(start[None], goal[None])[0] else None
    columns = 8 + 3 * swinging
    risen, above = np.tile(start, (len(LIFTS), 1)), np.tile(goal, (len(LIFTS), 1))
    top = np.maximum(start[columns], goal[columns]) + LIFTS[:, None]
    risen[:, columns], above[:, columns] = top, top
    ends = np.tile(goal, (len(LIFTS), 1))
    starts = np.concatenate([np.tile(start, (len(LIFTS), 1)), risen, above])
    corners = mode.check(np.concatenate([risen, above])).valid.reshape(2, -1).all(axis=0)
    if not corners.any():
        return None
    rows = np.tile(corners, 3)
    free = np.zeros(3 * len(LIFTS), dtype=bool)
    free[rows] = mode.check_edges(starts[rows], np.concatenate([risen, above, ends])[rows])
    works = np.flatnonzero(free.reshape(3, -1).all(axis=0))
    if not len(works):
        return None
    k = int(works[0])
    return np.array([start, risen[k], above[k], goal])


def bidirectional(mode: Mode, start: Array, goal: Array, rng: np.random.Generator, budget: Budget) -> Array | None:
    """Two trees with lazy edges.

    Args:
        mode: The stance.
        start: (6 + 3 L,).
        goal: (6 + 3 L,).
        rng: Random numbers.
        budget: What may be spent.
    """
    trees = (_Tree(mode, start), _Tree(mode, goal))
    sampler = Sampler(mode, start, goal)
    end = mode.statistics.states + budget.states
    while mode.statistics.states < end:
        for grown, other in (trees, trees[::-1]):
            fresh = grown.grow(sampler.around(grown, budget, rng))
            for a, b in other.bridges(grown, fresh):
                if grown.alive[a] and other.alive[b] and grown.joins(other, a, b):
                    halves = grown.way(a), other.way(b)
                    first, second = halves if grown is trees[0] else halves[::-1]
                    return np.concatenate([first, second[::-1]])
        if not (trees[0].alive[0] and trees[1].alive[0]):
            return None
    return None


class Sampler:
    """Random states between and around two states of a stance.

    Args:
        mode: The stance.
        start: (6 + 3 L,).
        goal: (6 + 3 L,).
    """

    def __init__(self, mode: Mode, start: Array, goal: Array) -> None:
        self.mode, ends = mode, np.array([start, goal])
        room = np.full(len(start), 0.08)
        room[3:6] = 0.3
        self.low, self.high = ends.min(axis=0) - room, ends.max(axis=0) + room
        for k in mode.swings:
            self.high[8 + 3 * k] += 0.1
            self.low[8 + 3 * k] += 0.06
        self._fixed = np.setdiff1d(np.arange(len(start)), mode.free)
        self.low[self._fixed] = self.high[self._fixed] = start[self._fixed]

    def uniform(self, count: int, rng: np.random.Generator) -> Array:
        """(count, 6 + 3 L) anywhere.

        Args:
            count: How many.
            rng: Random numbers.
        """
        return rng.uniform(self.low, self.high, size=(count, len(self.low)))

    def around(self, tree: _Tree, budget: Budget, rng: np.random.Generator) -> tuple[Array, Indices]:
        """New states and the nodes of a tree that they hang on: half towards random states, half close by.

        Args:
            tree: The tree.
            budget: Batch and step.
            rng: Random numbers.
        """
        count = budget.batch
        nodes = np.flatnonzero(tree.alive)
        targets = self.uniform(count, rng)
        parents = nodes[tree.nearest(targets[: count // 2], nodes)]
        few = nodes[rng.integers(len(nodes), size=(count - len(parents), 2))]
        parents = np.concatenate(
            [parents, np.where(tree.crowd[few[:, 0]] < tree.crowd[few[:, 1]], few[:, 0], few[:, 1])]
        )
        way = targets - tree.states[parents]
        length = self.mode.model.chart.distance(targets, tree.states[parents])
        step = budget.step * rng.uniform(0.3, 1.0, size=count)
        return tree.states[parents] + way * np.minimum(step / np.maximum(length, 1e-12), 1.0)[:, None], parents


class _Tree:
    """States that hang on each other by edges; whether an edge is free is looked at late, and once."""

    def __init__(self, mode: Mode, root: Array) -> None:
        self.mode, self.states = mode, root[None].copy()
        self.parents = np.array([-1])
        self.alive, self.proven, self.crowd = np.ones(1, dtype=bool), np.ones(1, dtype=bool), np.zeros(1)

    def nearest(self, targets: Array, nodes: Indices) -> Indices:
        """For each target the place in `nodes` of the nearest one."""
        weights = np.ones(self.states.shape[1])
        weights[3:6] = 0.15
        a, b = targets * weights, self.states[nodes] * weights
        squares = (b * b).sum(axis=1) - 2.0 * a @ b.T
        return np.asarray(np.argmin(squares, axis=1))

    def grow(self, proposals: tuple[Array, Indices]) -> Indices:
        """Hang allowed states on; returns their nodes."""
        states, parents = proposals
        valid = self.mode.check(self.mode.put_feet(states)).valid
        first = len(self.states)
        np.add.at(self.crowd, parents, 1.0)
        self.states = np.concatenate([self.states, self.mode.put_feet(states[valid])])
        self.parents = np.concatenate([self.parents, parents[valid]])
        count = len(self.states) - first
        self.alive = np.concatenate([self.alive, np.ones(count, dtype=bool)])
        self.proven = np.concatenate([self.proven, np.zeros(count, dtype=bool)])
        self.crowd = np.concatenate([self.crowd, self.crowd[parents[valid]]])
        return np.arange(first, len(self.states))

    def bridges(self, other: _Tree, fresh: Indices) -> list[tuple[int, int]]:
        """Pairs (node of the other tree, node of this one) that are worth a look, the shortest first."""
        nodes = np.flatnonzero(self.alive)
        if not len(fresh) or not len(nodes):
            return []
        near = nodes[self.nearest(other.states[fresh], nodes)]
        length = self.mode.model.chart.distance(other.states[fresh], self.states[near])
        best = np.argsort(length, kind="stable")[:3]
        return [(int(fresh[k]), int(near[k])) for k in best]

    def joins(self, other: _Tree, a: int, b: int) -> bool:
        """Whether the path through node a here and node b of the other tree is free; cuts off what is not."""
        edges = [
            (tree, node) for tree, end in ((self, a), (other, b)) for node in tree.line(end) if not tree.proven[node]
        ]
        starts = [tree.states[tree.parents[node]] for tree, node in edges] + [self.states[a]]
        ends = [tree.states[node] for tree, node in edges] + [other.states[b]]
        free = self.mode.check_edges(np.array(starts), np.array(ends))
        for (tree, node), works in zip(edges, free[:-1], strict=True):
            if works:
                tree.proven[node] = True
            else:
                tree.cut(node)
        return bool(free.all())

    def line(self, node: int) -> list[int]:
        """Nodes from one to below the root."""
        out = []
        while self.parents[node] >= 0:
            out.append(node)
            node = int(self.parents[node])
        return out

    def way(self, node: int) -> Array:
        """(k, 6 + 3 L) states from the root to a node."""
        return self.states[[0, *self.line(node)[::-1]]]

    def cut(self, node: int) -> None:
        """Take off a node and all that hangs on it."""
        gone = np.zeros(len(self.states), dtype=bool)
        gone[node] = True
        while True:
            more = gone | (gone[self.parents] & (self.parents >= 0))
            if (more == gone).all():
                break
            gone = more
        self.alive &= ~gone


SINGLE_MODE: Mapping[str, SingleMode] = MappingProxyType({"connect": connect, "bidirectional": bidirectional})
"""Planners of motions inside a stance, by name."""


def shorten(mode: Mode, path: Array, rng: np.random.Generator, rounds: int = 4, batch: int = 24) -> Array:
    """A path with shortcuts between random places, as long as they are free: the one that saves most in each round.

    Args:
        mode: The stance.
        path: (k, 6 + 3 L) corners.
        rng: Random numbers.
        rounds: How often.
        batch: Shortcuts that are looked at together.
    """
    distance = mode.model.chart.distance
    for _ in range(rounds):
        if len(path) < 3:
            break
        along = np.concatenate([[0.0], np.cumsum(distance(path[:-1], path[1:]))])
        places = np.sort(rng.uniform(0.0, along[-1], size=(batch, 2)), axis=1)
        places[0] = 0.0, along[-1]
        starts, ends = (mode.put_feet(_at(path, along, places[:, k])) for k in (0, 1))
        saved = places[:, 1] - places[:, 0] - distance(starts, ends)
        saved[~mode.check_edges(starts, ends)] = -np.inf
        best = int(np.argmax(saved))
        if saved[best] > 1e-6:
            a, b = places[best]
            inner = (along > a) & (along < b)
            before, after = path[~inner & (along <= a)], path[~inner & (along >= b)]
            path = _without_repeats(np.concatenate([before, starts[best : best + 1], ends[best : best + 1], after]))
    return path


def prune(mode: Mode, path: Array) -> Array:
    """A path without the corners that it does not need: the first that can go is taken out, until none can.

    Args:
        mode: The stance.
        path: (k, 6 + 3 L) corners.
    """
    while len(path) > 2:
        free = np.flatnonzero(mode.check_edges(path[:-2], path[2:]))
        if not len(free):
            break
        path = np.delete(path, int(free[0]) + 1, axis=0)
    return path


def smooth(mode: Mode, path: Array, rounds: int = 4) -> Array | None:
    """Points of a curve without corners near a path: a quadratic B-spline with the path's corners as its polygon.

    Where the curve is not allowed, the polygon is halved, which takes the curve nearer to it; None if this fails.

    Args:
        mode: The stance.
        path: (k, 6 + 3 L) corners, k ≥ 3.
        rounds: How often the polygon is halved.
    """
    for _ in range(rounds):
        curve = mode.put_feet(_spline(path))
        if mode.check(curve).valid.all() and mode.check_edges(curve[:-1], curve[1:]).all():
            return curve
        halved = np.empty((2 * len(path) - 1, path.shape[1]))
        halved[::2], halved[1::2] = path, 0.5 * (path[:-1] + path[1:])
        path = halved
    return None


def _spline(path: Array, points: int = 9) -> Array:
    """(n, …) a clamped quadratic B-spline: for every inner corner an arc between the middles of its edges."""
    ends = 0.5 * (path[:-1] + path[1:])
    ends[0], ends[-1] = path[0], path[-1]
    t = np.linspace(0.0, 1.0, points)[:, None]
    arcs = [
        (1.0 - t) ** 2 * ends[k] + 2.0 * t * (1.0 - t) * path[k + 1] + t**2 * ends[k + 1] for k in range(len(path) - 2)
    ]
    return np.concatenate([arcs[0], *(arc[1:] for arc in arcs[1:])])


def _at(path: Array, along: Array, places: Array) -> Array:
    k = np.clip(np.searchsorted(along, places, side="right") - 1, 0, len(path) - 2)
    share = (places - along[k]) / np.maximum(along[k + 1] - along[k], 1e-12)
    out: Array = path[k] + share[:, None] * (path[k + 1] - path[k])
    return out


def _without_repeats(path: Array) -> Array:
    keep = np.concatenate([[True], np.abs(np.diff(path, axis=0)).max(axis=1) > 1e-12])
    return path[keep]
