"""`State`: where a robot is and how it moves, at one time."""

from __future__ import annotations

from dataclasses import dataclass
from math import isfinite

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.robot import Robot


@dataclass(frozen=True, eq=False)
class State:
    """Time, configuration and velocity, in Pinocchio's layout. `State.of` checks them against a robot.

    Args:
        t: Time [s].
        q: (nq,) configuration; quaternions xyzw.
        v: (nv,) velocity; of a floating base the twist in its own frame, linear first.
    """

    t: float
    q: Array
    v: Array

    def __post_init__(self) -> None:
        if type(self.t) is not float or not isfinite(self.t):
            object.__setattr__(self, "t", float(finite_array(self.t, (), "time")))
        object.__setattr__(self, "q", finite_array(self.q, (None,), "q"))
        object.__setattr__(self, "v", finite_array(self.v, (None,), "v"))

    @classmethod
    def of(cls, robot: Robot, q: ArrayLike | None = None, v: ArrayLike | None = None, t: float = 0.0) -> State:
        """A state that fits a robot.

        Args:
            robot: The robot.
            q: (nq,) configuration; the home posture by default.
            v: (nv,) velocity; rest by default.
            t: Time [s].

        Raises:
            ShapeError: Wrong shape, not finite, or a quaternion that is not of unit length.
        """
        velocity = np.zeros(robot.nv) if v is None else finite_array(v, (robot.nv,), f"v of `{robot.name}`")
        return cls(t, robot.home if q is None else robot.checked_q(q), velocity)

    @classmethod
    def trusted(cls, t: float, q: Array, v: Array) -> State:
        """A state of finite numbers in arrays of its own: they become read-only, nothing is checked or copied."""
        q.setflags(write=False)
        v.setflags(write=False)
        out = object.__new__(cls)
        out.__dict__.update(t=t, q=q, v=v)
        return out

    def integrate(self, robot: Robot, dt: float) -> State:
        """The state after `dt` [s] at constant v: q ⊕ v dt, on the manifold of configurations."""
        return State(self.t + dt, pin.integrate(robot.model, np.array(self.q), self.v * dt), self.v)

    def difference(self, robot: Robot, other: State) -> tuple[Array, Array]:
        """How to get from here to `other`.

        Returns:
            (nv,) tangent step with q ⊕ step = q_other, and (nv,) v_other − v.
        """
        return np.array(pin.difference(robot.model, np.array(self.q), np.array(other.q))), other.v - self.v
