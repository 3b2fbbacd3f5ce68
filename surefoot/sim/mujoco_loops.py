"""Which of MuJoCo's equalities a closed chain is: points that coincide, or frames that do."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

from surefoot.dynamics.constraints import Tie, constraints_of
from surefoot.errors import NotSupportedError
from surefoot.kinematics import relative_jacobian, relative_placement
from surefoot.robot import Loop, Robot
from surefoot.spatial import so3

__all__ = ["equality_of"]

_KINDS = (
    (frozenset(range(3)), mujoco.mjtEq.mjEQ_CONNECT),
    (frozenset(range(6)), mujoco.mjtEq.mjEQ_WELD),
)
_STILL = 1e-12  # [m] or [rad] per unit rate: no motion
_CLOSED = 1e-9  # [m] or [rad]
_TRIES = 3  # random postures in which a direction must not move


def equality_of(robot: Robot, loop: Loop) -> mujoco.mjtEq:
    """The equality that ties what the loop ties, and beyond it only directions in which nothing can move.

    So a planar mechanism may tie x and z, or all but the turn about y: the points are connected.

    Args:
        robot: The robot.
        loop: One of its loops.

    Raises:
        NotSupportedError: It ties other directions than xyz or all six, and the rest can move.
    """
    held = {k for k in range(6) if loop.directions[k]}
    for tied, kind in _KINDS:
        if tied == held:
            return kind
    still = _still_directions(robot, loop)
    for tied, kind in _KINDS:
        if held - still <= tied <= held | still:
            return kind
    pattern = tuple(int(direction) for direction in loop.directions)
    raise NotSupportedError(
        f"loop `{loop.name}` ties directions {pattern} of (x, y, z, rx, ry, rz); MuJoCo ties xyz or all six",
        next_step="tie xyz at two points on the axis instead",
    )


def _still_directions(robot: Robot, loop: Loop) -> set[int]:
    """Directions of the loop that are closed and that no joint can open."""
    tie = constraints_of(robot, [loop]).parts[0]
    if not isinstance(tie, Tie):
        return set()
    first, second = tie.first, tie.second
    rng, still = np.random.default_rng(0), np.ones(6, dtype=bool)
    for _ in range(_TRIES):
        q = pin.integrate(robot.model, np.array(robot.neutral), rng.uniform(-1.0, 1.0, robot.nv))
        J = np.asarray(relative_jacobian(robot.tree, first, second, q), dtype=float)
        still &= np.abs(J).max(axis=1, initial=0.0) <= _STILL
    T = np.asarray(relative_placement(robot.tree, first, second, np.array(robot.home)), dtype=float)
    open_by = np.concatenate([T[:3, 3], np.asarray(so3.log(T[:3, :3]), dtype=float)])
    return set(np.flatnonzero(still & (np.abs(open_by) <= _CLOSED)).tolist())
