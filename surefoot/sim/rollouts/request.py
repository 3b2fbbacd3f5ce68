"""The request for a rollout, as arrays that fit the robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypedDict

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import finite_array
from surefoot.arrays import number as checked_number
from surefoot.errors import ShapeError, one_of
from surefoot.motion import State, World
from surefoot.motion.exchange import joint_kinds, require_unit_length
from surefoot.ops import Array
from surefoot.robot import Robot
from surefoot.sim.native import ContactLaw

_MODES = ("torque", "position")


class RolloutOptions(TypedDict, total=False):
    """The fields of `RolloutSettings` as keywords."""

    contact: str | ContactLaw
    integrator: str
    mode: str
    kp: ArrayLike | None
    kd: ArrayLike | None
    hold: int
    record_every: int
    forces: bool
    dtype: str


@dataclass(frozen=True, eq=False)
class RolloutSettings:
    """How a rollout goes, as it was asked for.

    Args:
        contact: Contact law of `native`, or its name; MuJoCo has its own.
        integrator: Of `native`; "rk4" takes springs explicitly.
        mode: "torque" or "position": what controls are.
        kp: (nu,) or one number, for mode "position" [N m/rad] or [N/m].
        kd: (nu,) or one number, for mode "position" [N m s/rad] or [N s/m].
        hold: Steps for which one control is valid.
        record_every: Steps from one record to the next.
        forces: Record forces at contact points, too (`native`).
        dtype: "float64" or "float32" (`native`).
    """

    contact: str | ContactLaw = "spring_damper"
    integrator: str = "semi_implicit"
    mode: str = "torque"
    kp: ArrayLike | None = None
    kd: ArrayLike | None = None
    hold: int = 1
    record_every: int = 1
    forces: bool = False
    dtype: str = "float64"

    def __post_init__(self) -> None:
        if self.mode not in _MODES:
            raise one_of("mode", self.mode, _MODES)
        for what in ("hold", "record_every"):
            value = getattr(self, what)
            if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
                raise ShapeError(f"{what}={value!r}", next_step="give a whole number of steps from 1 on")


@dataclass(frozen=True, eq=False)
class Request:
    """n copies of a robot, and the controls of their drives over time.

    Args:
        robot: The robot.
        q: (n, nq) at the start.
        v: (n, nv) at the start.
        controls: (n, times, nu), or (times, nu) for all copies: torques or wanted positions of the driven dofs.
        world: Ground; None for empty space.
        dt: Step [s].
        mode: "torque" or "position".
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
        """Steps of the whole rollout."""
        return int(self.controls.shape[-2]) * self.hold

    @property
    def times(self) -> Array:
        """(records,) after each recorded step [s]."""
        return self.dt * self.every * np.arange(1, self.steps // self.every + 1)


def make_request(
    robot: Robot,
    states: Any,
    controls: ArrayLike,
    world: World | None,
    dt: float,
    threads: int | str,
    settings: RolloutSettings,
) -> Request:
    """Check everything against the robot.

    Args:
        robot: The robot.
        states: (n, nq + nv); a pair of q (n, nq) and v (n, nv); or states.
        controls: (n, times, nu) or (times, nu).
        world: Ground; None for empty space.
        dt: Step [s].
        threads: Number of threads, or "all".
        settings: Mode, gains and numbers of steps.

    Raises:
        ShapeError: Wrong shapes, numbers that are not finite, a quaternion that is not of unit length.
    """
    q, v = _state_rows(robot, states)
    rows, hold, every = _control_rows(robot, controls, len(q)), int(settings.hold), int(settings.record_every)
    if every > rows.shape[-2] * hold:
        raise ShapeError(f"record_every={every} is more than all steps", evidence={"steps": rows.shape[-2] * hold})
    return Request(
        robot=robot,
        q=q,
        v=v,
        controls=rows,
        world=world,
        dt=checked_number(dt, "dt", positive=True),
        mode=settings.mode,
        kp=_gains(robot, settings.mode, "kp", settings.kp),
        kd=_gains(robot, settings.mode, "kd", settings.kd),
        hold=hold,
        every=every,
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
        raise ShapeError("there are no controls", next_step="give one row for each time")
    return found


def _gains(robot: Robot, mode: str, what: str, value: ArrayLike | None) -> Array:
    if mode == "torque":
        if value is not None:
            raise ShapeError(f"{what} has no effect on torque controls", next_step='use mode="position"')
        return np.zeros(robot.nu)
    if value is None:
        raise ShapeError(f'mode="position" needs {what}', next_step="give a number, or one for each driven dof")
    found = finite_array(np.broadcast_to(value, (robot.nu,)) if np.ndim(value) == 0 else value, (robot.nu,), what)
    if (found < 0.0).any():
        raise ShapeError(f"{what} is negative", evidence={"least": float(found.min())})
    return found
