"""Velocities that a file gives for some joints only: which ones are missing, and what they are by differences of q."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from itertools import pairwise

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.feasibility.read_motion_names import some_names
from surefoot.motion.exchange import layout_blocks
from surefoot.robot import Robot

__all__ = ["completed", "filled_in", "filled_remark"]


def completed(
    robot: Robot, layout: str, labels: Sequence[str], given: Mapping[str, Array]
) -> tuple[dict[str, Array], tuple[str, ...]]:
    """Velocities with zeros where some are missing, and the joints that these are to be filled in for.

    A joint with several axes of which one is missing lacks all of them. Velocities of followers are needed by nobody.

    Args:
        robot: The robot.
        layout: Layout of the labels.
        labels: Of all velocity entries, in the order of the layout.
        given: (n,) by label.

    Returns:
        All entries by label, none where no velocity is given; and names of joints.
    """
    blocks = layout_blocks(robot, layout)
    own = {block.name: labels[block.in_layout[1]] for block in blocks if not block.is_follower}
    lacking = tuple(name for name, entries in own.items() if not all(entry in given for entry in entries))
    if not lacking:
        return dict(given), ()
    kept = {entry: given[entry] for name, entries in own.items() if name not in lacking for entry in entries}
    if not kept:
        return {}, ()
    none = np.zeros(len(next(iter(kept.values()))))
    return {entry: kept.get(entry, none) for entries in own.values() for entry in entries}, lacking


def filled_in(robot: Robot, time: Array, q: Array, v: Array, joints: Collection[str]) -> Array:
    """(n, nv) velocities, those of some joints by differences of q on its manifold.

    Args:
        robot: The robot.
        time: (n,) increasing [s].
        q: (n, nq).
        v: (n, nv) as given.
        joints: Whose velocities were not given.
    """
    if not joints or len(time) < 2:
        return v
    steps = np.array([pin.difference(robot.model, a, b) for a, b in pairwise(np.asarray(q))]).reshape(-1, robot.nv)
    rates = np.gradient(np.vstack([np.zeros(robot.nv), np.cumsum(steps, axis=0)]), time, axis=0)
    out = np.array(v)
    for i in map(robot.joint_index, joints):
        rows = slice(int(robot.tree.v_index[i]), int(robot.tree.v_index[i]) + robot.tree.nv_of(i))
        out[:, rows] = rates[:, rows]
    return out


def filled_remark(robot: Robot, joints: Sequence[str]) -> str:
    """What was filled in, for people; "" for nothing.

    Args:
        robot: The robot.
        joints: Whose velocities were not given.
    """
    base = None if robot.base_joint is None else robot.joint_names[robot.base_joint]
    others = [name for name in joints if name != base]
    whose = [*(["the base"] if base in joints else []), *([some_names(others)] if others else [])]
    return f"velocities of {' and of '.join(whose)} are not given: they are differences of q" if whose else ""
