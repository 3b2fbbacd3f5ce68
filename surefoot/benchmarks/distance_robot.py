"""All self-distances of whole robots: how long a batch of random postures takes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from surefoot.benchmarks.timing import pinned
from surefoot.collision import CollisionModel, random_postures
from surefoot.robot.load import load

__all__ = ["self_distances"]

_REPEATS = 3


def self_distances(name: str, postures: int, seed: int) -> dict[str, Any]:
    """Pairs, seconds for a batch on one core, and what the fitted volumes promise.

    Args:
        name: The robot.
        postures: How many.
        seed: Of the postures.
    """
    robot = load(name)
    model = CollisionModel(robot)
    q = random_postures(robot, postures, np.random.default_rng(seed))
    model.distances(q[:64])  # compiles
    seconds = []
    with pinned():
        for _ in range(_REPEATS):
            start = time.perf_counter()
            model.distances(q)
            seconds.append(time.perf_counter() - start)
    return {
        "robot": name,
        "volumes": len(model.volumes),
        "pairs": len(model.names),
        "postures": postures,
        "seconds": float(np.median(seconds)),
    }
