"""The home posture: as given or zero, inside the limits, couplings held, feet on the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.robot.build.contact_search import height_on_ground
from surefoot.robot.model import NV, Coupling, Robot

_FROM_LIMIT = 0.05  # share of the range that a position moved inside keeps from the limit


def home_posture(
    robot: Robot, given: Mapping[str, float] | None, base: Sequence[float] | None, ties: Sequence[Coupling]
) -> Array:
    """The home posture, (nq,), its base where `base` puts it.

    Args:
        robot: The robot.
        given: Joint positions by name; None for zero positions, well inside the limits where zero is outside.
        base: First entries of q; None for neutral.
        ties: All couplings as the file gives them, also those that were coupled away.
    """
    for name in given or ():
        robot.joint_index(name)
    tied = _tied(given, ties) if given is not None else _inside_limits(robot, ties)
    return robot.q_of({name: x for name, x in tied.items() if robot.tree.nq_of(robot.joint_index(name))}, base)


def _inside_limits(robot: Robot, ties: Sequence[Coupling]) -> dict[str, float]:
    """Every one-axis joint at zero and its followers with it, those outside moved well inside all their limits."""
    tree, followers = robot.tree, {item.joint for item in ties}
    one_axis = [name for i, name in enumerate(tree.joint_names) if NV[tree.kinds[i]] == 1]
    out = _tied({name: 0.0 for name in one_axis if name not in followers}, ties)
    for name in one_axis:
        low, high = _range(robot, name)
        for item in robot.couplings:
            if item.source == name and item.ratio != 0.0:
                ends = sorted((bound - item.offset) / item.ratio for bound in _range(robot, item.joint))
                low, high = max(low, ends[0]), min(high, ends[1])
        out[name] = well_inside(out[name], low, max(low, high))
    return _tied({name: x for name, x in out.items() if name not in followers}, ties) if robot.couplings else out


def well_inside(position: float, low: float, high: float) -> float:
    """The position; if it is outside, one inside, 5 % of the range from the limit: at the limit it would be passed.

    Args:
        position: Of a joint.
        low: Its lower limit.
        high: Its upper limit, at least `low`.
    """
    margin = _FROM_LIMIT * (high - low) if np.isfinite([low, high]).all() else 0.0
    return position if low <= position <= high else float(np.clip(position, low + margin, high - margin))


def _range(robot: Robot, joint: str) -> tuple[float, float]:
    """Position limits of a joint with one coordinate; infinite for others."""
    i = robot.joint_index(joint)
    row = int(robot.tree.q_index[i])
    if robot.tree.nq_of(i) != 1:
        return -np.inf, np.inf
    return float(robot.limits.lower[row]), float(robot.limits.upper[row])


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
