"""Is the quaternion of the base in the order in which it was read? Evidence from velocities and from the ground.

The four numbers of a unit quaternion are one in any order. Two things tell a wrong order: the turning between samples
does not fit the given velocity, while that of another order does; or the feet are nowhere near the ground, while in
another order they stand on it. A robot that rolls, lies or hangs fits its own velocity, and does not by chance stand
flat on its feet in another order.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from surefoot.compiler import compile_robot
from surefoot.feasibility.touch_surfaces import surface_motion
from surefoot.motion import World
from surefoot.motion.checks import Array
from surefoot.motion.exchange_joints import rotate
from surefoot.robot import Robot

__all__ = ["ORDERS", "OrderVerdict", "in_order", "judge_order", "turning"]

ORDERS = {"wxyz": -1, "xyzw": 1}
"""What the numbers were meant as → how far to roll what was read: wxyz read as xyzw, and xyzw read as wxyz."""
_FITS = 0.3  # of the motion, or of the misfit: below this a velocity fits
_MOVES = 0.002  # [m/s], [rad/s]: slower motion tells nothing
_SAMPLES = 200  # at which the feet are looked at
_STANDS = 0.01  # [m]: the lowest corners of a robot that stands are this near the ground
_FLATTER = ((0.004, 0.2), (0.0005, 0.05))
"""[m], share: where the lowest corners as read are farther from the ground than the first, and at most the second
share of that in another order, the other order was meant."""
_NOWHERE = 1e3  # [m]: height where there is no ground
_SHARES = (0.25, 0.5, 0.75, 0.95)  # of the time in which a robot may stand


@dataclass(frozen=True)
class OrderVerdict:
    """Whether an order is right.

    Args:
        meant: Key of `ORDERS` that the numbers were meant in; "" if they fit as they were read, or nothing tells.
        certain: Whether there was evidence.
        reason: For people.
    """

    meant: str
    certain: bool
    reason: str


def in_order(robot: Robot, q: Array, meant: str) -> Array:
    """(n, nq) with the numbers of the base quaternion read in another order.

    Args:
        robot: With a free base.
        q: (n, nq).
        meant: Key of `ORDERS`.
    """
    out = np.array(q)
    at = _base_quaternion(robot)
    out[:, at] = np.roll(q[:, at], ORDERS[meant], axis=1)
    return out


def judge_order(robot: Robot, world: World, time: Array, q: Array, v: Array | None) -> OrderVerdict:
    """Whether the base quaternion was read in the right order.

    Args:
        robot: The robot.
        world: Its ground counts.
        time: (n,) [s].
        q: (n, nq) as it was read.
        v: (n, nv), or None.
    """
    if robot.base_joint is None or robot.tree.kinds[robot.base_joint] != "free":
        return OrderVerdict("", True, "the base has no quaternion")
    return _by_velocity(robot, time, q, v) or _by_ground(robot, world, q) or OrderVerdict("", False, "nothing tells")


def _base_quaternion(robot: Robot) -> slice:
    start = int(robot.tree.q_index[robot.base_joint or 0])
    return slice(start + 3, start + 7)


def _by_velocity(robot: Robot, time: Array, q: Array, v: Array | None) -> OrderVerdict | None:
    if v is None or len(time) < 3:
        return None
    motion, misfit = _misfit(robot, time, q, v)
    if motion < _MOVES:
        return None
    if misfit <= _FITS * motion:
        return OrderVerdict("", True, "it turns as the velocity says")
    others = {meant: _misfit(robot, time, in_order(robot, q, meant), v)[1] for meant in ORDERS}
    best = min(others, key=lambda meant: others[meant])
    if others[best] > _FITS * misfit:
        return None
    share = f"{100.0 * others[best] / motion:.0f} % instead of {100.0 * misfit / motion:.0f} %"
    return OrderVerdict(best, True, f"read as {best} the base moves as its velocity says (misfit {share})")


def _misfit(robot: Robot, time: Array, q: Array, v: Array) -> tuple[float, float]:
    """Root mean squares of the motion of the base between samples, and of its difference from the velocity."""
    start, at = int(robot.tree.v_index[robot.base_joint or 0]), _base_quaternion(robot)
    turn, dt = q[:, at], np.diff(time)[:, None]
    moved = np.diff(q[:, at.start - 3 : at.start], axis=0) / dt
    said = rotate(turn, v[:, start : start + 3])
    turned, spun = turning(turn) / dt, v[:, start + 3 : start + 6]
    found = np.hstack([moved, turned])
    wrong = found - 0.5 * np.hstack([said[1:] + said[:-1], spun[1:] + spun[:-1]])
    return float(np.sqrt(np.mean(found**2))), float(np.sqrt(np.mean(wrong**2)))


def turning(turn: Array) -> Array:
    """(n − 1, 3) rotation vectors from each of the unit quaternions xyzw (n, 4) to the next, in body axes [rad]."""
    a, b = turn[:-1], turn[1:]
    vector = a[:, 3:] * b[:, :3] - b[:, 3:] * a[:, :3] - np.cross(a[:, :3], b[:, :3])
    cosine = np.sum(a * b, axis=1)
    sine = np.linalg.norm(vector, axis=1)
    angle = 2.0 * np.arctan2(sine, np.abs(cosine)) * np.where(cosine < 0.0, -1.0, 1.0)
    return np.asarray(vector * np.where(sine > 1e-12, angle / np.maximum(sine, 1e-300), 2.0)[:, None])


def _by_ground(robot: Robot, world: World, q: Array) -> OrderVerdict | None:
    """Where the robot stands in one order for longer than in the order that was read, that one was meant."""
    if not robot.contacts or not world.ground:
        return None
    some = q[np.unique(np.linspace(0, len(q) - 1, _SAMPLES).astype(int))]
    own = _farness(robot, world, some)
    others = {meant: _farness(robot, world, in_order(robot, some, meant)) for meant in ORDERS}
    for part in _SHARES:
        now = float(np.quantile(own, part))
        then = {meant: float(np.quantile(far, part)) for meant, far in others.items()}
        best = min(then, key=lambda meant: then[meant])
        if any(now > far and then[best] <= min(_STANDS, share * now) for far, share in _FLATTER):
            reason = f"read as {best} its feet stand on the ground; as it is they are {now:.3g} m away from it"
            return OrderVerdict(best, True, reason)
    stands = float(np.quantile(own, _SHARES[0])) <= _STANDS
    return OrderVerdict("", True, "the robot stands on its feet") if stands else None


def _farness(robot: Robot, world: World, q: Array) -> Array:
    """(n,) how far a whole surface is from the ground, or three points: the lowest corners of all [m]."""
    names = list(dict.fromkeys(surface.frame for surface in robot.contacts.values()))
    links = compile_robot(robot).frames(q, names).reshape(len(q), len(names), 4, 4)
    heights = np.hstack(
        [
            surface_motion(world, surface, links[:, names.index(surface.frame)] @ surface.placement, 0.0).heights
            for surface in robot.contacts.values()
        ]
    )
    count = max(3, min(len(surface.corners) for surface in robot.contacts.values()))
    lowest = np.sort(np.where(np.isnan(heights), _NOWHERE, heights), axis=1)[:, :count]
    return np.asarray(np.abs(lowest).max(axis=1))
