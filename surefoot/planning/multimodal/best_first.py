"""The multi-modal planner: best-first search over stances, then motions through them, with back-tracking.

Stances are explored in the order of (cost of the way to them) + (cost of the stance): unlikeness to home, distance to
the goal, tries that a transition took, and a penalty where no foot is on its goal. When the goal is cheapest, motions
are planned along the cheapest way; a move without a motion gets dearer and the search goes on (Wimmer 2016, app. A).
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from surefoot.arrays import Array, finite_array, number
from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.planning.connect import SingleMode, connect
from surefoot.planning.detours import Detours
from surefoot.planning.footholds import Footholds, foothold_grid, footholds_at, hand_holds, standable
from surefoot.planning.multimodal.motions import Motions
from surefoot.planning.multimodal.plan import Clock, Limits, StancePlan
from surefoot.planning.multimodal.sequence import StanceSequence
from surefoot.planning.multimodal.shorter import shorten_moves
from surefoot.planning.multimodal.stored import StanceRoadmap
from surefoot.planning.space import Margins, StanceModel, main_cause
from surefoot.planning.stances import Key, Move, Sampling, StanceGraph, nearest_foothold
from surefoot.robot import Robot

_PATIENCE = 30  # stances that are explored for a cheaper way once the goal was found
_FAILURES = 200  # of motions before a search is given up
_STALL = 100  # stances without a step nearer to a goal that cannot be met, before a search is given up
_WIDTH = 1.1  # of the distance of the feet from their middle: how wide a robot is on its way round obstacles
_GROUND = 0.02  # [m]: feet that are farther from the ground do not stand
_THERE = 1e-6  # [m]: feet that are nearer to their goals are on them


@dataclass(frozen=True)
class Weights:
    """Costs of the search, in moves.

    Args:
        unlikeness: For each reach of a leg that feet are off their places at home.
        distance: For each reach of a leg that a foot is away from its goal; a foot that is not there costs a move at
            least.
        tries: For each further state that a transition took.
        stranger: For a stance without any foot on its goal.
        failure: What a move without a motion gets dearer by.
    """

    unlikeness: float = 4.0
    distance: float = 2.5
    tries: float = 0.02
    stranger: float = 2.0
    failure: float = 4.0


class StancePlanner:
    """Plans of stances and motions for one robot in one world.

        planner = StancePlanner(robot, world)
        plan = planner.plan(q, goal=(0.0, 1.0, 0.0), seed=0)
        plan.solved, plan.moves, plan.segments

    Args:
        robot: A robot with legs, and hands that may hold on to touchable obstacles of the world.
        world: The world.
        margins: What states must keep.
        sampling: How stances are explored.
        single_mode: What plans motions inside a stance; our own planner if omitted.
        weights: Costs of the search.

    Raises:
        NotSupportedError: A limb of the robot has too few joints.
    """

    def __init__(
        self,
        robot: Robot,
        world: World,
        margins: Margins | None = None,
        sampling: Sampling | None = None,
        single_mode: SingleMode = connect,
        weights: Weights | None = None,
    ) -> None:
        self.model = StanceModel(robot, world, margins)
        self.sampling, self.single_mode, self.weights = sampling or Sampling(), single_mode, weights or Weights()
        self.reach = 0.5 * min(self.model.chart.limbs[k].span for k in self.model.feet)

    def plan(
        self,
        q: Array,
        goal: tuple[float, float, float] | Array,
        seed: int = 0,
        limits: Limits | None = None,
        progress: Callable[[StancePlan, float], None] | None = None,
        region: float = 0.0,
        roadmap: StanceRoadmap | None = None,
    ) -> StancePlan:
        """A plan from a configuration to footholds; hands may end anywhere.

        Args:
            q: (nq,) where the robot stands.
            goal: By how much all feet are to go (x, y) [m] and turn about the base [rad]; or (L, 2) places of the feet.
            seed: Of the random numbers.
            limits: What may be spent.
            progress: Called with the plan and the share of the way to the goal that some stance has come, 0…1; the
                moves of the plan lead to that stance.
            region: How far feet may end from their goals [m].
            roadmap: Stances and moves that earlier plans in this world found.

        Raises:
            ShapeError: Numbers are missing or not finite.
            NotSupportedError: The goal is so far away that a grid of footholds would be too large.
        """
        rng, region = np.random.default_rng(seed), number(region, "region")
        plan, state = self.empty_plan(q, goal, rng, roadmap, region)
        if not plan.reason:
            _Search(self, plan, state, rng, limits or Limits(), progress, region).run()
        return plan

    def empty_plan(
        self,
        q: Array,
        goal: tuple[float, float, float] | Array,
        rng: np.random.Generator,
        roadmap: StanceRoadmap | None = None,
        region: float = 0.0,
    ) -> tuple[StancePlan, Array]:
        """Footholds, first stance and goal of a query, and its first state; `reason` says if the robot cannot stand.

        Args:
            q: (nq,) where the robot stands.
            goal: As in `plan`.
            rng: Random numbers.
            roadmap: As in `plan`.
            region: As in `plan`.
        """
        state = self.model.chart.state_of(finite_array(q, (self.model.robot.nq,), "q"))
        places = self._goal_places(state, goal)
        plan = StancePlan(*self._scene(state, places, rng, roadmap), state)
        if self._stands(plan, state):
            plan.unmet = self._unmet(plan, places, region, rng)
        return plan, state

    def _unmet(self, plan: StancePlan, places: Array, region: float, rng: np.random.Generator) -> str:
        """Why the goal cannot be met: no ground for a foot near it, or no posture over it; "" if neither is known."""
        model, graph = self.model, plan.graph
        off = np.linalg.norm(graph.feet(plan.goal)[model.feet, :2] - places, axis=1)
        worst = int(np.argmax(off))
        if off[worst] > max(self.reach, region):
            return f"`{model.chart.names[model.feet[worst]]}` cannot stand within {off[worst]:.2f} m of its goal"
        if region:
            return ""
        before, posed = model.statistics.causes.copy(), graph.posed(plan.goal, rng.spawn(1)[0])
        failed = Counter({name: count - before[name] for name, count in model.statistics.causes.items()})
        return "" if posed else f"no posture stands on the goal ({main_cause(failed)})"

    def follow(self, sequence: StanceSequence, seed: int = 0, limits: Limits | None = None) -> StancePlan:
        """Motions along a given sequence of stances; where one fails, it and the one before get other base poses.

        Args:
            sequence: The stances; of this robot, in this world.
            seed: Of the random numbers.
            limits: What may be spent.

        Raises:
            NotSupportedError: It is a sequence of another robot.
        """
        if sequence.legs != self.model.chart.names:
            raise NotSupportedError(f"the sequence is one of `{sequence.robot}` with the legs {sequence.legs}")
        graph = StanceGraph(self.model, sequence.footholds, self.sampling, self.reach)
        keys: list[Key] = [tuple(int(k) for k in row) for row in sequence.stances]
        plan = StancePlan(graph, keys[0], keys[-1], sequence.start)
        for (before, after), bases in zip(pairwise(keys), sequence.bases, strict=True):
            leg = next(k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
            plan.moves.append(Move(leg, before, after, bases, 1))
        if self._stands(plan, sequence.start):
            rng = np.random.default_rng(seed)
            Motions(self.model, self.single_mode, plan, sequence.start, rng, limits or Limits()).follow()
        return plan

    def _goal_places(self, state: Array, goal: tuple[float, float, float] | Array) -> Array:
        feet = state[6:].reshape(-1, 3)[self.model.feet, :2]
        wanted = np.asarray(goal, dtype=float)
        if wanted.shape not in ((3,), feet.shape):
            raise NotSupportedError(f"a goal has shape {wanted.shape}, expected (3,) or {feet.shape}")
        wanted = finite_array(wanted, wanted.shape, "goal")
        if wanted.shape == feet.shape:
            return wanted
        c, s = np.cos(wanted[2]), np.sin(wanted[2])
        out: Array = (feet - state[:2]) @ np.array([[c, s], [-s, c]]) + state[:2] + wanted[:2]
        return out

    def _scene(
        self, state: Array, goal: Array, rng: np.random.Generator, roadmap: StanceRoadmap | None
    ) -> tuple[StanceGraph, Key, Key]:
        """Footholds: those of start and goal, and a grid around the way between them; then what hands can hold."""
        model, rows, legs = self.model, self.model.feet, len(self.model.feet)
        feet = state[6:].reshape(-1, 3)[rows]
        under = feet[:, :2]
        detours = self._detours(under, goal)
        turns = np.zeros((0, 2)) if detours is None else detours.corners(under.mean(axis=0))
        corners = np.concatenate([under, goal, *(goal - goal.mean(axis=0) + turn for turn in turns)])
        room = 3.0 * self.reach
        box = np.array([corners.min(axis=0) - room, corners.max(axis=0) + room])
        pitch = self.sampling.pitch * 2.0 * self.reach
        grid = foothold_grid(box, pitch, rng)
        places = np.concatenate([under, goal, grid])
        friction = float(model.friction[rows].min())
        flat = [model.soles[k][:, :2] for k in rows if model.chart.limbs[k].sole is not None]
        sole = np.concatenate(flat) if flat else None
        good = standable(model.world, places, friction, self.sampling.edge, sole)
        good[:legs] = True
        footholds = footholds_at(model.world, places)
        # feet that stand stay exactly where they are
        footholds.points[:legs] = feet - model.radii[rows, None] * footholds.normals[:legs]
        graph = StanceGraph(model, footholds, self.sampling, self.reach)
        target = [
            legs + k if good[legs + k] else nearest_foothold(graph.centres[rows[k]], good, goal[k]) for k in range(legs)
        ]
        for k in np.flatnonzero(np.linalg.norm(goal - under, axis=1) <= _THERE):
            target[k] = int(k)  # this foot stands right, and need not move
        kept = np.flatnonzero(good)
        number = {int(old): new for new, old in enumerate(kept)}
        footholds, hands = footholds.take(kept), np.setdiff1d(np.arange(len(model.soles)), rows)
        if len(hands):
            holds = hand_holds(model.world, pitch, float(model.friction[hands].min()))
            footholds = Footholds.joined([footholds, holds])
        start, end = np.full((2, len(model.soles)), -1)
        start[rows], end[rows] = range(legs), [number[k] for k in target]
        moves: dict[Key, dict[Key, Move]] = {}
        if roadmap is not None:
            footholds, numbers = roadmap.joined(model, footholds, np.concatenate([start[rows], end[rows]]), pitch)
            start[rows], end[rows], moves = numbers[start[rows]], numbers[end[rows]], roadmap.moves()
        graph = StanceGraph(model, footholds, self.sampling, self.reach, moves, detours)
        if detours is not None:
            detours.goal = graph.feet(tuple(end.tolist()))[rows, :2].mean(axis=0)
        return graph, tuple(start.tolist()), tuple(end.tolist())

    def _detours(self, under: Array, goal: Array) -> Detours | None:
        """Ways round obstacles from feet (L, 2) to their goals; None where none is needed or known."""
        model = self.model
        if all(item.touchable for item in model.world.obstacles):
            return None
        home = model.chart.home[6:].reshape(-1, 3)[model.feet, :2]
        radius = _WIDTH * float(np.linalg.norm(home - home.mean(axis=0), axis=1).max())
        found = Detours(model.world, under.mean(axis=0), goal.mean(axis=0), radius, float(model.chart.home[2]))
        return found if found.needed else None

    def _stands(self, plan: StancePlan, state: Array) -> bool:
        """Whether the first state is allowed, and its feet are on the ground; the plan says why if not."""
        model, mode = self.model, plan.graph.mode(plan.start)
        ground = footholds_at(model.world, mode.feet[:, :2])
        above = np.einsum("ki,ki->k", mode.feet - ground.points, ground.normals) - model.radii
        off = np.where(mode.held, above, 0.0)
        worst = int(np.argmax(np.abs(off)))
        if not np.isfinite(off[worst]):
            plan.reason = f"there is no ground under `{model.chart.names[worst]}` at its start"
        elif abs(off[worst]) > _GROUND:
            where = "above" if off[worst] > 0.0 else "below"
            plan.reason = f"`{model.chart.names[worst]}` is {abs(off[worst]):.2g} m {where} the ground at its start"
        elif not mode.check(state[None]).valid[0]:
            plan.reason = "the robot does not stand at its start: " + model.statistics.main_cause()
        return not plan.reason


class _Search:
    """One query: exploring and connecting in turns."""

    def __init__(
        self,
        planner: StancePlanner,
        plan: StancePlan,
        state: Array,
        rng: np.random.Generator,
        limits: Limits,
        progress: Callable[[StancePlan, float], None] | None,
        region: float,
    ) -> None:
        self.planner, self.plan, self.graph, self.rng, self.limits = planner, plan, plan.graph, rng, limits
        self.progress, self.region, self.target = progress, region, plan.goal
        self.ends: set[Key] = {plan.goal}
        self.statistics = planner.model.statistics
        self.motions = Motions(planner.model, planner.single_mode, plan, state, rng, limits)
        self.stance_cost: dict[Key, float] = {plan.start: 0.0}
        self.entry: dict[Key, Array] = {plan.start: state[:6]}
        self.blacklist: set[Key] = set()
        self.ways: dict[Key, tuple[float, Key | None]] = {plan.start: (0.0, None)}
        self.open: list[tuple[float, Key]] = [(0.0, plan.start)]
        self.nearest, self.stalled = np.inf, 0
        self.whole = max(self._distance(plan.start), 1e-9)
        if (self.graph.way_left(plan.start, self.target) <= region + _THERE).all():
            self.ends.add(plan.start)

    def run(self) -> None:
        """Until the plan is solved, or the limits are reached."""
        plan, failures, waited = self.plan, 0, 0
        self._use_known()
        while True:
            stance = self._cheapest_open()
            reached = [end for end in self.ends if end in self.ways]
            plan.goal = min(reached, key=lambda end: (self.ways[end][0], end), default=self.target)
            waited = waited + 1 if reached else 0
            if waited and (stance is None or waited > _PATIENCE or self._total(plan.goal) <= self._total(stance)):
                waited = 0
                with Clock(plan, "connecting"):
                    failed = self.motions.connect(self._way_to(plan.goal))
                if failed is None:
                    return self._give_up("the nearest place was reached") if plan.unmet else self._improve()
                failures += 1
                if failures > _FAILURES or self.statistics.states > self.motions.end:
                    return self._give_up("motions between stances kept failing")
                failed.cost += self.planner.weights.failure
                self._begin_again()
            elif stance is None:
                return self._give_up("no stance is left to explore")
            elif self.statistics.states > self.motions.end or len(plan.explored) >= self.limits.stances:
                return self._give_up("the budget is spent")
            elif plan.unmet and self.stalled > _STALL:
                return self._give_up(f"{_STALL} stances came no nearer")
            else:
                with Clock(plan, "exploring"):
                    self._explore(stance)

    def _use_known(self) -> None:
        """Costs of stances that a roadmap has, and ways to them."""
        known = {after: move for moves in self.graph.moves.values() for after, move in moves.items()}
        for after, move in known.items():
            self._note(after, move)
        self._relax([self.plan.start])

    def _improve(self) -> None:
        """Fewer moves, if asked for, with what is left of the budget."""
        if self.limits.improve:
            with Clock(self.plan, "improving"):
                self.plan.dropped = shorten_moves(self.motions)

    def _explore(self, stance: Key) -> None:
        self.plan.explored.append((stance, self.ways[stance][1]))
        found = self.graph.explore(stance, self.target, self.entry.get(stance), self.rng)
        self.blacklist.add(stance)
        for after, move in found.items():
            self._note(after, move)
        self._relax([stance])
        nearest = min(found, key=self._distance, default=stance)
        self.stalled += 1
        if self._distance(nearest) < self.nearest:
            self.nearest, self.stalled = self._distance(nearest), 0
            if self.progress is not None:
                self.plan.moves = self._way_to(nearest)
                self.progress(self.plan, 1.0 - self.nearest / self.whole)

    def _note(self, stance: Key, move: Move) -> None:
        weights, reach = self.planner.weights, self.planner.reach
        left = self.graph.way_left(stance, self.target)
        there = left <= self.region + _THERE
        cost = weights.unlikeness * self.graph.unlikeness(stance) / reach + weights.tries * move.tries
        cost += float(np.maximum(weights.distance * left / reach, ~there).sum())
        if not there.any():
            cost += weights.stranger
        if there.all():
            self.ends.add(stance)
        if cost < self.stance_cost.get(stance, np.inf):
            self.stance_cost[stance] = cost
            self.entry[stance] = move.bases[0]

    def _distance(self, stance: Key) -> float:
        """Sum of the ways of all feet to their goals [m]."""
        return float(self.graph.way_left(stance, self.target).sum())

    def _total(self, stance: Key) -> float:
        """Cost of the way to a stance and of the stance; at the goal that of the way alone."""
        return self.ways[stance][0] + (0.0 if stance in self.ends else self.stance_cost[stance])

    def _relax(self, stances: list[Key]) -> None:
        """Cheaper ways through stances whose moves or costs are new (Dijkstra)."""
        queue = [(self.ways[stance][0], stance) for stance in stances]
        while queue:
            cost, stance = heapq.heappop(queue)
            if cost > self.ways[stance][0]:
                continue
            for after, move in self.graph.moves.get(stance, {}).items():
                total = cost + move.cost
                if total < self.ways.get(after, (np.inf, None))[0]:
                    self.ways[after] = (total, stance)
                    heapq.heappush(queue, (total, after))
                    if after not in self.blacklist and after not in self.ends:
                        heapq.heappush(self.open, (self._total(after), after))

    def _begin_again(self) -> None:
        """All ways anew, since a move got dearer."""
        self.ways, self.open = {self.plan.start: (0.0, None)}, []
        self._relax([self.plan.start])

    def _cheapest_open(self) -> Key | None:
        """The stance to explore next; costs that have changed since it was queued are looked up."""
        while self.open:
            cost, stance = self.open[0]
            if stance not in self.blacklist and cost <= self._total(stance) + 1e-12:
                return stance
            heapq.heappop(self.open)
            if stance not in self.blacklist and cost < self._total(stance):
                heapq.heappush(self.open, (self._total(stance), stance))
        return None

    def _way_to(self, stance: Key) -> list[Move]:
        keys = [stance]
        while (parent := self.ways[keys[-1]][1]) is not None:
            keys.append(parent)
        return [self.graph.moves[a][b] for a, b in pairwise(keys[::-1])]

    def _give_up(self, why: str) -> None:
        """Say what failed, and keep the way to the nearest stance with its motions, as far as there are any."""
        plan = self.plan
        best = min((key for key in self.ways if plan.unmet or key not in self.ends), key=self._distance)
        off, cause = self._distance(best), self.statistics.main_cause()
        why = f"{plan.unmet}; {why}" if plan.unmet else why
        plan.reason = f"{why}; nearest stance {off:.2g} m off; failed most: {cause}"
        with Clock(plan, "connecting"):
            failed = self.motions.connect(self._way_to(best))
        plan.moves = plan.moves[: next((k for k, move in enumerate(plan.moves) if move is failed), None)]
        plan.solved = False
