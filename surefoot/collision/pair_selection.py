"""Pairs that are given by names, and which volumes are held against which obstacles."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.collision.obstacles import PlacedObstacle
from surefoot.collision.pair_pruning import Pruning
from surefoot.robot import BodyVolume, Robot

__all__ = ["listed_pairs", "watched_obstacles"]


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
