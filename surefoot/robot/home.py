"""The home posture: as given or zero, inside the limits, couplings held, feet on the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.robot.contact_search import height_on_ground
from surefoot.robot.loops import Coupling
from surefoot.robot.robot import Robot

__all__ = ["home_posture", "on_ground"]

Array = NDArray[np.float64]


def home_posture(
    robot: Robot, given: Mapping[str, float] | None, base: Sequence[float] | None, ties: Sequence[Coupling]
) -> Array:
    """The home posture, (nq,), its base where `base` puts it.

    Args:
        robot: The robot.
        given: Joint positions by name; None for zero positions moved inside the limits.
        base: First entries of q; None for neutral.
        ties: All couplings, also those that were coupled away.
    """
    positions = dict(given) if given is not None else _inside_limits(robot, ties)
    for name in positions:
        robot.joint_index(name)
    tied = _tied(positions, ties)
    return robot.q_of({name: x for name, x in tied.items() if robot.tree.nq_of(robot.joint_index(name))}, base)


def _inside_limits(robot: Robot, ties: Sequence[Coupling]) -> dict[str, float]:
    """Zero, or the nearest position inside the limits, of every one-axis joint that does not follow another."""
    tree, out = robot.tree, {}
    followers = {item.joint for item in ties}
    for i, name in enumerate(tree.joint_names):
        if tree.nq_of(i) == 1 and name not in followers:
            row = int(tree.q_index[i])
            low, high = robot.limits.lower[row], robot.limits.upper[row]
            out[name] = float(np.clip(0.0, low, max(low, high)))
    return out


def _tied(positions: Mapping[str, float], ties: Sequence[Coupling]) -> dict[str, float]:
    """The positions with every coupling held: a leader places its followers; a follower alone places its leader."""
    out = dict(positions)
    for item in ties:
        if item.source not in positions and item.joint in positions and item.ratio != 0.0:
            out.setdefault(item.source, (positions[item.joint] - item.offset) / item.ratio)
    for item in ties:
        out[item.joint] = item.offset + item.ratio * out.get(item.source, 0.0)
    return out


def on_ground(robot: Robot, q: Array) -> Array:
    """The posture of a floating robot with its lowest contact corner on z = 0.

    Args:
        robot: The robot, with its contacts.
        q: (nq,).
    """
    base = robot.base_joint
    if base is None or robot.tree.kinds[base] != "free":
        return q
    out = np.array(q)
    start = int(robot.tree.q_index[base])
    up = robot.tree.placements[base, :3, :3].T @ np.array([0.0, 0.0, 1.0])
    out[start : start + 3] += height_on_ground(robot, out) * up
    return out
