"""`CartPoleSwingUp`: the layered controller on the cart-pole as a robot in a simulation."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array
from surefoot.control.layered.swing_up import ExecutionWeights, SwingUpCase, controller_of
from surefoot.errors import NotSupportedError
from surefoot.motion import Command, Observation, State
from surefoot.robot import Robot

__all__ = ["CartPoleSwingUp"]


class CartPoleSwingUp:
    """Swings up and balances a pole on a cart (Busenhart 1994, section 6.1); it is sampled with the simulation.

    Where there are encoders it uses their readings.

    Args:
        robot: A slide along x and a swing about y, upright at 0, with one drive on the slide.
        q0: (2,) first posture.
        dt: Sample period [s].
        error: Share by which the controller's masses and length are wrong.
        trust: Share of a measurement in the estimate.
        gains: p21, p41 and p13.

    Raises:
        NotSupportedError: The robot is another one.
    """

    def __init__(
        self,
        robot: Robot,
        q0: Array,
        dt: float,
        error: float = 0.0,
        trust: float = 1.0,
        gains: tuple[float, float, float] = (20.0, 20.0, -0.5),
    ) -> None:
        if robot.tree.n != 2 or robot.nu != 1 or tuple(robot.tree.kinds) != ("prismatic", "revolute"):
            raise NotSupportedError(
                f"`{robot.name}` is not a cart with a pole", next_step="use the robot `cartpole`: one slide, one swing"
            )
        leaning = pin.centerOfMass(robot.model, robot.model.createData(), np.array([0.0, 0.1]))
        self._sign = 1.0 if leaning[0] < 0.0 else -1.0  # a positive tilt leans towards −x
        limit = float(robot.drives[0].torque_limit)
        case = SwingUpCase(
            "scenario", "", "", travel=float(q0[0]), gains=gains, error=error, dt=dt, trust=trust,
            limit=limit if np.isfinite(limit) else None,
        )  # fmt: skip
        self._layers, self._order = controller_of(case, float(self._sign * q0[1]), ExecutionWeights())
        self._force, self._read = np.zeros(1), np.full((2, 2), np.nan)

    def observe(self, observation: Observation) -> None:
        """Take the readings of the encoders.

        Args:
            observation: What is measured.
        """
        found = [observation.readings.get(f"encoder.{what}", self._read[0]) for what in ("position", "velocity")]
        self._read = np.where(np.isnan(found), self._read, found)

    def command(self, t: float, state: State) -> Command:
        """The command of the sample before; that of the next sample is computed.

        Args:
            t: Time [s].
            state: Measured.
        """
        (travel, tilt), (speed, turning) = np.where(np.isnan(self._read), [state.q, state.v], self._read)
        seen, rates = np.array([self._sign * tilt, travel]), np.array([self._sign * turning, speed])
        force, self._force = self._force, self._layers.command(seen[self._order], rates[self._order])
        return Command(torque=force)
