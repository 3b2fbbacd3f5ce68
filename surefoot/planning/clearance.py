"""Which states are free of collisions: the robot against itself, and its body, legs and feet against the world."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.codegen import Kernel, compile_function
from surefoot.collision import CollisionModel, pair_kernel
from surefoot.collision.obstacles import PlacedObstacle, SolidKernels, world_obstacles
from surefoot.collision.pairs import MOST_OPERATIONS, PairTable
from surefoot.collision.volumes import VolumeMotion, required_volumes, source_text
from surefoot.geometry import Box, Capsule, Plane, Sphere, SweptVolume, generator_distance
from surefoot.motion import GroundBox, GroundPlane, MovableObject, Obstacle, World
from surefoot.planning.chart import LimbChart
from surefoot.robot import BodyVolume

Mask = NDArray[np.bool_]
_TOUCHES = 0.005  # volumes of a foot's link that are within this of the ground at home belong to its sole [m]
_SLOPPY = 1e-6  # rounding of distances of feet that stand [m]


@dataclass(frozen=True, eq=False)
class Solid:
    """Something in the world, with what its kernel needs.

    Args:
        name: Its name, as `collision.world_obstacles` gives it.
        kind: "plane", "box", "capsule", or "other" for one without a kernel of its own.
        numbers: Arguments of the kernel behind the points.
        obstacle: The same for pairs without a kernel.
    """

    name: str
    kind: str
    numbers: tuple[Any, ...]
    obstacle: PlacedObstacle


def solids_of(world: World) -> tuple[Solid, ...]:
    """Everything in a world: obstacles, objects, then pieces of ground.

    Args:
        world: The world.
    """
    items: list[Obstacle | MovableObject] = [*world.obstacles, *world.objects]
    things: list[tuple[Any, Array]] = [(x.shape, x.pose) for x in items]
    things += [(Box(x.size), x.pose) if isinstance(x, GroundBox) else (x, np.eye(4)) for x in world.ground]
    return tuple(_solid(x, shape, pose) for x, (shape, pose) in zip(world_obstacles(world), things, strict=True))


def _solid(placed: PlacedObstacle, shape: Any, pose: Array) -> Solid:
    match shape:
        case GroundPlane():
            return Solid(placed.name, "plane", (np.append(shape.normal, shape.normal @ np.array(shape.point)),), placed)
        case Plane():
            return Solid(placed.name, "plane", (np.append(pose[:3, 2], pose[:3, 2] @ pose[:3, 3]),), placed)
        case Box(size):
            return Solid(placed.name, "box", (pose, size), placed)
        case Sphere(radius):
            return Solid(placed.name, "capsule", (np.tile(pose[:3, 3], (2, 1)), radius), placed)
        case Capsule(radius, length):
            half = 0.5 * length * pose[:3, 2]
            return Solid(placed.name, "capsule", (np.array([pose[:3, 3] - half, pose[:3, 3] + half]), radius), placed)
    return Solid(placed.name, "other", (), placed)


def _hand_balls(chart: LimbChart) -> list[BodyVolume]:
    """Balls of the contacts that touch nothing at home: shapes of a robot may end before them."""
    robot, frames = chart.robot, chart.robot.placements(np.array(chart.robot.home))
    lowest = {name: float(points[:, 2].min()) for name, points in robot.contact_corners(np.array(robot.home)).items()}
    out = []
    for limb, centre in zip(chart.limbs, chart.home[6:].reshape(-1, 3), strict=True):
        surface = robot.contacts[limb.contact]
        if surface.radius > 0.0 and lowest[limb.contact] > min(lowest.values()) + _TOUCHES:
            link = robot.tree.body_names[limb.bodies[-1]]
            place = np.linalg.inv(frames[link]) @ np.append(centre, 1.0)
            out.append(BodyVolume(limb.bodies[-1], SweptVolume(place[None, :3], surface.radius), link))
    return out


class Clearances:
    """Distances [m] of n states, all less what must be kept.

    Attributes:
        body: (n,) of the base and all that belongs to no leg.
        legs: (n, L) of the legs without soles.
        soles: (n, L) of the soles; those that stand are not held against what they stand on.
    """

    def __init__(self, n: int, legs: int) -> None:
        self.body, self.legs, self.soles = np.full(n, np.inf), np.full((n, legs), np.inf), np.full((n, legs), np.inf)


class Clearance:
    """Collision checks of a robot in a world.

    Args:
        chart: The robot and its limbs.
        world: The world.
        keep: What bodies and legs must keep from the world and from each other [m]; soles may touch.
    """

    def __init__(self, chart: LimbChart, world: World, keep: float) -> None:
        robot, self.keep = chart.robot, float(keep)
        self.volumes = (*required_volumes(robot), *_hand_balls(chart))
        self.motion = VolumeMotion(robot, self.volumes)
        self.model = CollisionModel(robot, None, self.volumes, fuse=False)
        self.solids = solids_of(world)
        heights = np.array([self._height(k, np.array(robot.home)) for k in range(len(self.volumes))])
        self._legs, self._soles = self._parts(chart, heights)
        parts = [k for group in (*self._legs, *self._soles) for k in group]
        body = [k for k, x in enumerate(self.volumes) if k not in parts and x.body >= 0]
        allowance = np.full(len(self.volumes), self.keep)
        for group in self._soles:
            allowance[group] = np.minimum(heights[group], 0.0)
        self.kernels = SolidKernels(self.motion, [body, *self._legs, *self._soles], allowance)
        self._radius = self._robot_radius()
        at_home = float(np.min(self.model.distances(np.array(robot.home)), initial=np.inf))
        self.own_keep = min(self.keep, max(0.0, 0.5 * at_home))

    def _height(self, k: int, q: Array) -> float:
        start, count = int(self.motion.starts[k]), int(self.motion.kinds[k])
        lowest = min(x[2] for surface in self.motion.robot.contact_corners(q).values() for x in surface)
        points = self.motion.points(q[None])[0, start : start + count]
        return float(points[:, 2].min() - self.motion.radii[k] - lowest)

    def _parts(self, chart: LimbChart, heights: Array) -> tuple[list[list[int]], list[list[int]]]:
        """Volumes of each leg without its sole, and those of its sole."""
        rows = range(len(self.volumes))
        of_leg = [[k for k in rows if self.volumes[k].body in limb.bodies] for limb in chart.limbs]
        q = np.array(chart.robot.home)
        ends, points = chart.home[6:].reshape(-1, 3), self.motion.points(q[None])[0]
        soles = []
        for leg, limb, end in zip(of_leg, chart.limbs, ends, strict=True):
            last = [k for k in leg if self.volumes[k].body == limb.bodies[-1]]
            grounded = [k for k in last if heights[k] < _TOUCHES]
            # a hand touches nothing at home: its sole is what the ball of its contact lies in
            radius = chart.robot.contacts[limb.contact].radius
            soles.append(grounded or [k for k in last if self._distance_of(k, points, end) < radius])
        return [[k for k in leg if k not in sole] for leg, sole in zip(of_leg, soles, strict=True)], soles

    def _distance_of(self, k: int, points: Array, place: Array) -> float:
        """From a place (3,) to a volume, of which vertices (vertices, 3) are known [m]."""
        start, count = int(self.motion.starts[k]), int(self.motion.kinds[k])
        near = generator_distance(points[start : start + count], place[None])
        return float(near.distance - self.motion.radii[k])

    def _robot_radius(self) -> float:
        """Of a ball round the base that the robot cannot leave [m]: all of its chains stretched out."""
        tree = self.motion.robot.tree
        arm = np.zeros(tree.n)
        for i in range(1, tree.n):
            parent = int(tree.parents[i])
            arm[i] = float(np.linalg.norm(tree.placements[i][:3, 3])) + (arm[parent] if parent >= 0 else 0.0)
        ends = [
            arm[x.body] + float(np.linalg.norm(x.volume.vertices, axis=1).max()) + x.volume.radius
            for x in self.volumes
            if x.body >= 0
        ]
        return max(ends, default=0.0)

    # -- checks ---------------------------------------------------------------------------------------------------

    def points(self, q: Array) -> Array:
        """(n, vertices, 3) vertices of the volumes, for the checks below [m].

        Args:
            q: (n, nq).
        """
        return self.kernels.points(q)

    def own(self, q: Array, points: Array) -> Array:
        """(n,) smallest distance between parts of the robot, less what must be kept: half of that at home at most [m].

        Args:
            q: (n, nq).
            points: Of them.
        """
        if not len(q):
            return np.zeros(0)
        if self._own_kernel is not None:
            found: Array = self._own_kernel(np.ascontiguousarray(points))
            return found - self.own_keep
        hit = np.asarray(self.model.in_collision(q, self.own_keep))
        return np.where(hit, -1.0, 1.0)

    def world(self, points: Array, base: Array, stands_on: Sequence[int | None]) -> Clearances:
        """Distances from the world.

        Args:
            points: Of n states.
            base: (n, 3) places of the base [m].
            stands_on: For each leg the index of the solid that its sole is not held against; None for all.
        """
        legs = len(self._legs)
        out = Clearances(len(points), legs)
        for number, solid in enumerate(self.solids):
            near = np.flatnonzero(solid.obstacle.gaps(base, np.array(self._radius)) <= 0.0)
            if not len(near):
                continue
            found = self._distances(solid, points if len(near) == len(points) else points[near])
            out.body[near] = np.minimum(out.body[near], found[:, 0])
            out.legs[near] = np.minimum(out.legs[near], found[:, 1 : 1 + legs])
            held = np.array([where == number for where in stands_on])
            soles = np.where(held, np.inf, found[:, 1 + legs :] + _SLOPPY)
            out.soles[near] = np.minimum(out.soles[near], soles)
        return out

    def _distances(self, solid: Solid, points: Array) -> Array:
        match solid.kind:
            case "plane":
                return self.kernels.to_plane(points, *solid.numbers)
            case "box":
                return self.kernels.to_box(points, *solid.numbers)
            case "capsule":
                return self.kernels.to_capsule(points, *solid.numbers)
        return self._other_distances(solid.obstacle, points)

    def _other_distances(self, obstacle: PlacedObstacle, points: Array) -> Array:
        """The same without a kernel: height fields, meshes, point clouds, cylinders."""
        groups, motion = self.kernels.groups, self.motion
        out = np.full((len(points), len(groups)), np.inf)
        for g, group in enumerate(groups):
            for k in group:
                start, count = int(motion.starts[k]), int(motion.kinds[k])
                least = self.kernels.reduced_radii[k]
                near = obstacle.nearest(points[:, start : start + count], np.full(len(points), least + 0.1))
                out[:, g] = np.minimum(out[:, g], near.distance - least)
        return out

    @cached_property
    def _own_kernel(self) -> Kernel | None:
        """The smallest distance of all pairs in one kernel; None where that would be too much code."""
        motion = self.motion
        table = PairTable(motion, self.model.pruning.pairs)
        if not len(table) or sum(pair_kernel(*kinds).artifact.operations for kinds in table.kinds) > MOST_OPERATIONS:
            return None

        def smallest(points: Array) -> Any:
            out: Any = 1e30
            for a, b, radius in zip(table.first, table.second, table.radii, strict=True):
                first, second = (points[motion.starts[k] : motion.starts[k] + motion.kinds[k]] for k in (a, b))
                out = ops.minimum(out, generator_distance(first, second).distance - radius)
            return out

        identity = ("own pairs", source_text(), motion.starts, motion.kinds, table.first, table.second, table.radii)
        return compile_function("own pairs", smallest, {"points": (motion.count, 3)}, identity=identity)
