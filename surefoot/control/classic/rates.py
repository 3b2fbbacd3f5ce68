"""Controllers on velocities, for position-controlled joints: wanted rates are integrated and followed by servos."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.contact.distribution import distribute
from surefoot.control.classic.base import ClassicController, ClassicGains
from surefoot.control.classic.body import StandingBody, prioritised
from surefoot.control.joint_pd import JointPd
from surefoot.motion import Command
from surefoot.robot import Robot

__all__ = ["RATES", "RateController", "ReactionNullSpace", "ResolvedMomentum", "StillMomentum"]

_RETURN = 0.25  # of joints to their posture, as a share of ω


class RateController(ClassicController):
    """Joint references from wanted rates; servos with the weight as feedforward. CoM and base return at the rate ω."""

    def __init__(
        self, robot: Robot, q0: ArrayLike | None = None, dt: float = 0.002, gains: ClassicGains | None = None
    ) -> None:
        super().__init__(robot, q0, dt, gains)
        self._joints = np.array(self.start.q[7:])
        servo = JointPd(robot, self.start.q)
        self._stiffness, self._damping = servo.kp, servo.kd

    def rates(self, body: StandingBody) -> Array:
        """(nv,) wanted velocities."""
        raise TypeError(f"{type(self).__name__} wants no rates")

    def torque(self, body: StandingBody) -> Array:
        """Joint torques (nv − 6,) that carry the weight [N m]."""
        wrenches = distribute(self.distribution, body.stance)
        return np.asarray((body.gravity - body.contacts.T @ wrenches.ravel())[6:])

    def drives(self, body: StandingBody) -> Command:
        """The command of servos: integrated rates, with the weight as feedforward."""
        wanted, order = self.rates(body)[6:], self.robot.driven - 6
        self._joints = self._joints + self.dt * wanted
        carry = np.clip(self.torque(body)[order], -self._limits, self._limits)
        return Command(carry, self._joints[order], wanted[order], self._stiffness, self._damping)

    def com_rate(self, body: StandingBody) -> Array:
        """(3,) towards the first CoM, against its velocity [m/s]."""
        return np.asarray(self.omega * (self.start.com - body.com) - 0.5 * body.com_velocity)

    def base_rate(self, body: StandingBody) -> Array:
        """(3,) towards the first attitude [rad/s]."""
        return np.asarray(self.omega * self.base_error(body))

    def posture_rate(self, body: StandingBody) -> Array:
        """(nv − 6,) towards the first posture [rad/s]."""
        return np.asarray(_RETURN * self.omega * (self.start.q[7:] - self._joints))

    def _levels(self, body: StandingBody) -> list[tuple[Array, Array]]:
        """Contacts, CoM and base."""
        first = np.vstack([body.contacts, body.com_jacobian, body.base])
        return [(first, np.r_[np.zeros(len(body.contacts)), self.com_rate(body), self.base_rate(body)])]

    def _posture(self, body: StandingBody) -> tuple[Array, Array]:
        return np.eye(self.robot.nv)[6:], self.posture_rate(body)


class ResolvedMomentum(RateController):
    """Resolved momentum control (Kajita 2003, section 5.8.2): ξ = A⁺ y + (E − A⁺A) ξ_ref.

    Momenta first; wanted rates of base and joints are projected into what they leave, so that the base need not follow.
    """

    def rates(self, body: StandingBody) -> Array:
        """(nv,)."""
        momentum = np.r_[body.stance.mass * self.com_rate(body), np.zeros(3)]
        first = np.vstack([body.contacts, body.momentum])
        wanted = np.r_[np.zeros(3), body.rotation.T @ self.base_rate(body), self.posture_rate(body)]
        return prioritised([(first, np.r_[np.zeros(len(body.contacts)), momentum]), (np.eye(self.robot.nv), wanted)])


class StillMomentum(RateController):
    """RAM/V with conserved system angular momentum, ω_C = 0: arms move against the base (section 5.8.3)."""

    def rates(self, body: StandingBody) -> Array:
        """(nv,)."""
        whole = np.array(np.linalg.solve(body.inertia, body.momentum[3:]), dtype=float)
        return prioritised([*self._levels(body), (whole, np.zeros(3)), self._posture(body)])


class ReactionNullSpace(RateController):
    """RAM/V in the reaction null space, Δω = 0: joints react on the base as little as can be (section 5.8.3)."""

    def rates(self, body: StandingBody) -> Array:
        """(nv,)."""
        return prioritised([*self._levels(body), (body.relative, np.zeros(3)), self._posture(body)])


RATES: dict[str, type[RateController]] = {
    "resolved_momentum": ResolvedMomentum,
    "ramv_still": StillMomentum,
    "ramv_reactionless": ReactionNullSpace,
}
"""The controllers on rates by name."""
