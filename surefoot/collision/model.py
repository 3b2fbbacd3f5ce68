"""`CollisionModel`: how far a robot is from itself and from the world.

Pairs that are given by names, and which volumes are held against which obstacles.

SRDF files: which pairs of links need not be looked at.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterable, Sequence
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
    Pruning,
    PruningSettings,
    prune,
)
from surefoot.collision.volumes import (
    Reach,
    VolumeMotion,
    checked_postures,
    joint_travel,
    required_volumes,
    steps_between,
)
from surefoot.errors import FileFormatError, ShapeError, UnknownNameError, one_of
from surefoot.geometry import Shape
from surefoot.motion import World
from surefoot.robot import BodyVolume, Robot, read_xml

__all__ = ["CollisionModel", "disabled_in_srdf", "listed_pairs", "shipped_srdf", "watched_obstacles"]


def listed_pairs(volumes: Sequence[BodyVolume], listed: Collection[frozenset[str]]) -> Pruning:
    """All pairs of volumes of the links that are named together; those on one body never move against each other.

    Args:
        volumes: The volumes.
        listed: Pairs of names.
    """
    count = len(volumes)
    pairs = [
        (i, j)
        for i in range(count)
        for j in range(i + 1, count)
        if frozenset((volumes[i].link, volumes[j].link)) in listed and volumes[i].body != volumes[j].body
    ]
    return Pruning(np.array(pairs, dtype=np.int64).reshape(-1, 2))


def watched_obstacles(
    robot: Robot,
    volumes: Sequence[BodyVolume],
    obstacles: Sequence[PlacedObstacle],
    listed: Collection[frozenset[str]] | None,
    ignored: Collection[frozenset[str]],
) -> NDArray[np.bool_]:
    """Which volumes are held against which obstacles: (V, M).

    What does not move is held against nothing, and bodies with contact surfaces not against the ground, unless they
    are listed.

    Args:
        robot: The robot.
        volumes: Its volumes.
        obstacles: The obstacles.
        listed: Pairs of names to look at; None for all.
        ignored: Pairs of names not to look at.
    """
    feet = {robot.body_of(contact.frame) for contact in robot.contacts.values()}
    out = np.zeros((len(volumes), len(obstacles)), dtype=bool)
    for i, item in enumerate(volumes):
        for k, obstacle in enumerate(obstacles):
            names = frozenset((item.link, obstacle.name))
            stands = obstacle.is_ground and item.body in feet
            wanted = names in listed if listed is not None else not stands and names not in ignored
            out[i, k] = wanted and item.body >= 0
    return out


def disabled_in_srdf(path: str | Path) -> dict[frozenset[str], str]:
    """Pairs of links that an SRDF file disables, each with the reason that it gives.

    Args:
        path: The file.

    Raises:
        FileFormatError: It cannot be read, or a pair lacks a link.
    """
    root = read_xml(path)
    out: dict[frozenset[str], str] = {}
    for item in (element for element in root.walk() if element.tag == "disable_collisions"):
        links = frozenset(item.attributes.get(key, "") for key in ("link1", "link2"))
        if "" in links:
            raise FileFormatError("`disable_collisions` names less than two links", file=path, line=item.line)
        out[links] = item.attributes.get("reason", "")
    return out


def shipped_srdf(robot: Robot) -> Path:
    """The SRDF file that example-robot-data ships for a robot of the zoo.

    Args:
        robot: The robot, as `surefoot.load` gives it by name.

    Raises:
        UnknownNameError: There is none.
    """
    from example_robot_data.robots_loader import ROBOTS, getModelPath

    entry = ROBOTS.get(robot.name)
    if entry is not None and entry.srdf_filename:
        file = Path(getModelPath(entry.path)).resolve() / entry.path / entry.srdf_subpath / entry.srdf_filename
        if file.is_file():
            return file
    raise UnknownNameError(f"no SRDF file is shipped for `{robot.name}`", next_step="give the path of one, or none")


Indices = NDArray[np.int64]
LinkPair = tuple[str, str]
_POSTURES_AT_ONCE = 256


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
        volumes: Volumes on the bodies; fitted to the robot's shapes if left out.
        pairs: Names of two links, or of a link and an obstacle, to look at; all that are worth it if left out. What
            cannot move against each other has no column.
        srdf: SRDF file with pairs that need not be looked at.
        ignore: Pairs of names not to look at.
        margin: Nearer than that counts as a collision [m].
        pruning: How pairs are sorted out.
        fuse: Compile a kernel for all pairs, which takes seconds once; without, batches are several times slower.

    Raises:
        UnknownNameError: There is no link or obstacle that is called so.
        ModelError: Volumes are left out, and a collision shape can have none, or there is no shape at all.
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
        self._motion = VolumeMotion(robot, self.volumes)
        self._listed = None if pairs is None else tuple(frozenset(pair) for pair in pairs)
        self._ignored = tuple(frozenset(pair) for pair in ignore)
        obstacles = () if world is None else world_obstacles(world)
        self._refuse_unknown_names([x.name for x in obstacles])
        self.pruning = self._pruned({} if srdf is None else disabled_in_srdf(srdf), pruning)
        self._table = PairTable(self._motion, self.pruning.pairs)
        self._fused, self._gradients = FusedPairs(self._table, MOST_OPERATIONS * fuse), PairGradients(self._table)
        self._place(obstacles)

    def _pruned(self, in_srdf: Iterable[frozenset[str]], settings: PruningSettings | None) -> Pruning:
        if self._listed is not None:
            return listed_pairs(self.volumes, self._listed)
        return prune(self._motion, self._ignored, tuple(in_srdf), settings)

    def _refuse_unknown_names(self, obstacles: Sequence[str]) -> None:
        known = {*(item.link for item in self.volumes), *self.robot.link_names, *obstacles}
        for pair in (*(self._listed or ()), *self._ignored):
            for name in sorted(pair - known):
                raise one_of("link or obstacle", name, known)
        seen = {*(item.link for item in self.volumes), *obstacles}
        if blind := [sorted(pair) for pair in self._listed or () if len(pair) != 2 or not pair <= seen]:
            message = "pairs to look at take two names each, of links with volumes and of obstacles"
            raise ShapeError(message, evidence={"pairs": blind})

    def _place(self, obstacles: Sequence[PlacedObstacle]) -> None:
        names = [item.name for item in obstacles]
        if len({*names, *self.robot.link_names}) < len(names) + len(set(self.robot.link_names)):
            raise ShapeError("names of obstacles repeat, or are names of links", evidence={"names": names})
        watched = watched_obstacles(self.robot, self.volumes, obstacles, self._listed, self._ignored)
        self._world = ObstaclePairs(self._motion, obstacles, watched)

    # -- obstacles ------------------------------------------------------------------------------------------------

    @property
    def obstacles(self) -> tuple[PlacedObstacle, ...]:
        """The obstacles, in the order of their columns."""
        return self._world.obstacles

    def with_obstacles(self, obstacles: Sequence[PlacedObstacle]) -> CollisionModel:
        """The same robot among other obstacles; nothing is compiled anew.

        Args:
            obstacles: As `world_obstacles(world)` gives them.
        """
        other = copy.copy(self)
        for stale in ("names", "link_pairs", "_link_order", "_radii"):
            other.__dict__.pop(stale, None)
        other._place(obstacles)
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
        """The same with one obstacle less.

        Args:
            name: Its name.
        """
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
        rows = zip(self._table.first, self._table.second, strict=True)
        return tuple((self.volumes[a], self.volumes[b]) for a, b in rows)

    @cached_property
    def names(self) -> tuple[LinkPair, ...]:
        """The two links, or the link and the obstacle, of every column."""
        world, own = self._world, [(a.link, b.link) for a, b in self.self_pairs]
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
        out = self._distances(Q, np.full(len(Q), _metres("within", within)))
        return out[0] if single else out

    def _distances(self, Q: Array, within: Array) -> Array:
        own = self._fused.distances(Q, within)
        if not len(self._world):
            return own
        out = np.empty((len(Q), own.shape[1] + len(self._world)))
        out[:, : own.shape[1]] = own
        for start in range(0, len(Q), _POSTURES_AT_ONCE):
            part = slice(start, start + _POSTURES_AT_ONCE)
            out[part, own.shape[1] :] = self._world.distances(self._motion.points(Q[part]), within[part])
        return out

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
            margin: [m]; that of the model if left out.
        """
        limit = self.margin if margin is None else _metres("margin", margin)
        found: NDArray[np.bool_] = np.asarray((self.distances(q, within=limit) < limit).any(axis=-1))
        return found if found.ndim else bool(found)

    def nearest(self, q: ArrayLike) -> NearestPair:
        """The pair with the smallest distance at one posture.

        Args:
            q: (nq,).

        Raises:
            ShapeError: There are no pairs.
        """
        found = self.closest(q, 1)
        if not len(found.columns):
            raise ShapeError("there are no pairs to look at", next_step="give volumes, pairs or obstacles")
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
        if count == 1 and len(self._world):
            limit = np.minimum(limit, np.nextafter(self._world.upper_bounds(self._motion.points(Q)), np.inf))
        found = self._distances(Q, limit)[0]
        columns = np.argsort(found, kind="stable")[: max(0, count)]
        columns = columns[found[columns] < within]
        names = tuple(self.names[k] for k in columns)
        return ClosestPairs(columns, names, self.proximity(Q[0], columns))

    def proximity(self, q: ArrayLike, columns: ArrayLike | None = None) -> Proximity:
        """Distances, gradients and nearest points of columns at one posture.

        Args:
            q: (nq,).
            columns: (k,) which; all if left out.
        """
        Q = self.robot.checked_q(q)[None]
        return self._proximity(Q, np.zeros(1, dtype=np.int64), self._columns(columns))

    def gradients(self, q: ArrayLike, columns: ArrayLike | None = None) -> Array:
        """Gradients of distances: (k, nv) with d(distance)/dt = gradient @ v, or (n, k, nv).

        Args:
            q: (nq,) or (n, nq).
            columns: (k,) which; all if left out.
        """
        Q, single = checked_postures(self.robot, q)
        chosen = self._columns(columns)
        found = self._proximity(Q, np.arange(len(Q)), chosen).gradient.reshape(len(Q), len(chosen), self.robot.nv)
        return found[0] if single else found

    def _proximity(self, Q: Array, postures: Indices, columns: Indices) -> Proximity:
        """Of every posture with every column, one posture after the other."""
        points, twists = self._motion.points(Q), self._motion.twists(Q)
        rows, chosen = np.repeat(postures, len(columns)), np.tile(columns, len(postures))
        own, count, k = len(self._table), len(rows), self.robot.nv
        out = Proximity(np.empty(count), np.empty((count, k)), np.empty((count, 3)), np.empty((count, 3)))
        for part, source, shift in ((chosen < own, self._gradients, 0), (chosen >= own, self._world, own)):
            if part.any():
                out.put(part, source.at(points, twists, rows[part], chosen[part] - shift))
        return out

    def _columns(self, columns: ArrayLike | None) -> Indices:
        total = len(self._table) + len(self._world)
        if columns is None:
            return np.arange(total)
        chosen = np.asarray(columns)
        if chosen.ndim != 1 or (len(chosen) and (chosen.dtype.kind not in "iu" or not _in_range(chosen, total))):
            raise ShapeError("columns are a list of whole numbers", evidence={"columns": columns, "pairs": total})
        return chosen.astype(np.int64)

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
        moved, arms = self._arms(self._reach.extents(postures, linear))
        if padded:
            arms = arms + moved * self._radii[:, None]
        out: Array = linear @ moved.T + angular @ arms.T
        return out

    @cached_property
    def _radii(self) -> Array:
        """(pairs,) radii of the volumes of each pair, added up [m]."""
        radius = np.array([item.volume.radius for item in self.volumes])
        own, world = radius[self._table.first] + radius[self._table.second], radius[self._world.volume]
        return np.concatenate([own, world])

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

    def _arms(self, extents: Array) -> tuple[Array, Array]:
        """Which joints move which pair, and lever arms: (pairs, bodies) each."""
        own = self._reach.of_pairs(self._table.first, self._table.second, extents)
        world = self._reach.of_pairs(self._world.volume, None, extents)
        return np.vstack([own[0], world[0]]), np.vstack([own[1], world[1]])

    @cached_property
    def _reach(self) -> Reach:
        return Reach(self._motion)


def _metres(name: str, value: float) -> float:
    """A length that is a number; it may be infinite."""
    if np.isnan(value):
        raise ShapeError(f"{name} is {value}", next_step="give metres")
    return float(value)


def _in_range(columns: NDArray[np.int64], total: int) -> bool:
    return bool(columns.min() >= 0 and columns.max() < total)
