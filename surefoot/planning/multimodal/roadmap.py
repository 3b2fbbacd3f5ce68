"""Multi-Modal-PRM: one roadmap for each stance, joined by transition states (Hauser & Latombe 2010).

In every round some new stances are taken in, transition states between adjacent stances are sampled into the roadmaps
of both, and new states are joined to their neighbours inside each roadmap, until start and goal are connected. Swings
are planned late, when they are part of a way.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.planning.multimodal.best_first import StancePlanner
from surefoot.planning.multimodal.motions import Motions
from surefoot.planning.multimodal.plan import Clock, Limits, Segment, StancePlan
from surefoot.planning.stances import Key, Move

Node = tuple[Key, int]
"""A state of a roadmap: stance and row."""
_STANCES = 4  # stances that are taken in a round
_MOVES = 8  # out of each of them, the nearest to the goal
_NEAR = 6  # states that a new one is joined to


@dataclass
class _Roadmap:
    """States of one stance and the edges between them.

    Args:
        bases: (n, 6) base poses.
        edges: Row → row → length [m].
    """

    bases: Array = field(default_factory=lambda: np.zeros((0, 6)))
    edges: dict[int, dict[int, float]] = field(default_factory=dict)


class MultiModalRoadmap:
    """Roadmaps of one query.

        plan = MultiModalRoadmap(planner, q, goal=(0.0, 0.3, 0.0), seed=0).solve()

    Args:
        planner: Robot, world, sampling, and the planner of motions inside a stance, which plans the swings.
        q: (nq,) where the robot stands.
        goal: As in `StancePlanner.plan`.
        seed: Of the random numbers.
        limits: What may be spent.
    """

    def __init__(
        self,
        planner: StancePlanner,
        q: Array,
        goal: tuple[float, float, float] | Array,
        seed: int = 0,
        limits: Limits | None = None,
    ) -> None:
        self.rng, self.limits = np.random.default_rng(seed), limits or Limits()
        self.plan, state = planner.empty_plan(q, goal, self.rng)
        self.planner, self.graph = planner, self.plan.graph
        self.motions = Motions(planner.model, planner.single_mode, self.plan, state, self.rng, self.limits)
        self.roadmaps: dict[Key, _Roadmap] = {self.plan.start: _Roadmap(state[None, :6].copy(), {0: {}})}
        self.swings: dict[Node, list[tuple[Node, Move]]] = {}
        self.blocked: set[tuple[Node, Node]] = set()
        self.taken: set[Key] = set()
        self.parents: dict[Key, Key | None] = {self.plan.start: None}

    def solve(self) -> StancePlan:
        """Grow until start and goal are connected, or the limits are reached."""
        plan, statistics = self.plan, self.planner.model.statistics
        plan.reason = plan.reason or plan.unmet
        if plan.reason:
            return plan
        while True:
            with Clock(plan, "connecting"):
                while (way := self._way()) is not None:
                    if self._realise(way):
                        return plan
            if statistics.states >= self.motions.end or len(plan.explored) >= self.limits.stances:
                plan.reason = f"the budget is spent; failed most: {statistics.main_cause()}"
                return plan
            with Clock(plan, "exploring"):
                if not self._grow():
                    plan.reason = f"no stance is left; failed most: {statistics.main_cause()}"
                    return plan

    # -- growing --------------------------------------------------------------------------------------------------

    def _grow(self) -> bool:
        """Take in the stances nearest to the goal; whether there was one."""
        rest = [key for key in self.roadmaps if key not in self.taken and key != self.plan.goal]
        rest.sort(key=lambda key: (self._cost(key), key))
        for stance in rest[:_STANCES]:
            self.taken.add(stance)
            self.plan.explored.append((stance, self.parents[stance]))
            found = self.graph.explore(stance, self.plan.goal, self.roadmaps[stance].bases[0], self.rng)
            best = sorted(found.values(), key=lambda move: (self._cost(move.after), move.after))[:_MOVES]
            best += [move for move in found.values() if move.after == self.plan.goal and move not in best]
            for move in best:
                self._add_transitions(move)
        return bool(rest)

    def _cost(self, stance: Key) -> float:
        weights, reach = self.planner.weights, self.planner.reach
        way = float(self.graph.way_left(stance, self.plan.goal).sum())
        return (weights.distance * way + weights.unlikeness * self.graph.unlikeness(stance)) / reach

    def _add_transitions(self, move: Move) -> None:
        """States in which the foot of a move leaves and lands, in the roadmaps of both stances."""
        self.parents.setdefault(move.after, move.before)
        for base in move.bases[:2]:
            nodes = self._add(move.before, base), self._add(move.after, base)
            self.swings.setdefault(nodes[0], []).append((nodes[1], move))

    def _add(self, stance: Key, base: Array) -> Node:
        """A new state of a roadmap, joined to those near it by straight edges."""
        roadmap = self.roadmaps.setdefault(stance, _Roadmap())
        row, old = len(roadmap.bases), roadmap.bases
        roadmap.bases = np.concatenate([old, base[None]])
        roadmap.edges[row] = {}
        if row:
            lengths = self._lengths(old, base)
            near = np.argsort(lengths, kind="stable")[:_NEAR]
            ends = self.graph.states(stance, np.tile(base, (len(near), 1)))
            free = self.graph.mode(stance).check_edges(self.graph.states(stance, old[near]), ends)
            for k in near[free].tolist():
                roadmap.edges[row][k] = roadmap.edges[k][row] = float(lengths[k])
        return stance, row

    @staticmethod
    def _lengths(bases: Array, base: Array) -> Array:
        out: Array = np.linalg.norm((bases - base) * [1.0, 1.0, 1.0, 0.15, 0.15, 0.15], axis=1)
        return out

    # -- ways -----------------------------------------------------------------------------------------------------

    def _way(self) -> list[Node] | None:
        """The cheapest way through all roadmaps: a swing counts as one, a shift by its length (Dijkstra)."""
        start: Node = (self.plan.start, 0)
        cost: dict[Node, float] = {start: 0.0}
        before: dict[Node, Node] = {}
        queue = [(0.0, start)]
        while queue:
            so_far, node = heapq.heappop(queue)
            if so_far > cost[node]:
                continue
            if node[0] == self.plan.goal:
                way = [node]
                while way[-1] != start:
                    way.append(before[way[-1]])
                return way[::-1]
            nexts = [((node[0], k), length) for k, length in self.roadmaps[node[0]].edges[node[1]].items()]
            nexts += [(after, 1.0) for after, _ in self.swings.get(node, ()) if (node, after) not in self.blocked]
            for after, length in nexts:
                if so_far + length < cost.get(after, np.inf):
                    cost[after], before[after] = so_far + length, node
                    heapq.heappush(queue, (so_far + length, after))
        return None

    def _realise(self, way: list[Node]) -> bool:
        """Segments along a way; a swing that has no motion is blocked, and False returned."""
        segments: list[Segment] = []
        moves: list[Move] = []
        shift = [way[0]]
        for node, after in pairwise(way):
            if node[0] == after[0]:
                shift.append(after)
                continue
            move = next(move for other, move in self.swings[node] if other == after)
            swing = self.motions.swing(move, self.roadmaps[node[0]].bases[node[1]])
            if swing is None:
                self.blocked.add((node, after))
                return False
            segments += [self._shift(shift), swing]
            moves.append(move)
            shift = [after]
        self.plan.moves, self.plan.segments, self.plan.solved = moves, [*segments, self._shift(shift)], True
        return True

    def _shift(self, nodes: list[Node]) -> Segment:
        """The base goes through states of one roadmap."""
        stance = nodes[0][0]
        rows: NDArray[np.int64] = np.array([row for _, row in nodes])
        bases = self.roadmaps[stance].bases[rows if len(rows) > 1 else rows[[0, 0]]]
        return self.motions.segment(self.graph.mode(stance), self.graph.states(stance, bases), stance, None)
