"""Reasons to leave pairs of volumes out, searched once and kept in surefoot's cache (`surefoot.compiler.cache`).

The search looks at thousands of postures; its result depends on numbers only, and a fresh process can read it.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from surefoot.collision.sources import source_text, tree_identity
from surefoot.collision.volume_motion import VolumeMotion
from surefoot.compiler import cache

__all__ = ["stored_reasons"]


def stored_reasons(
    motion: VolumeMotion, pairs: NDArray[np.int64], settings: tuple[float, ...], search: Callable[[], list[str]]
) -> list[str]:
    """The reason of every pair, from the cache where the same was searched before.

    Args:
        motion: The volumes.
        pairs: (P, 2) indices of volumes.
        settings: Numbers that decide about the search.
        search: Finds the reasons.
    """
    robot, limits = motion.robot, motion.robot.limits
    numbers = robot.home, limits.lower, limits.upper, motion.radii, motion.bodies, motion.kinds, *motion.numbers
    values = [np.asarray(x) for x in numbers]
    key = cache.key(
        "pairs of volumes", source_text(), repr(settings), str(robot.base_joint), *tree_identity(robot.tree),
        *values, pairs,
    )  # fmt: skip
    content = cache.load(key)
    if content is not None:
        return content.decode().split("\n")
    found = search()
    description = {"robot": robot.name, "algorithm": "pairs of volumes", "build": f"{len(found)}"}
    cache.store(key, "\n".join(found).encode(), description)
    return found
