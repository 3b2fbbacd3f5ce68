"""Does a base quaternion change its order inside a file?

Where it does, the base turns at once by a large angle, which it does not if the numbers after it are read in another
order. Rolled back there, the quaternions are in one order all along, which is then judged as a whole: that tells which
part is the wrong one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.layout_order import ORDERS, OrderVerdict, base_quaternion, in_order, judge_order
from surefoot.motion import World
from surefoot.robot import Robot

__all__ = ["OrderOverTime", "judge_order_over_time"]

_TURNS = 0.5  # [rad] at once: a change of order, if
_GOES_ON = 0.2  # of that turn, at most, is left in another order


@dataclass(frozen=True, eq=False)
class OrderOverTime:
    """Whether the order is right, and where it is not.

    Args:
        verdict: On all samples, or on those that are wrong.
        wrong: (n,) which samples are wrong; None for all or none.
    """

    verdict: OrderVerdict
    wrong: NDArray[np.bool_] | None = None


def judge_order_over_time(robot: Robot, world: World, time: Array, q: Array, v: Array | None) -> OrderOverTime:
    """Whether the base quaternion was read in the right order, and where, if it is in two orders.

    Args:
        robot: The robot.
        world: Its ground counts.
        time: (n,) [s].
        q: (n, nq) as it was read.
        v: (n, nv) with the velocity of the base as it was given, or None.
    """
    rolls = _rolls(robot, q)
    if not rolls.any():
        return OrderOverTime(judge_order(robot, world, time, q, v))
    at, even = base_quaternion(robot), np.array(q)
    for roll in np.unique(rolls):
        even[rolls == roll, at] = np.roll(q[rolls == roll, at], roll, axis=1)
    verdict = judge_order(robot, world, time, even, v)
    if not verdict.certain:
        return OrderOverTime(verdict)
    total = (rolls + ORDERS.get(verdict.meant, 0) + 1) % 4 - 1
    wrong = total != 0
    orders = {roll: order for order, roll in ORDERS.items()}
    meant = {orders.get(int(roll), "") for roll in total[wrong]}
    if len(meant) != 1 or "" in meant:
        return OrderOverTime(judge_order(robot, world, time, q, v))
    reason = f"so it goes on without a jump, and in one order {verdict.reason}"
    return OrderOverTime(OrderVerdict(meant.pop(), True, reason), None if wrong.all() else wrong)


def _rolls(robot: Robot, q: Array) -> NDArray[np.int64]:
    """(n,) by how far to roll the base quaternions so that they go on from the first one without a change of order."""
    at = base_quaternion(robot)
    turn = q[:, at]
    jump = _angles(turn[:-1], turn[1:])
    changes = np.zeros(len(q), dtype=np.int64)
    for meant, roll in ORDERS.items():
        other = in_order(robot, q, meant)[:, at]
        changes[1:][(jump > _TURNS) & (_angles(turn[:-1], other[1:]) < _GOES_ON * jump)] = roll
    return np.cumsum(changes)


def _angles(one: Array, other: Array) -> Array:
    """(n,) angles between unit quaternions (n, 4) [rad]."""
    return np.asarray(2.0 * np.arccos(np.clip(np.abs(np.sum(one * other, axis=1)), 0.0, 1.0)))
