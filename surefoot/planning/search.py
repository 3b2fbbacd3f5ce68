"""The multi-modal planner: best-first search over stances, then motions through them, with back-tracking.

    planner = StancePlanner(robot, world)
    plan = planner.plan(q, goal=(0.0, 1.0, 0.0), seed=0)
    plan.solved, plan.moves, plan.segments

Stances are explored in the order of (cost of the way to them) + (cost of the stance): unlikeness to home, distance to
the goal, tries that a transition took, and a penalty where no foot is on its goal. When the goal is cheapest, motions
are planned along the cheapest way; a move without a motion gets dearer and the search goes on (Wimmer 2016, app. A).
"""

from __future__ import annotations

import heapq
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
from surefoot.motion import World
from surefoot.planning.connect import Budget, SingleMode, connect, prune, shorten, smooth
from surefoot.planning.footholds import foothold_grid, footholds_at, standable
from surefoot.planning.sequence import StanceSequence
from surefoot.planning.space import Margins, Mode, StanceModel
from surefoot.planning.stances import Key, Move, Sampling, StanceGraph, nearest_foothold
from surefoot.robot import Robot

_BACK_TRACKS = 60  # failures of motions along a given sequence before it is given up


@dataclass(frozen=True)
class Weights:
    """Costs of the search, in moves.

    Args:
        unlikeness: For each reach of a leg that feet are off their places at home.
        distance: For each reach of a leg that a foot is away from its goal.
        tries: For each further state that a transition took.
        stranger: For a stance without any foot on its goal.
        failure: What a move without a motion gets dearer by.
    """

    unlikeness: float = 4.0
    distance: float = 2.5
    tries: float = 0.02
    stranger: float = 2.0
    failure: float = 4.0


@dataclass(frozen=True)
class Limits:
    """What a search may spend; it ends within them, whatever the speed of the machine.

    Args:
        states: Checked states.
        stances: Explored stances.
        single_mode: Of one motion inside a stance.
    """

    states: int = 20_000_000
    stances: int = 3_000
    single_mode: Budget = field(default_factory=Budget)


@dataclass(frozen=True, eq=False)
class Segment:
    """A motion inside one stance.

    Args:
        mode: The stance.
        path: (k, 6 + 3 L) corners, or points of a smooth curve.
        stance: Footholds of the legs.
        swings: The leg in the air; None if all stand.
        is_smooth: Whether the path has no corners, so that it can be run without a halt.
    """

    mode: Mode
    path: Array
    stance: Key
    swings: int | None
    is_smooth: bool


@dataclass
class StancePlan:
    """What a search found, also where it failed.

    Args:
        graph: Footholds and stances that were seen.
        start: First stance.
        goal: Last stance.
        solved: Whether the segments lead to the goal.
        moves: Moves of the last way that was looked at.
        segments: Motions: of the whole way if it is solved, else as far as they lead.
        reason: Why it is not solved; "" if it is.
        explored: Stances in the order in which they were explored, each with its parent.
        seconds: Processor time by stage: "exploring", "connecting", "shortening".
        tried: Single-mode problems that were looked at, and how many of them were solved.
    """

    graph: StanceGraph
    start: Key
    goal: Key
    solved: bool = False
    moves: list[Move] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    reason: str = ""
    explored: list[tuple[Key, Key | None]] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    tried: tuple[int, int] = (0, 0)

    def sequence(self) -> StanceSequence:
        """The stances of a solved plan, to be saved and followed again."""
        keys = [self.start, *(move.after for move in self.moves)]
        used = sorted({k for key in keys for k in key})
        number = {old: new for new, old in enumerate(used)}
        start = self.segments[0].path[0] if self.segments else np.zeros(0)
        return StanceSequence(
            self.graph.model.robot.name, self.graph.model.chart.names, start, self.graph.footholds.take(used),
            np.array([[number[k] for k in key] for key in keys]), tuple(move.bases for move in self.moves),
        )  # fmt: skip

    @property
    def stances(self) -> int:
        """Stances of the plan, those with a foot in the air counted as well."""
        return 2 * len(self.moves) + 1


class StancePlanner:
    """Plans of stances and motions for one robot in one world.

    Args:
        robot: A robot with legs of three joints.
        world: The world.
        margins: What states must keep.
        sampling: How stances are explored.
        single_mode: What plans motions inside a stance; our own planner if omitted.
        weights: Costs of the search.

    Raises:
        NotSupportedError: A contact of the robot does not sit on a leg with a closed form.
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
        limbs = self.model.chart.limbs
        spans = [np.linalg.norm(x.origins[2] - x.origins[1]) + np.linalg.norm(x.foot - x.origins[2]) for x in limbs]
        self.reach = 0.5 * float(min(spans))

    def plan(
        self,
        q: Array,
        goal: tuple[float, float, float] | Array,
        seed: int = 0,
        limits: Limits | None = None,
        progress: Callable[[float], None] | None = None,
    ) -> StancePlan:
        """A plan from a configuration to footholds.

        Args:
            q: (nq,) where the robot stands.
            goal: By how much all feet are to go (x, y) [m] and turn about the base [rad]; or (L, 2) places of the feet.
            seed: Of the random numbers.
            limits: What may be spent.
            progress: Called with the share of the way to the goal that some stance has come, 0…1.
        """
        rng = np.random.default_rng(seed)
        state = self.model.chart.state_of(q)
        graph, start, target = self._scene(state, self._goal_places(state, goal), rng)
        plan = StancePlan(graph, start, target)
        search = _Search(self, plan, state, rng, limits or Limits(), progress)
        if not self._stands(graph, start, state):
            plan.reason = "the robot does not stand at its start: " + search.main_cause()
            return plan
        search.run()
        return plan

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
        plan = StancePlan(graph, keys[0], keys[-1])
        for (before, after), bases in zip(pairwise(keys), sequence.bases, strict=True):
            leg = next(k for k, (a, b) in enumerate(zip(before, after, strict=True)) if a != b)
            plan.moves.append(Move(leg, before, after, bases, 1))
        search = _Search(self, plan, sequence.start, np.random.default_rng(seed), limits or Limits(), None)
        if not self._stands(graph, keys[0], sequence.start):
            plan.reason = "the robot does not stand at its start: " + search.main_cause()
            return plan
        search.follow()
        return plan

    def _goal_places(self, state: Array, goal: tuple[float, float, float] | Array) -> Array:
        feet = state[6:].reshape(-1, 3)[:, :2]
        wanted = np.asarray(goal, dtype=float)
        if wanted.shape == feet.shape:
            return wanted
        if wanted.shape != (3,):
            raise NotSupportedError(f"a goal has shape {wanted.shape}, expected (3,) or {feet.shape}")
        c, s = np.cos(wanted[2]), np.sin(wanted[2])
        out: Array = (feet - state[:2]) @ np.array([[c, s], [-s, c]]) + state[:2] + wanted[:2]
        return out

    def _scene(self, state: Array, goal: Array, rng: np.random.Generator) -> tuple[StanceGraph, Key, Key]:
        """Footholds: those of start and goal, and a grid around the way between them."""
        model, legs = self.model, len(self.model.chart.limbs)
        feet = state[6:].reshape(-1, 3)
        under = feet[:, :2] - 0.0
        corners = np.concatenate([under, goal])
        room = 3.0 * self.reach
        box = np.array([corners.min(axis=0) - room, corners.max(axis=0) + room])
        pitch = self.sampling.pitch * 2.0 * self.reach
        grid = foothold_grid(box, pitch, rng)
        places = np.concatenate([under, goal, grid])
        friction = float(model.friction.min())
        good = standable(model.world, places, friction, self.sampling.edge)
        good[:legs] = True
        footholds = footholds_at(model.world, places)
        # feet that stand stay exactly where they are
        footholds.points[:legs] = feet - model.radii[:, None] * footholds.normals[:legs]
        graph = StanceGraph(model, footholds, self.sampling, self.reach)
        target = tuple(
            legs + k if good[legs + k] else nearest_foothold(graph.centres[k], good, goal[k]) for k in range(legs)
        )
        kept = np.flatnonzero(good)
        number = {int(old): new for new, old in enumerate(kept)}
        graph = StanceGraph(model, footholds.take(kept), self.sampling, self.reach)
        return graph, tuple(range(legs)), tuple(number[k] for k in target)

    def _stands(self, graph: StanceGraph, start: Key, state: Array) -> bool:
        return bool(graph.mode(start).check(state[None]).valid[0])


class _Search:
    """One query: exploring and connecting in turns."""

    def __init__(
        self,
        planner: StancePlanner,
        plan: StancePlan,
        state: Array,
        rng: np.random.Generator,
        limits: Limits,
        progress: Callable[[float], None] | None,
    ) -> None:
        self.planner, self.plan, self.graph, self.rng, self.limits = planner, plan, plan.graph, rng, limits
        self.state, self.progress = state, progress or (lambda share: None)
        self.statistics = planner.model.statistics
        self.end = self.statistics.states + limits.states
        self.stance_cost: dict[Key, float] = {plan.start: 0.0}
        self.entry: dict[Key, Array] = {plan.start: state[:6]}
        self.blacklist: set[Key] = set()
        self.solved: dict[tuple[Key, ...], tuple[list[Segment], Array]] = {}
        self.nearest = np.inf
        self.whole = max(self._distance(plan.start), 1e-9)

    def run(self) -> None:
        """Until the plan is solved, or the limits are reached."""
        plan, graph = self.plan, self.graph
        failures = 0
        while True:
            ways = self._ways()
            if plan.goal in ways and self._goal_is_cheapest(ways):
                with _clock(plan, "connecting"):
                    if self._connect(ways):
                        return
                failures += 1
                if failures > 200 or self.statistics.states > self.end:
                    return self._give_up("motions between stances kept failing")
                continue
            stance = self._cheapest_open(ways)
            if stance is None:
                return self._give_up("no stance is left to explore")
            if self.statistics.states > self.end or len(plan.explored) >= self.limits.stances:
                return self._give_up("the budget is spent")
            with _clock(plan, "exploring"):
                parent = ways[stance][1]
                plan.explored.append((stance, parent))
                found = graph.explore(stance, plan.goal, self.entry.get(stance), self.rng)
                self.blacklist.add(stance)
                for after, move in found.items():
                    self._note(after, move)

    def _note(self, stance: Key, move: Move) -> None:
        weights, reach = self.planner.weights, self.planner.reach
        distance = self._distance(stance)
        cost = weights.unlikeness * self.graph.unlikeness(stance) / reach + weights.distance * distance / reach
        cost += weights.tries * move.tries
        if not any(a == b for a, b in zip(stance, self.plan.goal, strict=True)):
            cost += weights.stranger
        if cost < self.stance_cost.get(stance, np.inf):
            self.stance_cost[stance] = cost
            self.entry[stance] = move.bases[0]
        if distance < self.nearest:
            self.nearest = distance
            self.progress(1.0 - distance / self.whole)

    def _distance(self, stance: Key) -> float:
        """Sum of the ways of all feet to their goals [m]."""
        return float(np.linalg.norm(self.graph.feet(stance) - self.graph.feet(self.plan.goal), axis=1).sum())

    def _ways(self) -> dict[Key, tuple[float, Key | None]]:
        """Cost and parent of every stance on the cheapest way from the start (Dijkstra)."""
        best: dict[Key, tuple[float, Key | None]] = {self.plan.start: (0.0, None)}
        queue, done = [(0.0, self.plan.start)], set()
        while queue:
            cost, stance = heapq.heappop(queue)
            if stance in done:
                continue
            done.add(stance)
            for after, move in self.graph.moves.get(stance, {}).items():
                total = cost + move.cost
                if total < best.get(after, (np.inf, None))[0]:
                    best[after] = (total, stance)
                    heapq.heappush(queue, (total, after))
        return best

    def _goal_is_cheapest(self, ways: dict[Key, tuple[float, Key | None]]) -> bool:
        other = self._cheapest_open(ways)
        return other is None or ways[self.plan.goal][0] <= ways[other][0] + self.stance_cost[other]

    def _cheapest_open(self, ways: dict[Key, tuple[float, Key | None]]) -> Key | None:
        rows = [(ways[x][0] + self.stance_cost[x], x) for x in ways if x not in self.blacklist and x != self.plan.goal]
        return min(rows)[1] if rows else None

    # -- motions --------------------------------------------------------------------------------------------------

    def _connect(self, ways: dict[Key, tuple[float, Key | None]]) -> bool:
        """Plan motions along the cheapest way; raise the cost of a move that has none."""
        keys: list[Key] = [self.plan.goal]
        while (parent := ways[keys[0]][1]) is not None:
            keys.insert(0, parent)
        moves = [self.graph.moves[a][b] for a, b in pairwise(keys)]
        self.plan.moves = moves
        segments: list[Segment] = []
        state = self.state
        for number, move in enumerate(moves):
            prefix = tuple(keys[: number + 2])
            if prefix not in self.solved:
                found = self._motion(state, move)
                if found is None:
                    move.cost += self.planner.weights.failure
                    self.plan.segments = segments
                    return False
                self.solved[prefix] = found
            parts, state = self.solved[prefix]
            segments = [*segments, *parts]
        self.plan.segments = [*segments, *self._settle(state)]
        self.plan.solved = True
        return True

    def follow(self) -> None:
        """Plan motions of the moves that the plan has; a failure replans the move before, from other base poses."""
        plan, number, failures = self.plan, 0, 0
        found: list[tuple[list[Segment], Array]] = []
        with _clock(plan, "connecting"):
            while number < len(plan.moves):
                motion = self._motion(found[-1][1] if found else self.state, plan.moves[number])
                if motion is not None:
                    found.append(motion)
                    number += 1
                    continue
                failures += 1
                if failures > _BACK_TRACKS or self.statistics.states > self.end:
                    plan.segments = [segment for parts, _ in found for segment in parts]
                    plan.reason = f"move {number + 1} has no motion; failed most: {self.main_cause()}"
                    return
                self._resample(plan.moves[number])
                if found:
                    self._resample(plan.moves[number - 1])
                    found.pop()
                    number -= 1
            last = found[-1][1] if found else self.state
            plan.segments = [*(segment for parts, _ in found for segment in parts), *self._settle(last)]
            plan.solved = True

    def _resample(self, move: Move) -> None:
        """Other base poses for a move, before those that it has."""
        fresh = self.graph.bases_of(move, self.rng)
        move.bases = np.concatenate([fresh, np.roll(move.bases, -1, axis=0)])[:8]
        move.tries += 1

    def _motion(self, state: Array, move: Move) -> tuple[list[Segment], Array] | None:
        """Shift the base, then swing the foot; with each of the base poses of the move until one works."""
        graph, feet = self.graph, self.graph.feet(move.after).ravel()
        stands = graph.mode(move.before)
        swings = graph.mode(move.before, move.leg, carries=False, to=move.after[move.leg])
        for base in move.bases:
            leaves = np.concatenate([base, state[6:]])
            lands = np.concatenate([base, feet])
            shift = self._single(stands, state, leaves)
            swing = None if shift is None else self._single(swings, leaves, lands)
            if shift is not None and swing is not None:
                first, second = self._smooth(stands, shift), self._smooth(swings, swing)
                return [Segment(stands, first[0], move.before, None, first[1]),
                        Segment(swings, second[0], move.before, move.leg, second[1])], lands  # fmt: skip
        return None

    def _settle(self, state: Array) -> list[Segment]:
        """At the goal, the base goes to where it fits best, if it can."""
        goal = self.plan.goal
        mode, end = self.graph.mode(goal), np.concatenate([self.graph.fitted_base(goal), state[6:]])
        if not mode.check(end[None]).valid[0]:
            return []
        path = self._single(mode, state, end)
        if path is None:
            return []
        path, is_smooth = self._smooth(mode, path)
        return [Segment(mode, path, goal, None, is_smooth)]

    def _single(self, mode: Mode, start: Array, goal: Array) -> Array | None:
        path = self.planner.single_mode(mode, start, goal, self.rng, self.limits.single_mode)
        tried, solved = self.plan.tried
        self.plan.tried = tried + 1, solved + (path is not None)
        return path

    def _smooth(self, mode: Mode, path: Array) -> tuple[Array, bool]:
        """The path shorter and without corners, and whether that worked; a straight edge has none."""
        with _clock(self.plan, "shortening"):
            if len(path) > 4:
                path = prune(mode, shorten(mode, path, self.rng))
            if len(path) == 2:
                return path, True
            curve = smooth(mode, path)
        return (path, False) if curve is None else (curve, True)

    def _give_up(self, why: str) -> None:
        best = min(self.stance_cost, key=self._distance)
        self.plan.reason = f"{why}; nearest stance {self._distance(best):.2f} m off; failed most: {self.main_cause()}"

    def main_cause(self) -> str:
        """What states failed of most, by leg where there is one."""
        causes = self.statistics.causes
        return ", ".join(f"{name} ({count})" for name, count in causes.most_common(3)) or "nothing"


class _clock:  # noqa: N801 - reads like a word
    """Adds the processor time of a block to a plan."""

    def __init__(self, plan: StancePlan, stage: str) -> None:
        self.plan, self.stage = plan, stage

    def __enter__(self) -> None:
        self.start = time.process_time()

    def __exit__(self, *_: object) -> None:
        used = time.process_time() - self.start
        self.plan.seconds[self.stage] = self.plan.seconds.get(self.stage, 0.0) + used
