"""`PositionOutput`: positions for drives that hold them by springs of their own, so that these make the right torques.

    position     q_t = q_d + (τ + kd v_d)/kp, with q_d, v_d the motion that the accelerations of the solutions lead to
    admittance   the same, and joints give way until the measured forces are those that are wished for:
                 q_t += δ,   δ̇ = −g kp⁻¹ S Jᵀ (w − w_measured) − δ/T                          [control.admittance]

The second is for drives whose springs are not known well, under robots with force sensors. S Jᵀ takes the errors of all
wrenches to the joints at once: it shares forces among any number of feet and hands and turns soles towards their
moments, as the loops for forces and moments of a stabiliser do one by one (Kajita et al. 2010).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import numpy as np

from surefoot.arrays import Array
from surefoot.control.drive_inertia import drive_gains
from surefoot.control.driven_joints import DrivePositions
from surefoot.control.static_balance import standing_contacts
from surefoot.control.whole_body import WholeBody, WholeBodySolution
from surefoot.motion import Command
from surefoot.robot import Robot

__all__ = ["OutputKind", "PositionOutput"]

OutputKind = Literal["torque", "position", "admittance"]
_FOLLOWS, _SETTLES = 0.05, 0.2  # times in which planned velocities and positions follow the joints [s]
_GIVES_WAY, _FORGETS = 4.0, 4.0  # rate g of the admittance [1/s], and its time T [s]
_MOST = 0.5  # of the torque limit that the admittance may add


class PositionOutput:
    """Turns solutions into positions.

    Args:
        robot: The robot; the gains of its drives are those of their servos, or follow from its inertia.
        q0: (nq,) posture in which it begins.
        gives_way: Whether to correct the positions by measured forces.
    """

    def __init__(self, robot: Robot, q0: Array, gives_way: bool = False) -> None:
        self._driven, self._places, self._gives_way = robot.driven, DrivePositions(robot), gives_way
        self.kp, self.kd = drive_gains(robot, q0, standing_contacts(robot, q0))
        self._most = _MOST * np.array([drive.torque_limit for drive in robot.drives]) / self.kp
        self._q, self._v, self._t = self._places.of(q0), np.zeros(robot.nu), -np.inf
        self._target = self._q
        self._measured: Mapping[str, Array] = {}
        self.given = np.zeros(robot.nu)
        """(nu,) δ, by how much the joints gave way [rad] or [m]."""

    def observe(self, readings: Mapping[str, Array]) -> None:
        """See the force sensors.

        Args:
            readings: By name; NaN where nothing arrived.
        """
        self._measured = readings

    def command(self, t: float, q: Array, v: Array, found: WholeBodySolution, problem: WholeBody) -> Command:
        """The positions for the next tick.

        Args:
            t: Time [s].
            q: (nq,) configuration.
            v: (nv,) velocity.
            found: The solution for this state.
            problem: That it solves.
        """
        dt, self._t = min(max(t - self._t, 0.0), _FOLLOWS), t
        share, settled = (dt / _FOLLOWS, dt / _SETTLES) if dt > 0.0 else (1.0, 1.0)
        self._v = self._v + share * (v[self._driven] - self._v) + dt * found.acceleration[self._driven]
        self._q = self._q + settled * (self._places.of(q) - self._q) + dt * self._v
        if self._gives_way:
            rate = _GIVES_WAY * problem.torques_of(self._missing(found)) / self.kp - self.given / _FORGETS
            self.given = np.clip(self.given + dt * rate, -self._most, self._most)
        self._target = self._q + (found.torques + self.kd * self._v) / self.kp + self.given
        return Command(position=self._target, kp=self.kp, kd=self.kd)

    def _missing(self, found: WholeBodySolution) -> dict[str, Array]:
        """(6,) by contact: what the measured wrenches are short of; zero where nothing arrived."""
        out = {}
        for name, wish in found.wrenches.items():
            measured = self._measured.get(f"contact.{name}.wrench")
            if measured is not None and np.isfinite(measured).all():
                out[name] = wish - measured
        return out

    def hold(self) -> Command:
        """Without a solution: hold the last positions."""
        self._v = np.zeros(len(self._v))
        return Command(position=self._target, kp=self.kp, kd=self.kd)
