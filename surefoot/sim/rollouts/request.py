"""What a rollout is asked for, as arrays that fit the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import finite_array
from surefoot.arrays import number as checked_number
from surefoot.errors import ShapeError, one_of
from surefoot.motion import State, World
from surefoot.motion.exchange import joint_kinds, require_unit_length
from surefoot.ops import Array
from surefoot.robot import Robot

__all__ = ["MODES", "Request", "make_request"]

MODES = ("torque", "position")


@dataclass(frozen=True, eq=False)
class Request:
    """n copies of a robot, and what their drives are told over time.

    Args:
        robot: The robot.
        q: (n, nq) at the start.
        v: (n, nv) at the start.
        controls: (n, times, nu), or (times, nu) for all copies: torques or wanted positions of the driven dofs.
        world: Ground; None for empty space.
        dt: Step [s].
        mode: One of `MODES`.
        kp: (nu,) [N m/rad] or [N/m]; zero in mode "torque".
        kd: (nu,) [N m s/rad] or [N s/m]; zero in mode "torque".
        hold: Steps for which one control is valid.
        every: Steps from one record to the next.
        threads: Number of threads, or "all".
    """

    robot: Robot = field(repr=False)
    q: Array
    v: Array
    controls: Array
    world: World | None
    dt: float
    mode: str
    kp: Array
    kd: Array
    hold: int
    every: int
    threads: int | str

    @property
    def copies(self) -> int:
        """N."""
        return len(self.q)

    @property
    def steps(self) -> int:
        """Of the whole rollout."""
        return int(self.controls.shape[-2]) * self.hold

    @property
    def times(self) -> Array:
        """(records,) after each recorded step [s]."""
        return self.dt * self.every * np.arange(1, self.steps // self.every + 1)


def make_request(
    robot: Robot,
    states: Any,
    controls: ArrayLike,
    *,
    world: World | None,
    dt: float,
    mode: str,
    kp: ArrayLike | None,
    kd: ArrayLike | None,
    hold: int,
    every: int,
    threads: int | str,
) -> Request:
    """Check everything against the robot.

    Args:
        robot: The robot.
        states: (n, nq + nv); a pair of q (n, nq) and v (n, nv); or states.
        controls: (n, times, nu) or (times, nu).
        world: Ground; None for empty space.
        dt: Step [s].
        mode: One of `MODES`.
        kp: (nu,) or one number; only in mode "position".
        kd: (nu,) or one number; only in mode "position".
        hold: Steps for which one control is valid.
        every: Steps from one record to the next.
        threads: Number of threads, or "all".

    Raises:
        ShapeError: Wrong shapes, numbers that are not finite, a quaternion that is not of unit length.
        UnknownNameError: There is no such mode.
    """
    if mode not in MODES:
        raise one_of("mode", mode, MODES)
    q, v = _state_rows(robot, states)
    for what, value in (("hold", hold), ("record_every", every)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise ShapeError(f"{what}={value!r}", next_step="give a whole number of steps from 1 on")
    rows = _control_rows(robot, controls, len(q))
    if every > rows.shape[-2] * hold:
        raise ShapeError(f"record_every={every} is more than all steps", evidence={"steps": rows.shape[-2] * hold})
    return Request(
        robot=robot,
        q=q,
        v=v,
        controls=rows,
        world=world,
        dt=checked_number(dt, "dt", positive=True),
        mode=mode,
        kp=_gains(robot, mode, "kp", kp),
        kd=_gains(robot, mode, "kd", kd),
        hold=int(hold),
        every=int(every),
        threads=threads,
    )


def _state_rows(robot: Robot, states: Any) -> tuple[Array, Array]:
    """Q (n, nq) and v (n, nv) of whatever was given."""
    if isinstance(states, State):
        states = [states]
    if isinstance(states, Sequence) and len(states) and all(isinstance(x, State) for x in states):
        states = [x.q for x in states], [x.v for x in states]
    if isinstance(states, tuple) and len(states) == 2:
        q = finite_array(states[0], (None, robot.nq), f"q of `{robot.name}`")
        v = finite_array(states[1], (len(q), robot.nv), f"v of `{robot.name}`")
    else:
        rows = finite_array(states, (None, robot.nq + robot.nv), f"states of `{robot.name}`")
        q, v = rows[:, : robot.nq], rows[:, robot.nq :]
    if not len(q):
        raise ShapeError("there are no states to start from", next_step="give one row for each copy")
    require_unit_length(q, robot.tree.joint_names, joint_kinds(robot))
    return q, v


def _control_rows(robot: Robot, controls: ArrayLike, n: int) -> Array:
    leading = (None,) if np.ndim(controls) == 2 else (n, None)
    found = finite_array(controls, (*leading, robot.nu), f"controls of `{robot.name}`")
    if not found.shape[-2]:
        raise ShapeError("there are no controls, so there is no time", next_step="give one row for each time")
    return found


def _gains(robot: Robot, mode: str, what: str, value: ArrayLike | None) -> Array:
    if mode == "torque":
        if value is not None:
            raise ShapeError(f"{what} means nothing to controls that are torques", next_step='use mode="position"')
        return np.zeros(robot.nu)
    if value is None:
        raise ShapeError(f'mode="position" needs {what}', next_step="give a number, or one for each driven dof")
    found = finite_array(np.broadcast_to(value, (robot.nu,)) if np.ndim(value) == 0 else value, (robot.nu,), what)
    if (found < 0.0).any():
        raise ShapeError(f"{what} is negative", evidence={"least": float(found.min())})
    return found
