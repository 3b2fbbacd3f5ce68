"""`plan_steps`: a way through a world as footsteps, by A* over a lattice of steps.

First the direct way (`GoalSteps`) is tried. Else A* looks for few steps, each from a small set within `StepLimits`. Its
heuristic is the shortest way of the body on a grid, in longest steps, and the steps to turn to where it leads; it may
be too large, so the way need not be the shortest. What is found is pulled straight and walked along (`PathSteps`), if
that is free and at most two steps longer. Same input, same answer: the search is bounded by a number of steps that it
looks at, not by time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import ceil, floor, hypot, inf

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array, finite_array
from surefoot.errors import NotSupportedError
from surefoot.gait.legs import stance_of
from surefoot.gait.steps.footing import Footing
from surefoot.gait.steps.limits import StepLimits
from surefoot.gait.steps.obstacles import BodyBox, Obstacles
from surefoot.gait.steps.planar import Pose, compose, pose_of, relative, way, wrapped
from surefoot.gait.steps.sources import GoalSteps, PathSteps, PlannedSteps, first_support
from surefoot.motion import Footstep, StepSource, World
from surefoot.robot import Robot

Point = tuple[float, float]
_EDGE = 0.025  # gap from heels and toes to edges and risers, share of the leg length
_SWEEP = (0.25, 0.5, 0.75)  # of a swing, where the foot is looked at
_AROUND = 2.0  # how far around start, goal and obstacles a way is looked for [m]
_NARROW = 4.0  # how much longer a way counts where the body must turn sideways to pass
_ACROSS = 400.0  # … where it would have to pass over an obstacle
_AHEAD = 6  # cells over which the heading of a way is measured
_MOST_CELLS = 100_000
_GREED = 2.0  # weight of the heuristic: more is faster, and the way up to so much longer
_STRAIGHT = 2  # how many more steps a straight way may take
_MOST = 2000  # steps of a plan
_SHARES = (  # of forward, outward and turn_out (backward and turn_in if negative)
    (1.0, 0.0, 0.0), (0.6, 0.0, 0.0), (0.3, 0.0, 0.0), (0.0, 0.0, 0.0), (-0.9, 0.0, 0.0),
    (0.0, 0.9, 0.0), (0.7, 0.6, 0.0), (-0.6, 0.6, 0.0), (0.0, 0.0, 0.95), (0.0, 0.0, -0.95),
    (0.7, 0.0, 0.7), (0.7, 0.0, -0.7), (0.3, 0.3, 0.85), (-0.6, 0.0, 0.7), (-0.6, 0.0, -0.7), (0.0, 0.6, 0.7),
)  # fmt: skip


def plan_steps(
    robot: Robot,
    world: World,
    goal: ArrayLike,
    stance: Sequence[Footstep] | None = None,
    limits: StepLimits | None = None,
    margin: float = 0.03,
    budget: int = 10_000,
) -> PlannedSteps:
    """Steps of a biped to a goal, around obstacles.

    Args:
        robot: A biped.
        world: Ground, obstacles, objects.
        goal: Middle between the feet and where the robot looks: (x [m], y [m], yaw [rad]).
        stance: The left and the right foot at the start; None for those at home.
        limits: Of the steps; None for those of the robot.
        margin: Gap to obstacles [m].
        budget: How many steps the search looks onward from before it gives up.

    Raises:
        NotSupportedError: Start or goal touch an obstacle or have no ground, or there is no way.
    """
    x, y, yaw = finite_array(goal, (3,), "goal of a walk").tolist()
    limits = limits or StepLimits.of(robot)
    left, right = stance or stance_of(robot, robot.home)
    space = _Space(world, limits, BodyBox.of(robot, limits), margin)
    space.require_standing((left, right), "start")
    end = (x, y, wrapped(yaw))
    feet = [(foot, limits.place(foot, end)) for foot in (limits.left, limits.right)]
    space.require_standing([flat_step(foot, pose) for foot, pose in feet], "goal")
    direct = GoalSteps.from_stance(limits, (left, right), end, world)
    found = space.walked(direct, (left, right))
    if found is None:
        search = _Search(space, (left, right), end, budget)
        found = space.along(search.ways.path(), (left, right), end)
    if found is None:
        found = space.straightened(search.chain(), (left, right), end)
    if not found:
        raise NotSupportedError("the robot stands on its goal already; there is no step to plan")
    return PlannedSteps(limits, (left, right), found, world)


def require_free(
    robot: Robot,
    world: World,
    steps: Sequence[Footstep],
    stance: Sequence[Footstep],
    limits: StepLimits,
    margin: float = 0.0,
) -> None:
    """Refuse steps that lead into an obstacle or off firm ground.

    Args:
        robot: A biped.
        world: Ground, obstacles, objects.
        steps: One after the other.
        stance: The left and the right foot at the start.
        limits: Of the steps.
        margin: Gap to obstacles [m].

    Raises:
        NotSupportedError: A step is not free; it names the step, its place and what is in the way.
    """
    space = _Space(world, limits, BodyBox.of(robot, limits), margin)
    space.require_standing(stance, "start")
    k, trouble = space.first_trouble(steps, stance)
    if trouble:
        raise NotSupportedError(
            f"step {k + 1} of {len(steps)} {trouble}",
            evidence={"place": [round(x, 3) for x in pose_of(steps[k])], "margin": margin},
            next_step="choose another way; to a `goal`, steps lead around obstacles",
        )


def flat_step(foot: str, pose: Pose) -> Footstep:
    """A level foot at z = 0.

    Args:
        foot: Its name.
        pose: Where it is.
    """
    return Footing(None, (0.0, 0.0)).footstep(foot, pose, Footstep(foot, np.eye(4)), pose)


class _Space:
    """Where a robot may step."""

    def __init__(self, world: World, limits: StepLimits, body: BodyBox, margin: float) -> None:
        self.world, self.limits, self.body, self.margin = world, limits, body, margin
        around = _EDGE * limits.leg
        self.obstacles, self.footing = Obstacles(world), Footing(world, (limits.sole[0] + around, limits.sole[1]))

    def require_standing(self, stance: Sequence[Footstep], what: str) -> None:
        """Refuse a stance that touches an obstacle or has no ground."""
        poses = np.array([pose_of(step) for step in stance])
        planes, misfits = self.footing.planes(poses)
        if not self.footing.stands(planes, misfits).all():
            raise NotSupportedError(
                f"there is no firm ground under both feet at the {what}", evidence={"feet": poses.round(3).tolist()}
            )
        middle = np.array([_between(tuple(poses[0]), tuple(poses[1]))])
        soles = self.obstacles.sole_gaps(poses, planes[:, 2], self.limits).min(axis=0)
        body = self.obstacles.body_gaps(middle, planes[:, 2].mean(keepdims=True), self.body)[0]
        gaps = np.minimum(soles, body)
        if gaps.size and gaps.min() < self.margin:
            name = self.obstacles.names[int(np.argmin(gaps))]
            where = "inside" if gaps.min() < 0.0 else f"only {gaps.min():.3f} m from"
            raise NotSupportedError(
                f"at the {what}, the robot would stand {where} obstacle `{name}`",
                evidence={"gap": float(gaps.min()), "margin": self.margin},
                next_step="move it" if what == "start" else "choose a goal further away from it",
            )

    def free(self, befores: Array, support: Array, height: float, landings: Array) -> NDArray[np.bool_]:
        """(n,) whether steps are free: ground, rise, soles on the way and where they land, body.

        Args:
            befores: (n, 3) where the swinging foot was.
            support: (3,) where the other one stands.
            height: Of the ground there [m].
            landings: (n, 3).
        """
        planes, misfits = self.footing.planes(landings)
        fine = self.footing.stands(planes, misfits) & (np.abs(planes[:, 2] - height) <= self.limits.rise)
        if not self.obstacles.names or not fine.any():
            return fine
        gaps = self._gaps(befores, support, np.where(fine, planes[:, 2], 0.0), landings)
        return fine & (gaps.min(axis=1) >= self.margin)

    def _gaps(self, befores: Array, support: Array, heights: Array, landings: Array) -> Array:
        """(n, obstacles) gaps of soles, on the way and where they land on heights (n,), and of the body [m]."""
        n, turn = len(landings), _wrapped(landings[:, 2] - befores[:, 2])
        change = np.column_stack([landings[:, :2] - befores[:, :2], turn])
        soles = np.vstack([landings, *(befores + share * change for share in _SWEEP)])
        middles = np.column_stack(
            [0.5 * (landings[:, :2] + support[:2]), support[2] + 0.5 * _wrapped(landings[:, 2] - support[2])]
        )
        of_soles = self.obstacles.sole_gaps(soles, np.tile(heights, 1 + len(_SWEEP)), self.limits)
        of_body = self.obstacles.body_gaps(middles, heights, self.body)
        return np.minimum(of_soles.reshape(-1, n, len(self.obstacles.names)).min(axis=0), of_body)

    def trouble(self, before: Pose, support: Pose, landing: Pose) -> str:
        """Why a step is not free; "" if it is."""
        places, height = np.array([landing]), self.height(support)
        planes, misfits = self.footing.planes(places)
        if not self.footing.stands(planes, misfits)[0]:
            return "has no firm ground"
        if abs(rise := float(planes[0, 2] - height)) > self.limits.rise:
            return f"is {rise:+.3f} m in height, and {self.limits.rise:.3f} m is the most"
        if not self.obstacles.names:
            return ""
        gaps = self._gaps(np.array([before]), np.array(support), planes[:, 2], places)[0]
        if gaps.min() >= self.margin:
            return ""
        near = self.obstacles.names[int(np.argmin(gaps))]
        return f"leads {'into' if gaps.min() < 0.0 else f'to {gaps.min():.3f} m from'} obstacle `{near}`"

    def height(self, pose: Pose) -> float:
        """Of the ground under a foot [m]."""
        return float(self.footing.planes(np.array([pose]))[0][0, 2])

    def walked(self, source: StepSource, stance: Sequence[Footstep]) -> list[Footstep] | None:
        """The steps of a source; None if one of them is not free."""
        support = first_support(source, self.limits, stance)
        steps = source.upcoming(0.0, support, _MOST)
        return list(steps) if len(steps) < _MOST and not self.first_trouble(steps, stance)[1] else None

    def first_trouble(self, steps: Sequence[Footstep], stance: Sequence[Footstep]) -> tuple[int, str]:
        """The first step that is not free, and why; their number and "" if all are."""
        places = {step.foot: pose_of(step) for step in stance}
        for k, step in enumerate(steps):
            landing, standing = pose_of(step), places[self.limits.other(step.foot)]
            if trouble := self.trouble(places[step.foot], standing, landing):
                return k, trouble
            places[step.foot] = landing
        return len(steps), ""

    def straightened(self, chain: list[tuple[str, Pose]], stance: Sequence[Footstep], goal: Pose) -> list[Footstep]:
        """The walk along the pulled way of a chain of steps, if it is free and not much longer, else the chain."""
        raw = self._raw(chain, stance)
        walked = self.along([self.limits.body(foot, pose)[:2] for foot, pose in chain], stance, goal)
        return raw if walked is None or len(walked) > len(raw) + _STRAIGHT else walked

    def along(self, points: Sequence[Point], stance: Sequence[Footstep], goal: Pose) -> list[Footstep] | None:
        """The walk along a way of the body, pulled straight; None if one of its steps is not free."""
        path = self._pulled([*points, goal[:2]])
        for last in (self.limits.left, self.limits.right):
            walked = self.walked(_ThenGoal(self.limits, path, goal, last, self.world), stance)
            if walked is not None:
                return walked
        return None

    def _raw(self, chain: list[tuple[str, Pose]], stance: Sequence[Footstep]) -> list[Footstep]:
        steps: list[Footstep] = []
        support = next(step for step in stance if step.foot == chain[0][0])
        for foot, pose in chain[1:]:
            support = self.footing.footstep(foot, pose, support, pose_of(support))
            steps.append(support)
        return steps

    def _pulled(self, points: Sequence[Point]) -> list[Point]:
        """Corners of a way of the body, as few as see each other."""
        corners, k = [points[0]], 0
        while k < len(points) - 1:
            k = next((j for j in range(len(points) - 1, k + 1, -1) if self._sees(points[k], points[j])), k + 1)
            corners.append(points[k])
        return corners

    def _sees(self, a: Point, b: Point) -> bool:
        """Whether the body passes straight from one place to another, looking ahead."""
        x, y = b[0] - a[0], b[1] - a[1]
        shares = np.linspace(0.0, 1.0, 2 + int(hypot(x, y) / 0.05))
        line = np.column_stack([a[0] + shares * x, a[1] + shares * y, np.full(len(shares), np.arctan2(y, x))])
        heights = self.footing.planes(line)[0][:, 2]
        feet = BodyBox(self.limits.sole[0], 0.5 * self.limits.width + self.limits.sole[1], 0.0, self.body.top)
        gaps = [self.obstacles.body_gaps(line, heights, box) for box in (self.body, feet)]
        return bool(min(gap.min(initial=inf) for gap in gaps) >= self.margin)


class _ThenGoal(PathSteps):
    """Along a path, then to a pose at its end."""

    def __init__(self, limits: StepLimits, path: ArrayLike, goal: Pose, last: str, world: World) -> None:
        super().__init__(limits, path, last, world)
        GoalSteps.__init__(self, limits, goal, last, world)


@dataclass(frozen=True, eq=False)
class _Node:
    """A foot that stands, the node before, and the number of steps so far."""

    foot: str
    pose: Pose
    before: _Node | None
    steps: int


class _Search:
    """A* from a stance to a goal."""

    def __init__(self, space: _Space, stance: Sequence[Footstep], goal: Pose, budget: int) -> None:
        self.space, self.limits, self.goal, self.budget = space, space.limits, goal, budget
        self.stance = {step.foot: pose_of(step) for step in stance}
        self.places = {foot: self.limits.place(foot, goal) for foot in (self.limits.left, self.limits.right)}
        middle = _between(*self.stance.values())
        self.ways = _Ways(space, middle, goal)
        if not np.isfinite(self.ways.to_goal(middle)):
            raise NotSupportedError(
                "obstacles close all ways to the goal",
                evidence={"start": [round(x, 3) for x in middle], "goal": [round(x, 3) for x in goal]},
            )
        self._moves = {foot: self._offsets(foot) for foot in (self.limits.left, self.limits.right)}

    def _offsets(self, foot: str) -> Array:
        """(moves, 3) landings of a foot, seen from the other one."""
        limits, moves = self.limits, []
        for x, y, yaw in _SHARES:
            dx = x * (limits.forward if x > 0.0 else limits.backward)
            turn = yaw * (limits.turn_out if yaw > 0.0 else limits.turn_in)
            wanted = limits.landing(foot, (0.0, 0.0, 0.0), dx, y * limits.outward, turn)
            moves.append(limits.clipped(foot, (0.0, 0.0, 0.0), wanted))
        return np.array(moves)

    def chain(self) -> list[tuple[str, Pose]]:
        """Feet and their places, from the first that stands to the last on the goal.

        Raises:
            NotSupportedError: There is no way, or none within the budget.
        """
        heap: list[tuple[float, int, _Node]] = []
        best: dict[tuple[str, int, int, int], int] = {}
        count = 0
        for foot, pose in self.stance.items():
            heappush(heap, (self._estimate(foot, pose), count, _Node(foot, pose, None, 0)))
            count += 1
        for _ in range(self.budget):
            if not heap:
                raise NotSupportedError("no steps within the reach of the robot lead to the goal")
            node = heappop(heap)[2]
            ending = self._ending(node)
            if ending is not None:
                return ending
            for following in self._onward(node):
                key = self._key(following)
                if following.steps < best.get(key, 1 << 30):
                    best[key] = following.steps
                    count += 1
                    estimate = self._estimate(following.foot, following.pose)
                    if estimate < inf:
                        heappush(heap, (following.steps + _GREED * estimate, count, following))
        raise NotSupportedError(
            f"no way to the goal was found after looking onward from {self.budget} steps",
            next_step="give a larger budget, or a goal that is nearer or less hidden",
        )

    def _onward(self, node: _Node) -> list[_Node]:
        """The free steps after a node."""
        foot = self.limits.other(node.foot)
        x, y, yaw = node.pose
        c, s = np.cos(yaw), np.sin(yaw)
        moves = self._moves[foot]
        landings = np.column_stack(
            [x + c * moves[:, 0] - s * moves[:, 1], y + s * moves[:, 0] + c * moves[:, 1], _wrapped(yaw + moves[:, 2])]
        )
        before = node.before.pose if node.before is not None else self.stance[foot]
        befores = np.tile(before, (len(landings), 1))
        free = self.space.free(befores, np.array(node.pose), self.space.height(node.pose), landings)
        return [_Node(foot, (p[0], p[1], p[2]), node, node.steps + 1) for p in landings[free].tolist()]

    def _ending(self, node: _Node) -> list[tuple[str, Pose]] | None:
        """The whole chain, if the goal is two steps from a node."""
        foot = self.limits.other(node.foot)
        place, closing = self.places[foot], self.places[node.foot]
        if way(node.pose, place) > self.limits.forward + self.limits.width + self.limits.outward:
            return None
        height, landing = self.space.height(node.pose), self.space.height(place)
        if self.limits.trouble(foot, node.pose, place, landing - height):
            return None
        before = node.before.pose if node.before is not None else self.stance[foot]
        first = self.space.free(np.array([before]), np.array(node.pose), height, np.array([place]))
        second = self.space.free(np.array([node.pose]), np.array(place), landing, np.array([closing]))
        if not (first[0] and second[0]):
            return None
        chain = [(node.foot, closing), (foot, place)]
        walker: _Node | None = node
        while walker is not None:
            chain.append((walker.foot, walker.pose))
            walker = walker.before
        return chain[::-1]

    def _key(self, node: _Node) -> tuple[str, int, int, int]:
        cell, turn = self.limits.forward / 3.0, self.limits.turn_out / 3.0
        return node.foot, round(node.pose[0] / cell), round(node.pose[1] / cell), round(node.pose[2] / turn)

    def _estimate(self, foot: str, pose: Pose) -> float:
        """Steps to the goal: those of the way, and those to turn to where it leads; sideways if that is shorter."""
        limits, body = self.limits, self.limits.body(foot, pose)
        length, heading = self.ways.to_goal(body), self.ways.heading(body)
        turn = 0.5 * (limits.turn_out + limits.turn_in)
        ahead = length / limits.forward + abs(wrapped(heading - body[2])) / turn
        return min(ahead, 2.0 * length / limits.outward + abs(wrapped(self.goal[2] - body[2])) / turn)


class _Ways:
    """Lengths of shortest ways of the body to the goal, on a grid; narrow ones count more."""

    def __init__(self, space: _Space, start: Pose, goal: Pose) -> None:
        from scipy.sparse import coo_array  # takes long to import
        from scipy.sparse.csgraph import dijkstra

        near = [hull for hull in space.obstacles.hulls if np.abs(hull).max() < 100.0]
        points = np.vstack([start[:2], goal[:2], *near])
        self._low, high = points.min(axis=0) - _AROUND, points.max(axis=0) + _AROUND
        self._cell = max(space.limits.forward / 4.0, float(np.sqrt(np.prod(high - self._low) / _MOST_CELLS)))
        self._shape = tuple(ceil(size / self._cell) + 1 for size in high - self._low)
        x, y = (self._low[k] + self._cell * np.arange(self._shape[k]) for k in range(2))
        cells = np.stack(np.meshgrid(x, y, indexing="ij"), axis=-1).reshape(-1, 2)
        poses = np.column_stack([cells, np.zeros(len(cells))])
        slim = min(space.body.half_length, space.body.half_width) - self._cell
        heights = space.footing.planes(poses)[0][:, 2]
        point = BodyBox(0.0, 0.0, space.body.bottom, space.body.top)
        of_body = space.obstacles.body_gaps(poses, heights, point).min(axis=1, initial=inf).reshape(self._shape)
        soles = replace(space.limits, sole=(0.0, 0.0))
        of_feet = space.obstacles.sole_gaps(poses, heights, soles).min(axis=1, initial=inf).reshape(self._shape)
        open_cells = of_body > max(slim, 0.0)
        wide = max(space.body.half_length, space.body.half_width) + space.margin + self._cell
        apart = 0.5 * space.limits.width + space.limits.sole[1] + space.margin + self._cell
        costs = np.where((of_body < wide) | (of_feet < apart), _NARROW, 1.0)
        costs[of_feet < 0.0] = _ACROSS
        index = np.arange(open_cells.size).reshape(self._shape)
        rows, columns, lengths = [], [], []
        for i, j in ((0, 1), (1, 0), (1, 1), (1, -1)):
            a = (slice(0, self._shape[0] - i), slice(max(0, -j), self._shape[1] - max(0, j)))
            b = (slice(i, None), slice(max(0, j), self._shape[1] - max(0, -j)))
            both = open_cells[a] & open_cells[b]
            rows.append(index[a][both])
            columns.append(index[b][both])
            lengths.append(0.5 * (costs[a] + costs[b])[both] * self._cell * hypot(i, j))
        graph = coo_array(
            (np.concatenate(lengths), (np.concatenate(rows), np.concatenate(columns))), shape=(index.size,) * 2
        ).tocsr()
        nearest = self._index((goal[0], goal[1]))
        lengths, onward = dijkstra(graph, directed=False, indices=index[nearest], return_predecessors=True)
        self._lengths, self._onward = lengths.reshape(self._shape), onward
        self._grid, self._cells, self._start = index, cells, start[:2]
        ahead = np.arange(index.size)
        for _ in range(_AHEAD):
            ahead = np.where(onward[ahead] < 0, ahead, onward[ahead])
        way_on = cells[ahead] - cells
        is_near = lengths < _AHEAD * self._cell
        self._headings = np.where(is_near, goal[2], np.arctan2(way_on[:, 1], way_on[:, 0])).reshape(self._shape)

    def _index(self, point: Point) -> tuple[int, int]:
        i, j = (floor((point[k] - self._low[k]) / self._cell + 0.5) for k in range(2))
        return min(max(i, 0), self._shape[0] - 1), min(max(j, 0), self._shape[1] - 1)

    def to_goal(self, pose: Pose) -> float:
        """Way to the goal [m]; infinite if there is none, or outside the grid."""
        if not all(0.0 <= pose[k] - self._low[k] <= self._cell * (self._shape[k] - 1) for k in range(2)):
            return inf
        return float(self._lengths[self._index((pose[0], pose[1]))])

    def path(self) -> list[Point]:
        """The shortest way from the start to the goal."""
        k, cells = int(self._grid[self._index(self._start)]), [self._start]
        while (k := int(self._onward[k])) >= 0:
            cells.append((float(self._cells[k, 0]), float(self._cells[k, 1])))
        return cells[:-1] or cells

    def heading(self, pose: Pose) -> float:
        """Where the way to the goal leads from here; near the goal, where the robot shall look there [rad]."""
        return float(self._headings[self._index((pose[0], pose[1]))])


def _between(a: Pose, b: Pose) -> Pose:
    """The middle of two poses."""
    half = relative(a, b)
    return compose(a, (0.5 * half[0], 0.5 * half[1], 0.5 * half[2]))


def _wrapped(angle: Array) -> Array:
    return (angle + np.pi) % (2.0 * np.pi) - np.pi
