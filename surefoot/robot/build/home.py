"""The home posture: as given or zero, inside the limits, couplings held, feet on the ground."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.geometry import convex_hull, distance_inside
from surefoot.robot.build.contact_search import find_contacts, height_on_ground
from surefoot.robot.model import NV, Coupling, Robot

_UPRIGHT = 0.8  # height of the centre of mass above the feet, share of that in the tallest posture
_FROM_LIMIT = 0.05  # share of the range that a position moved inside keeps from the limit


def home_posture(
    robot: Robot, given: Mapping[str, ArrayLike] | None, base: Sequence[float] | None, ties: Sequence[Coupling]
) -> Array:
    """The home posture, (nq,), its base where `base` puts it.

    Args:
        robot: The robot.
        given: Joint positions by name, as for `Robot.q_of`; None for zero positions, well inside the limits where zero
            is outside.
        base: First entries of q; None for neutral.
        ties: All couplings as the file gives them, also those that were coupled away.
    """
    for name in given or ():
        robot.joint_index(name)
    if given is None:
        tied: dict[str, ArrayLike] = dict(_inside_limits(robot, ties))
    else:
        one_axis = {name: float(np.asarray(x)) for name, x in given.items() if np.ndim(x) == 0}
        tied = dict(given) | _tied(one_axis, ties)
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


def upright_one(robot: Robot, postures: Sequence[Array]) -> Array:
    """The first posture that stands upright on two contacts or more; the first one if none stands.

    Upright is one whose centre of mass is nearly as high above the feet as that of the tallest.

    Args:
        robot: The robot, without contacts.
        postures: At least one, (nq,) each.
    """
    if len(postures) == 1:
        return postures[0]
    heights = np.array([_height_of_stand(robot, q) for q in postures])
    return postures[int(np.argmax(heights >= _UPRIGHT * heights.max()))]


def _height_of_stand(robot: Robot, q: Array) -> float:
    """Height of the centre of mass above the feet [m]; −inf if it is not over them."""
    q = pin.normalize(robot.model, q)
    standing = robot.replace(contacts={contact.name: contact for contact in find_contacts(robot, q)})
    corners = list(standing.contact_corners(q).values())
    if len(corners) < 2:
        return -np.inf
    points, com = np.vstack(corners), np.array(pin.centerOfMass(robot.model, robot.model.createData(), q))
    hull = convex_hull(points[:, :2], tolerance=1e-3)
    is_over = len(hull) >= 3 and distance_inside(com[:2], hull) > 0.0
    return float(com[2] - points[:, 2].min()) if is_over else -np.inf


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
