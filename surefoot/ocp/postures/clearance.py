"""Distances as constraints: which bodies come near to each other, and rows that keep them apart."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.collision import CollisionModel
from surefoot.collision.volumes import required_volumes, stored_fit
from surefoot.errors import ShapeError, one_of
from surefoot.geometry import smooth_distance
from surefoot.geometry.fit import DEFAULT_GAIN
from surefoot.kinematics import Frame, frame_placement, volume_distance
from surefoot.motion import Obstacle, World
from surefoot.ocp.node import Node
from surefoot.ocp.shape import Block
from surefoot.ops import Array as AnyArray
from surefoot.robot import BodyVolume, Robot, Tree

Pair = tuple[str, str]
VolumePair = tuple[BodyVolume, BodyVolume]
BLUR = 5e-3
"""Rounding of distances, see `smooth_distance` [m]."""
_ROOM = 1e-3  # bodies that are near at home may come nearer by this [m]
_ROUND = 0.01  # radius of the edges of an obstacle with free height [m]
_MOST = 4  # volumes around an obstacle
_FINE = 0.01  # between looks at a motion [s]


def volumes_of_pair(robot: Robot, world: World, pair: Pair) -> list[VolumePair]:
    """Volumes of two bodies, or of a body and an obstacle, that can meet.

    Args:
        robot: The robot.
        world: Its obstacles.
        pair: Two names.
    """
    obstacles = {item.name: item for item in world.obstacles}
    if obstacles.keys() & set(pair):
        first, second = (_volumes_of(robot, obstacles, name) for name in pair)
        found = [(a, b) for a in first for b in second if a.body != b.body]
    else:
        for name in pair:
            _volumes_of(robot, obstacles, name)
        model = collision_model(robot)
        found = [both for both in model.self_pairs if {x.link for x in both} == set(pair)]
    if not found:
        raise ShapeError("the bodies cannot meet, or always do", evidence={"pair": pair})
    return found


def distance_block(robot: Robot, name: str, volumes: Sequence[VolumePair], margin: float) -> tuple[Block, Array]:
    """Rows that are the distances of volumes [m], and the least that they may be: the margin, or that at home.

    Second derivatives are taken where volumes have one or two vertices; those of triangles would be thousands of
    operations a row.

    Args:
        robot: The robot.
        name: Of the block.
        volumes: Pairs of volumes.
        margin: [m].
    """
    is_curved = all(len(x.volume.vertices) < 3 for both in volumes for x in both)
    key = ("apart", *(_numbers(x) for both in volumes for x in both))
    at_home = np.asarray(distances(robot.tree, np.array(robot.home), volumes), dtype=float)
    block = Block(name, _rows(volumes), "row", key=key, of_posture=True, is_curved=is_curved)
    return block, np.minimum(margin, at_home - _ROOM)


def _rows(volumes: Sequence[VolumePair]) -> Callable[[Node], AnyArray]:
    return lambda node: distances(node.tree, node.q, volumes)


def distances(tree: Tree, q: Any, volumes: Sequence[VolumePair]) -> AnyArray:
    """Distances (m,) of volumes [m], smooth and not above the exact ones.

    Args:
        tree: The robot.
        q: (nq,) configuration, also of symbols.
        volumes: Pairs of volumes.
    """
    return ops.stack(
        [volume_distance(tree, q, a, b, BLUR).distance - excess(a.volume.radius + b.volume.radius) for a, b in volumes]
    )


def excess(radii: float) -> float:
    """By how much a smooth distance of surfaces that do not overlap may exceed the exact one [m]: blur² / 2d at most.

    Args:
        radii: Sum of the two radii [m]: how far the generators are apart at least.
    """
    return min(BLUR, 0.5 * BLUR**2 / max(radii, 1e-9))


def _numbers(x: BodyVolume) -> tuple[Any, ...]:
    return x.body, x.volume.radius, np.asarray(x.volume.vertices).tobytes()


def _volumes_of(robot: Robot, obstacles: Mapping[str, Obstacle], name: str) -> list[BodyVolume]:
    """Volumes of a link, or around an obstacle."""
    own = _own_volumes(robot)
    if name in own:
        return own[name]
    if name not in obstacles:
        raise one_of("link with volumes, or obstacle", name, (*own, *obstacles))
    fit = stored_fit([(obstacles[name].shape, np.eye(4))], _MOST, DEFAULT_GAIN, name)
    return [BodyVolume(-1, volume.placed(obstacles[name].pose), name) for volume in fit.volumes]


@lru_cache(maxsize=8)
def _own_volumes(robot: Robot) -> dict[str, list[BodyVolume]]:
    found: dict[str, list[BodyVolume]] = {}
    for volume in required_volumes(robot):
        found.setdefault(volume.link, []).append(volume)
    return found


def near_volumes(solution: Any, within: float) -> dict[Pair, list[VolumePair]]:
    """Volumes of the robot that come nearer to each other than a distance, also between nodes, by their links.

    Those that are nearer at home are listed only if they come nearer still.

    Args:
        solution: A `Solution`.
        within: [m].
    """
    robot, motion = solution.problem.robot, solution.trajectory
    model = collision_model(robot)
    count = len(model.self_pairs)
    Q = motion.resample(dt=min(_FINE, (motion.end - motion.start) / 10)).q
    least = model.distances(Q)[:, :count].min(axis=0)
    is_near = least < np.minimum(within, model.distances(robot.home)[:count] - _ROOM)
    found: dict[Pair, list[VolumePair]] = {}
    for k in np.flatnonzero(is_near):
        a, b = model.self_pairs[k]
        found.setdefault((a.link, b.link), []).append((a, b))
    return found


@lru_cache(maxsize=4)
def collision_model(robot: Robot) -> CollisionModel:
    """Distances of all pairs of a robot's own volumes that can meet."""
    return CollisionModel(robot)


# -- an obstacle across the way -----------------------------------------------------------------------------------


def leg_volumes(robot: Robot, foot: str) -> dict[str, list[BodyVolume]]:
    """Volumes of the three last bodies of a leg that have one: foot, shank and thigh, by link.

    Args:
        robot: The robot.
        foot: A contact.
    """
    by_body: dict[int, list[BodyVolume]] = {}
    for volume in required_volumes(robot):
        by_body.setdefault(volume.body, []).append(volume)
    found: dict[str, list[BodyVolume]] = {}
    body = robot.body_of(robot.contacts[foot].frame)
    while body > 0 and len(found) < 3:
        for volume in by_body.get(body, ()):
            found.setdefault(volume.link, []).append(volume)
        body = int(robot.tree.parents[body])
    if not found:
        raise ShapeError(f"the leg of `{foot}` has no shapes to keep away from an obstacle")
    return found


def obstacle_rows(
    volumes: Sequence[BodyVolume], width: float, parameters: tuple[str, str]
) -> Callable[[Node], AnyArray]:
    """Distances [m] of volumes to an obstacle that lies across the way and is as wide as the world.

    Its profile is a box with round edges: two walls and a lid. Only the x–z plane counts, in which a triangle is as
    near as its edges.

    Args:
        volumes: On one or several bodies.
        width: Of the obstacle [m].
        parameters: Names of two free parameters: x of the middle of the obstacle, and its height [m].
    """

    def rows(node: Node) -> AnyArray:
        x, top = node.parameters[parameters[0]], node.parameters[parameters[1]] - _ROUND
        side, zero = 0.5 * width - _ROUND, 0.0 * x
        left, right = x - side, x + side
        lines = (
            ops.array([[left, zero, zero], [left, zero, top]]),
            ops.array([[right, zero, zero], [right, zero, top]]),
            ops.array([[left, zero, top], [right, zero, top]]),
        )
        found = []
        for item in volumes:
            T = frame_placement(node.tree, Frame(item.body), node.q)
            points = [T[:3, :3] @ vertex + T[:3, 3] for vertex in item.volume.vertices]
            radius = item.volume.radius + _ROUND
            for edge in _edges(points):
                profile = ops.array([[point[0], zero, point[2]] for point in edge])
                near = [smooth_distance(profile, line, BLUR).distance for line in lines]
                found += [distance - radius - excess(radius) for distance in near]
        return ops.stack(found)

    return rows


def _edges(points: list[AnyArray]) -> list[list[AnyArray]]:
    """A point, a line, or the edges of a triangle."""
    return [points] if len(points) < 3 else [[points[i], points[j]] for i, j in ((0, 1), (1, 2), (0, 2))]
