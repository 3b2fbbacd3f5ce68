"""Whether a constraint was made for the robot that it is used with.

Frames are found in a robot once and are numbers from then on: an index of a body and a place on it. In another robot
they would tie something else, without a word.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from surefoot.errors import ModelError
from surefoot.robot import Robot, Tree

__all__ = ["require_owner"]

_NAMES = ("joint_names", "body_names", "kinds")
_NUMBERS = ("parents", "placements", "axes", "pitches", "mimic_source", "mimic_ratio", "mimic_offset")


def require_owner(robot: Robot, what: str, owner: Tree | None) -> None:
    """Refuse what was made for a robot with other joints; masses, drives and gravity may differ.

    Args:
        robot: The robot that it is used with.
        what: What was made, e.g. "constraint `foot`".
        owner: The tree that it was made for; None where that is not known.

    Raises:
        ModelError: It was made for another robot.
    """
    if owner is None or owner is robot.tree:
        return
    difference = _difference(owner, robot.tree)
    if difference:
        raise ModelError(
            f"{what} was made for another robot than `{robot.name}`",
            evidence={"they differ in": difference},
            next_step="make it anew with this robot",
        )


@lru_cache(maxsize=64)
def _difference(one: Tree, other: Tree) -> str:
    """What two trees differ in, in words; empty where constraints of one mean the same in the other."""
    for name in _NAMES:
        ours, theirs = getattr(one, name), getattr(other, name)
        if ours != theirs:
            unlike = [f"`{a}` for `{b}`" for a, b in zip(ours, theirs, strict=False) if a != b]
            return f"{name}: {', '.join(unlike[:3]) or f'{len(ours)} for {len(theirs)}'}"
    changed = [name for name in _NUMBERS if not np.array_equal(getattr(one, name), getattr(other, name))]
    return ", ".join(changed)
