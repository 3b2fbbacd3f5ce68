"""Shapes for measuring clearance, and pairs of links that are not judged.

Shapes that overlap at home are a flaw of the robot's file, not of the motion. Adjacent links are made to touch, also
where links without shapes lie between them; those of them that are near each other at home are named, because one
would expect them to be judged.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from surefoot.collision import CollisionModel, ExactCollision, PruningSettings, world_obstacles
from surefoot.collision.volumes import quick_volumes
from surefoot.errors import ModelError
from surefoot.geometry import Box, Plane
from surefoot.motion import GroundBox, GroundPlane, Obstacle, World
from surefoot.robot import Robot

_MOST_LINKS = 6


def standing_shapes(world: World) -> tuple[Obstacle, ...]:
    """Everything in a world that can be measured exactly: obstacles, objects, level and tilted ground, boxes."""
    poses = {thing.name: thing.pose for thing in world_obstacles(world)}
    out = [*world.obstacles, *(Obstacle(thing.name, thing.shape, thing.pose) for thing in world.objects)]
    for k, piece in enumerate(world.ground):
        name = f"ground {k}"
        if isinstance(piece, GroundPlane | GroundBox):
            out.append(Obstacle(name, Box(piece.size) if isinstance(piece, GroundBox) else Plane(), poses[name]))
    return tuple(out)


def _bare_links(robot: Robot) -> tuple[str, ...]:
    """Links that lost a collision shape because its mesh is missing, in the order of the robot's links."""
    lost = {link for note in robot.notes for link in note.bare}
    return tuple(link for link in robot.link_names if link in lost)


def missing_shapes_note(robot: Robot) -> str:
    """One sentence about the links that clearance is judged without; "" where nothing is missing."""
    lost = _bare_links(robot)
    if not lost:
        return ""
    more = f" and {len(lost) - _MOST_LINKS} more" if len(lost) > _MOST_LINKS else ""
    names = ", ".join(f"`{link}`" for link in lost[:_MOST_LINKS])
    return f"clearance is judged without the missing collision meshes of {names}{more}"


Pair = tuple[str, str]
_NEAR = 0.05  # [m]: pairs that hang on each other are named if they are nearer at home
_MOST_NAMES = 3


@dataclass(frozen=True)
class _UnjudgedPairs:
    """Pairs of links that are not judged.

    Args:
        nested: Their shapes overlap at home.
        hanging: They hang on each other by links without shapes, and are near each other at home.
    """

    nested: frozenset[Pair]
    hanging: frozenset[Pair]

    @property
    def notes(self) -> list[str]:
        """A sentence for each kind, if there are such pairs."""
        kinds = (
            ("not judged, because their shapes overlap in the home posture", self.nested),
            ("not judged, because only links without shapes lie between them", self.hanging),
        )
        return [f"{why}: {_listed(pairs)}" for why, pairs in kinds if pairs]


@lru_cache(maxsize=8)
def clearance_model(robot: Robot) -> CollisionModel:
    """Volumes of the robot with all pairs that hulls may have to decide: those that overlap at home too.

    Fitted volumes would be tighter and a fused kernel faster, but for a robot that was never seen both take longer than
    the audit itself; hulls decide anyway.

    Raises:
        ModelError: The robot has no collision shapes, or some that can have no volumes.
    """
    settings = PruningSettings(near_home=-np.inf)
    return CollisionModel(robot, volumes=quick_volumes(robot), pruning=settings, fuse=False)


@lru_cache(maxsize=8)
def unjudged_pairs(robot: Robot) -> _UnjudgedPairs:
    """Pairs of links of a robot that the audit does not judge.

    Raises:
        ModelError: As for `clearance_model`.
    """
    model = clearance_model(robot)
    distances = model.link_distances(robot.home)
    near = [pair for pair, d in zip(model.link_pairs, distances, strict=True) if d <= 0.0]
    shapeless = frozenset(pair for pair in near if not set(pair) <= links_with_shapes(robot))
    nested = _nearer_at_home(robot, [pair for pair in near if pair not in shapeless], 0.0)
    return _UnjudgedPairs(shapeless | nested, _nearer_at_home(robot, _hanging(robot, model), _NEAR))


def unjudged_notes(robot: Robot) -> list[str]:
    """Remarks on the pairs of links that the audit does not judge."""
    try:
        return [f"self-collision: {note}" for note in unjudged_pairs(robot).notes]
    except ModelError:
        return []  # nothing is judged, which is said elsewhere


def links_with_shapes(robot: Robot) -> set[str]:
    """Links whose collision shapes are known."""
    return {item.link for item in robot.collisions}


def _nearer_at_home(robot: Robot, pairs: Collection[Pair], limit: float) -> frozenset[Pair]:
    hulls = ExactCollision(robot, pairs).distances(robot.home)
    return frozenset(pair for pair, d in zip(pairs, hulls, strict=True) if d <= limit)


def _hanging(robot: Robot, model: CollisionModel) -> list[Pair]:
    """Pairs that are omitted as neighbours although there is a body between them."""
    out, parents = set(), robot.tree.parents
    for (i, j), reason in model.pruning.reasons.items():
        first, second = sorted((model.volumes[i], model.volumes[j]), key=lambda item: item.body)
        if reason == "adjacent" and first.body != second.body and int(parents[second.body]) != first.body:
            out.add((first.link, second.link))
    return sorted(pair for pair in out if set(pair) <= links_with_shapes(robot))


def _listed(pairs: Collection[Pair]) -> str:
    names = sorted("–".join(pair) for pair in pairs)
    more = f" and {len(names) - _MOST_NAMES} more" if len(names) > _MOST_NAMES else ""
    return ", ".join(names[:_MOST_NAMES]) + more
