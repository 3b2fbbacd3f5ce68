"""`CollisionModel`: how far a robot is from itself and from the world.

`Columns`: distances, gradients and travel of all pairs of a collision model, own pairs and pairs with obstacles.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.arrays import Array
from surefoot.collision.obstacles import ObstaclePairs, PlacedObstacle, PointCloud, placed_obstacle, world_obstacles
from surefoot.collision.pairs import (
    MOST_OPERATIONS,
    ClosestPairs,
    FusedPairs,
    NearestPair,
    PairGradients,
    PairTable,
    Proximity,
    PruningSettings,
    prune,
)
from surefoot.collision.selection import disabled_in_srdf, listed_pairs, require_known_names, watched_obstacles
from surefoot.collision.volumes import (
    Reach,
    VolumeMotion,
    checked_postures,
    joint_travel,
    required_volumes,
    steps_between,
)
from surefoot.errors import ShapeError, one_of
from surefoot.geometry import Shape
from surefoot.motion import World
from surefoot.robot import BodyVolume, Robot

Indices = NDArray[np.int64]
LinkPair = tuple[str, str]


class CollisionModel:
    """Distances between the volumes of a robot, and from them to obstacles.

        model = CollisionModel(sf.load("g1"), world)
        model.distances(q)                   # (pairs,), or (n, pairs) for postures (n, nq)
        model.nearest(q).links               # the two links that are nearest to each other
        model.in_collision(Q)                # (n,) of a batch

    Every column of `distances` is a pair: first the pairs of two volumes of the robot, then those of a volume and an
    obstacle. Distances are between surfaces, negative where they overlap. Inside a solid obstacle they are minus the
    way of the generator to its surface, minus the radius: for a ball, the way out.

    Args:
        robot: The robot.
        world: Its obstacles, objects and ground; bodies with contact surfaces are not held against the ground.
        volumes: Volumes on the bodies; fitted to the robot's shapes if omitted.
        pairs: Names of two links, or of a link and an obstacle, to look at; all that are worth it if omitted. What
            cannot move against each other has no column.
        srdf: SRDF file with pairs that need not be looked at.
        ignore: Pairs of names not to look at, beside those that the robot excludes.
        margin: Nearer than that counts as a collision [m].
        pruning: How pairs are sorted out.
        fuse: Compile a kernel for all pairs, which takes seconds once; without, batches are several times slower.

    Raises:
        UnknownNameError: There is no link or obstacle of that name.
        ModelError: Volumes are omitted, and a collision shape can have none, or there is no shape at all.
        ShapeError: A pair to look at names a link without volumes, or as for `robot_volumes`.
    """

    def __init__(
        self,
        robot: Robot,
        world: World | None = None,
        volumes: Sequence[BodyVolume] | None = None,
        pairs: Iterable[LinkPair] | None = None,
        srdf: str | Path | None = None,
        ignore: Iterable[LinkPair] = (),
        margin: float = 0.0,
        pruning: PruningSettings | None = None,
        fuse: bool = True,
    ) -> None:
        if not np.isfinite(margin):
            raise ShapeError(f"margin is {margin}", next_step="give metres")
        self.robot, self.margin = robot, float(margin)
        self.volumes = required_volumes(robot) if volumes is None else tuple(volumes)
        self._listed = None if pairs is None else tuple(frozenset(pair) for pair in pairs)
        self._ignored = tuple(frozenset(pair) for pair in (*ignore, *robot.excludes))
        obstacles = () if world is None else world_obstacles(world)
        require_known_names(robot, self.volumes, obstacles, self._listed, self._ignored)
        motion = VolumeMotion(robot, self.volumes)
        if self._listed is not None:
            self.pruning = listed_pairs(self.volumes, self._listed)
        else:
            self.pruning = prune(motion, self._ignored, () if srdf is None else tuple(disabled_in_srdf(srdf)), pruning)
        table = PairTable(motion, self.pruning.pairs)
        fused = FusedPairs(table, MOST_OPERATIONS * fuse)
        self._columns = Columns(fused, PairGradients(table), Reach(motion), self._pairs_with(obstacles, motion))

    def _pairs_with(self, obstacles: Sequence[PlacedObstacle], motion: VolumeMotion) -> ObstaclePairs:
        names = [item.name for item in obstacles]
        if len({*names, *self.robot.link_names}) < len(names) + len(set(self.robot.link_names)):
            raise ShapeError(
                "names of obstacles must differ from each other and from names of links", evidence={"names": names}
            )
        watched = watched_obstacles(self.robot, self.volumes, obstacles, self._listed, self._ignored)
        return ObstaclePairs(motion, obstacles, watched)

    # -- obstacles ------------------------------------------------------------------------------------------------

    @property
    def obstacles(self) -> tuple[PlacedObstacle, ...]:
        """The obstacles, in the order of their columns."""
        return self._columns.world.obstacles

    def with_obstacles(self, obstacles: Sequence[PlacedObstacle]) -> CollisionModel:
        """The same robot among other obstacles, such as `world_obstacles(world)`; nothing is compiled anew."""
        other = copy.copy(self)
        for stale in ("names", "link_pairs", "_link_order"):
            other.__dict__.pop(stale, None)
        other._columns = replace(self._columns, world=self._pairs_with(obstacles, self._columns.motion))
        return other

    def with_obstacle(
        self, name: str, shape: Shape | PointCloud | ArrayLike, pose: ArrayLike | None = None
    ) -> CollisionModel:
        """The same with one obstacle more, or with another one of that name.

        Args:
            name: Its name.
            shape: A shape, a point cloud, or an array (n, 3) of points [m].
            pose: T_world_shape, (4, 4).
        """
        new = placed_obstacle(name, shape, pose)
        return self.with_obstacles([*(item for item in self.obstacles if item.name != name), new])

    def without_obstacle(self, name: str) -> CollisionModel:
        """The same with one obstacle less."""
        self._obstacle_index(name)
        return self.with_obstacles([item for item in self.obstacles if item.name != name])

    def moved(self, name: str, pose: ArrayLike) -> CollisionModel:
        """The same with one obstacle elsewhere; columns stay what they are.

        Args:
            name: Its name.
            pose: T_world_obstacle, (4, 4).
        """
        k = self._obstacle_index(name)
        return self.with_obstacles([x.moved(pose) if i == k else x for i, x in enumerate(self.obstacles)])

    def _obstacle_index(self, name: str) -> int:
        names = [item.name for item in self.obstacles]
        if name not in names:
            raise one_of("obstacle", name, names)
        return names.index(name)

    # -- columns --------------------------------------------------------------------------------------------------

    @property
    def self_pairs(self) -> tuple[tuple[BodyVolume, BodyVolume], ...]:
        """The two volumes of every column that belongs to the robot alone."""
        rows = zip(self._columns.table.first, self._columns.table.second, strict=True)
        return tuple((self.volumes[a], self.volumes[b]) for a, b in rows)

    @cached_property
    def names(self) -> tuple[LinkPair, ...]:
        """The two links, or the link and the obstacle, of every column."""
        world, own = self._columns.world, [(a.link, b.link) for a, b in self.self_pairs]
        rows = zip(world.volume, world.obstacle, strict=True)
        return (*own, *((self.volumes[v].link, world.obstacles[k].name) for v, k in rows))

    @cached_property
    def link_pairs(self) -> tuple[LinkPair, ...]:
        """Pairs of links, or of a link and an obstacle, that columns belong to, each once."""
        return tuple({frozenset(pair): pair for pair in reversed(self.names)}.values())[::-1]

    # -- distances ------------------------------------------------------------------------------------------------

    def distances(self, q: ArrayLike, within: float = np.inf) -> Array:
        """Distances (pairs,) [m], or (n, pairs).

        Args:
            q: (nq,) or (n, nq).
            within: Distances that are not below that may be lower bounds, which is quicker [m].
        """
        Q, single = checked_postures(self.robot, q)
        out = self._columns.distances(Q, np.full(len(Q), _metres("within", within)))
        return out[0] if single else out

    def link_distances(self, q: ArrayLike, within: float = np.inf) -> Array:
        """The smallest distance of each of `link_pairs`, (link pairs,) [m], or (n, link pairs).

        Args:
            q: (nq,) or (n, nq).
            within: As for `distances`.
        """
        found = self.distances(q, within)
        if not self.link_pairs:
            return found[..., :0]
        order, starts = self._link_order
        return np.minimum.reduceat(found[..., order], starts, axis=-1)

    @cached_property
    def _link_order(self) -> tuple[Indices, Indices]:
        """Columns sorted by link pair, and where each link pair starts."""
        place = {frozenset(pair): k for k, pair in enumerate(self.link_pairs)}
        belongs = np.array([place[frozenset(pair)] for pair in self.names], dtype=np.int64)
        order = np.argsort(belongs, kind="stable")
        return order, np.searchsorted(belongs[order], np.arange(len(self.link_pairs)))

    def in_collision(self, q: ArrayLike, margin: float | None = None) -> NDArray[np.bool_] | bool:
        """Whether anything is nearer than the margin: a bool, or (n,) of them.

        Args:
            q: (nq,) or (n, nq).
            margin: [m]; that of the model if omitted.
        """
        limit = self.margin if margin is None else _metres("margin", margin)
        found: NDArray[np.bool_] = np.asarray((self.distances(q, within=limit) < limit).any(axis=-1))
        return found if found.ndim else bool(found)

    def nearest(self, q: ArrayLike) -> NearestPair:
        """The pair with the smallest distance at one posture (nq,).

        Raises:
            ShapeError: There are no pairs.
        """
        found = self.closest(q, 1)
        if not len(found.columns):
            raise ShapeError("there are no pairs to check", next_step="give volumes, pairs or obstacles")
        return found.first()

    def closest(self, q: ArrayLike, count: int, within: float = np.inf) -> ClosestPairs:
        """The pairs with the smallest distances at one posture, nearest first, with points and gradients.

        Args:
            q: (nq,).
            count: How many at most.
            within: Only those that are nearer than that [m].
        """
        Q = self.robot.checked_q(q)[None]
        limit = np.full(1, _metres("within", within))
        if count == 1:
            limit = np.minimum(limit, np.nextafter(self._columns.upper_bounds(Q), np.inf))
        found = self._columns.distances(Q, limit)[0]
        columns = np.argsort(found, kind="stable")[: max(0, count)]
        columns = columns[found[columns] < within]
        names = tuple(self.names[k] for k in columns)
        return ClosestPairs(columns, names, self.proximity(Q[0], columns))

    def proximity(self, q: ArrayLike, columns: ArrayLike | None = None) -> Proximity:
        """Distances, gradients and nearest points of columns at one posture.

        Args:
            q: (nq,).
            columns: (k,) which; all if omitted.
        """
        Q = self.robot.checked_q(q)[None]
        return self._columns.proximity(Q, self._columns.chosen(columns))

    def gradients(self, q: ArrayLike, columns: ArrayLike | None = None) -> Array:
        """Gradients of distances: (k, nv) with d(distance)/dt = gradient @ v, or (n, k, nv).

        Args:
            q: (nq,) or (n, nq).
            columns: (k,) which; all if omitted.
        """
        Q, single = checked_postures(self.robot, q)
        chosen = self._columns.chosen(columns)
        found = self._columns.proximity(Q, chosen).gradient.reshape(len(Q), len(chosen), self.robot.nv)
        return found[0] if single else found

    # -- between postures -----------------------------------------------------------------------------------------

    def travel(self, start: ArrayLike, end: ArrayLike) -> Array:
        """By how much distances can change at most in the straight motion from one posture to another.   [col.travel].

        Args:
            start: (nq,) or (n, nq).
            end: (nq,) or (n, nq).

        Returns:
            (pairs,) [m], or (n, pairs).
        """
        (Q0, single), (Q1, _) = checked_postures(self.robot, start), checked_postures(self.robot, end)
        if np.shape(start) != np.shape(end):
            evidence = {"starts": np.shape(start), "ends": np.shape(end)}
            raise ShapeError("motions need as many ends as starts", evidence=evidence)
        linear, angular = joint_travel(self.robot, steps_between(self.robot, Q0, Q1))
        out = self.travel_of(np.vstack([Q0, Q1]), linear, angular)
        return out[0] if single else out

    def travel_of(self, postures: Array, linear: Array, angular: Array, padded: bool = False) -> Array:
        """By how much distances can change at most while the joints move so far, (n, pairs) [m].

        Args:
            postures: (k, nq) from which the motions begin or where they end, for the extents of sliding joints.
            linear: (n, bodies) way of each joint along itself [m].
            angular: (n, bodies) way of each joint about itself [rad].
            padded: Whether the distances are those of shapes inside the volumes, whose points lie off the generators.
        """
        return self._columns.travel(postures, linear, angular, padded)

    def lower_bounds(self, start: ArrayLike, end: ArrayLike) -> Array:
        """What distances cannot fall below in the straight motion from one posture to another.

        From each end the distance falls no faster than the travel, so it stays above (d_0 + d_1 − travel) / 2.

        Args:
            start: (nq,) or (n, nq).
            end: (nq,) or (n, nq).

        Returns:
            (pairs,) [m], or (n, pairs).
        """
        return 0.5 * (self.distances(start) + self.distances(end) - self.travel(start, end))


def _metres(name: str, value: float) -> float:
    """A length that is a number; it may be infinite."""
    if np.isnan(value):
        raise ShapeError(f"{name} is {value}", next_step="give metres")
    return float(value)


_POSTURES_AT_ONCE = 256


@dataclass(frozen=True, eq=False)
class Columns:
    """One column per pair: first the pairs of two volumes of the robot, then those of a volume and an obstacle.

    Args:
        own: Distances of the robot's own pairs.
        gradients: Their gradients.
        reach: Lever arms of the volumes.
        world: Pairs with obstacles.
    """

    own: FusedPairs
    gradients: PairGradients
    reach: Reach
    world: ObstaclePairs

    @property
    def table(self) -> PairTable:
        """The robot's own pairs."""
        return self.own.table

    @property
    def motion(self) -> VolumeMotion:
        """The volumes."""
        return self.own.table.motion

    def chosen(self, columns: ArrayLike | None) -> NDArray[np.int64]:
        """Indices (k,) of columns, checked; of all for None."""
        total = len(self.table) + len(self.world)
        if columns is None:
            return np.arange(total)
        chosen = np.asarray(columns)
        whole = chosen.ndim == 1 and (not len(chosen) or chosen.dtype.kind in "iu")
        if not whole or not ((chosen >= 0) & (chosen < total)).all():
            raise ShapeError("columns must be a list of whole numbers", evidence={"columns": columns, "pairs": total})
        return chosen.astype(np.int64)

    def distances(self, Q: Array, within: Array) -> Array:
        """Distances (n, pairs) [m]; those not below `within` may be lower bounds.

        Args:
            Q: (n, nq).
            within: (n,) [m].
        """
        own = self.own.distances(Q, within)
        if not len(self.world):
            return own
        out = np.empty((len(Q), own.shape[1] + len(self.world)))
        out[:, : own.shape[1]] = own
        for start in range(0, len(Q), _POSTURES_AT_ONCE):
            part = slice(start, start + _POSTURES_AT_ONCE)
            out[part, own.shape[1] :] = self.world.distances(self.motion.points(Q[part]), within[part])
        return out

    def upper_bounds(self, Q: Array) -> Array:
        """(n,) some obstacle is nearer than that; infinite where there is none [m]."""
        return self.world.upper_bounds(self.motion.points(Q)) if len(self.world) else np.full(len(Q), np.inf)

    def proximity(self, Q: Array, columns: NDArray[np.int64]) -> Proximity:
        """Distances, gradients and nearest points of every posture with every column, one posture after the other.

        Args:
            Q: (n, nq).
            columns: (k,).
        """
        points, twists = self.motion.points(Q), self.motion.twists(Q)
        rows, chosen = np.repeat(np.arange(len(Q)), len(columns)), np.tile(columns, len(Q))
        if len(columns) and not len(self.world):
            return self.gradients.at(points, twists, rows, chosen)
        own, count, nv = len(self.table), len(rows), self.motion.robot.nv
        out = Proximity(np.empty(count), np.empty((count, nv)), np.empty((count, 3)), np.empty((count, 3)))
        for part, source, shift in ((chosen < own, self.gradients, 0), (chosen >= own, self.world, own)):
            if part.any():
                out.put(part, source.at(points, twists, rows[part], chosen[part] - shift))
        return out

    def travel(self, postures: Array, linear: Array, angular: Array, padded: bool) -> Array:
        """By how much distances can change at most, (n, pairs) [m]; see `CollisionModel.travel_of`.

        Args:
            postures: (k, nq).
            linear: (n, bodies) [m].
            angular: (n, bodies) [rad].
            padded: Whether points lie off the generators by the radii.
        """
        extents, table, world = self.reach.extents(postures, linear), self.table, self.world
        groups = ((table.first, table.second), (world.volume, None))
        parts = [self.reach.of_pairs(first, second, extents) for first, second in groups]
        moved, arms = (np.vstack(part) for part in zip(*parts, strict=True))
        if padded:
            arms = arms + moved * np.concatenate([table.radii, self.motion.radii[world.volume]])[:, None]
        out: Array = linear @ moved.T + angular @ arms.T
        return out
