"""Which entries of a generalised force are newtons."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.robot import Robot

__all__ = ["row_lengths"]

_FORCES = {"prismatic": 1, "planar": 2, "translation": 3, "free": 3}  # leading rows of each kind that are forces


def row_lengths(robot: Robot, length: float = 0.1) -> NDArray[np.float64]:
    """(nv,): what each entry of a generalised force is divided by to count as a force: 1 for forces, else `length`.

    Args:
        robot: The robot.
        length: Arm at which a moment of 1 N m counts as a force of 1 / length [m].
    """
    tree, lengths = robot.tree, np.full(robot.nv, float(length))
    for i, kind in enumerate(tree.kinds):
        start = int(tree.v_index[i])
        lengths[start : start + _FORCES.get(kind, 0)] = 1.0
    return lengths
