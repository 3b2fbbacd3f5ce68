"""Which motions inverse kinematics may use: joints that are held, joints that follow others, and position limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import ShapeError, one_of
from surefoot.kinematics import integrate
from surefoot.robot import Robot
from surefoot.robot.model import resolve_couplings

_LIMITED = ("revolute", "prismatic", "helical")


class Follower(NamedTuple):
    """An entry of q that follows another: q[entry] = offset + ratio q[leader]."""

    entry: int
    leader: int
    ratio: float
    offset: float


@dataclass(frozen=True, eq=False)
class FreeMotion:
    """The velocities v = S u that are allowed, with bounds on the positions that they lead to.

    Args:
        robot: The robot.
        S: (nv, k) motions of all joints for unit values of u.
        entry: (k,) the entry of q that a column moves and that has limits, −1 for none.
        lower: (k,) its lower limit, −inf for none; the limits of joints that follow it are in it.
        upper: (k,) its upper limit, inf for none.
        followers: Joints that follow others.
    """

    robot: Robot = field(repr=False)
    S: Array
    entry: NDArray[np.int64]
    lower: Array
    upper: Array
    followers: tuple[Follower, ...]

    def moved(self, q: ops.Array, u: ops.Array) -> ops.Array:
        """The configuration after a step u (k,), inside the limits; over `ops`.

        Args:
            q: (nq,) configuration.
            u: (k,) step.
        """
        return self.inside(integrate(self.robot.tree, q, self.S @ u))

    def inside(self, q: ops.Array) -> ops.Array:
        """The configuration with positions moved to the limits that they are beyond; over `ops`.

        Args:
            q: (nq,) or (n, nq).
        """
        out = q.copy()
        for entry, low, high in zip(self.entry, self.lower, self.upper, strict=True):
            if entry >= 0:
                out[..., entry] = ops.minimum(ops.maximum(out[..., entry], low), high)
        for follower in self.followers:
            out[..., follower.entry] = follower.offset + follower.ratio * out[..., follower.leader]
        return out

    @cached_property
    def limited(self) -> tuple[NDArray[np.int64], Array, Array, tuple[str, ...]]:
        """Entries of q with limits, these, and the names of the joints."""
        tree, has = self.robot.tree, self.entry >= 0
        name_of = {int(tree.q_index[i]): tree.joint_names[i] for i in range(tree.n) if tree.nq_of(i) == 1}
        entries = self.entry[has]
        return entries, self.lower[has], self.upper[has], tuple(name_of[int(e)] for e in entries)

    def positions(self, q: ops.Array) -> ops.Array:
        """Positions (k,) that the limits are for; 0 where a column has none.

        Args:
            q: (nq,) configuration.
        """
        return ops.array([q[entry] if entry >= 0 else 0.0 for entry in self.entry])


def free_motion(robot: Robot, joints: Sequence[str] | None = None, limits: bool = True) -> FreeMotion:
    """The motion that is left free.

    Args:
        robot: The robot; its couplings are kept.
        joints: Joints that may move; all if omitted. A joint that follows another moves with it.
        limits: Whether position limits are kept.

    Raises:
        UnknownNameError: There is no such joint.
        ShapeError: Nothing is left to move.
    """
    tree = robot.tree
    for name in joints or ():
        if name not in tree.joint_names:
            raise one_of("joint", name, tree.joint_names)
    couplings = {item.joint: item for item in resolve_couplings(robot.couplings)}
    moving = [
        i
        for i, name in enumerate(tree.joint_names)
        if (joints is None or name in joints) and name not in couplings and tree.nv_of(i)
    ]
    columns = [row for i in moving for row in range(int(tree.v_index[i]), int(tree.v_index[i]) + tree.nv_of(i))]
    if not columns:
        raise ShapeError("no joint may move", evidence={"joints": joints})
    S = np.eye(robot.nv)[:, columns]
    bounds = {i: _limits(robot, i) for i in moving if limits and tree.kinds[i] in _LIMITED}
    followers = []
    for name, item in couplings.items():
        i, leader = robot.joint_index(name), robot.joint_index(item.source)
        S[int(tree.v_index[i])] = item.ratio * S[int(tree.v_index[leader])]
        followers.append(Follower(int(tree.q_index[i]), int(tree.q_index[leader]), item.ratio, item.offset))
        if leader in bounds and item.ratio != 0.0:
            ends = sorted((limit - item.offset) / item.ratio for limit in _limits(robot, i))
            bounds[leader] = max(bounds[leader][0], ends[0]), min(bounds[leader][1], ends[1])
    return FreeMotion(robot, S, *_of_columns(robot, columns, bounds), tuple(followers))


def _limits(robot: Robot, i: int) -> tuple[float, float]:
    entry = int(robot.tree.q_index[i])
    return float(robot.limits.lower[entry]), float(robot.limits.upper[entry])


def _of_columns(
    robot: Robot, columns: Sequence[int], bounds: dict[int, tuple[float, float]]
) -> tuple[NDArray[np.int64], Array, Array]:
    """Entry of q, lower and upper limit of every column."""
    entry = np.full(len(columns), -1, dtype=np.int64)
    lower, upper = np.full(len(columns), -np.inf), np.full(len(columns), np.inf)
    place = {row: k for k, row in enumerate(columns)}
    for i, (low, high) in bounds.items():
        if low > high:
            raise ShapeError(
                f"joint `{robot.joint_names[i]}` has no position inside its limits and those of its followers",
                evidence={"lower": low, "upper": high},
            )
        k = place[int(robot.tree.v_index[i])]
        if np.isfinite(low) or np.isfinite(high):
            entry[k], lower[k], upper[k] = int(robot.tree.q_index[i]), low, high
    return entry, lower, upper
