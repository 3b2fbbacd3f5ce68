"""What the contacts of a native step carried."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import one_of
from surefoot.kinematics import contact_frame
from surefoot.robot import Robot
from surefoot.sim.measured import WORLD, Touches
from surefoot.sim.native_mover import Mover
from surefoot.sim.native_touch import FREE
from surefoot.sim.row_cross import row_cross

__all__ = ["contact_wrench", "touches_of"]


def touches_of(mover: Mover) -> Touches:
    """Where a robot touched the ground in the last step.

    Args:
        mover: The robot.
    """
    rows = np.flatnonzero(mover.record["mode"] != FREE)
    points = [mover.layout.points[k] for k in rows]
    places = [item.placement for item in mover.held.values()]
    wrenches = [item.wrench for item in mover.held.values()]
    owners = [_surface(mover.robot, name) for name in mover.held]
    return Touches(
        point=_joined(mover.record["point"][rows], [T[:3, 3] for T in places]),
        normal=_joined(mover.ground[rows, :3], [T[:3, 2] for T in places]),
        force=_joined(mover.record["force"][rows], [T[:3, :3] @ w[:3] for T, w in zip(places, wrenches, strict=True)]),
        moment=_joined(np.zeros((len(rows), 3)), [T[:3, :3] @ w[3:] for T, w in zip(places, wrenches, strict=True)]),
        surface=np.array([*(point.surface for point in points), *(number for _, number in owners)], dtype=np.int64),
        body=np.array([*(point.body for point in points), *(frame.body for frame, _ in owners)], dtype=np.int64),
        against=np.full(len(rows) + len(places), WORLD, dtype=np.int64),
    )


def _joined(points: Array, held: list[Array]) -> Array:
    """Rows of points, then rows of held surfaces."""
    return np.concatenate([points, np.reshape(held, (-1, 3))])


def contact_wrench(mover: Mover, name: str) -> Array:
    """(6,) on a contact surface in the last step, in its frame, linear first [N], [N m].

    Args:
        mover: The robot.
        name: The contact surface.
    """
    if name in mover.held:
        return mover.held[name].wrench.copy()
    frame, surface = _surface(mover.robot, name)
    if frame.body < 0:
        return np.zeros(6)
    T = mover.kernels.placements(mover.q_of_record)[frame.body]
    origin, axes = T[:3, :3] @ frame.p + T[:3, 3], T[:3, :3] @ frame.R
    rows = [k for k, point in enumerate(mover.layout.points) if point.surface == surface]
    force = mover.record["force"][rows]
    moment = row_cross(mover.record["point"][rows] - origin, force).sum(axis=0)
    return np.concatenate([force.sum(axis=0) @ axes, moment @ axes])


@functools.lru_cache(maxsize=512)
def _surface(robot: Robot, name: str) -> tuple[Any, int]:
    """The frame of a contact surface on its body, and its number."""
    if name not in robot.contacts:
        raise one_of("contact surface", name, robot.contacts)
    return contact_frame(robot, name), list(robot.contacts).index(name)
