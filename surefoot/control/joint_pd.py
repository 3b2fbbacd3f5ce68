"""`JointPd`: hold a posture with springs and dampers at the joints, gravity carried by feedforward."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array
from surefoot.control.drive_inertia import BANDWIDTH, DAMPING_RATIO, drive_gains
from surefoot.control.driven_joints import DrivePositions
from surefoot.control.static_balance import StaticBalance, standing_contacts
from surefoot.errors import NotSupportedError
from surefoot.motion import Command, State
from surefoot.robot import Robot, support_doubts

__all__ = ["JointPd"]

_NO_WEIGHT = 1e-9  # [m/s²]


class JointPd:
    """Joint PD control with gravity compensation, for standing.

        tau = kp (q_ref − q) − kd v + tau_static(q)        [control.joint-pd]
        kp = m ω², kd = 2 ζ m ω

    m is the inertia that a drive answers for (`standing_inertia`); tau_static are the torques that carry the weight on
    the standing contacts (`StaticBalance`), within the limits of the drives. `notes` names drives that are too weak,
    and reports if the robot cannot stand on these contacts.

    Args:
        robot: The robot.
        q_ref: (nq,) posture to hold; home if omitted.
        stiffness: kp of each drive, (nu,) or one number [N m/rad] or [N/m]; if omitted, that of the drive's servo, else
            from the robot's inertia.
        damping: kd of each drive, (nu,) or one number [N m s/rad] or [N s/m]; if omitted, as for the stiffness.
        bandwidth: ω [rad/s] of omitted gains.
        damping_ratio: ζ of omitted damping.

    Raises:
        NotSupportedError: A robot that could fall has no contact to stand on, or a driven joint has several axes.
    """

    def __init__(
        self,
        robot: Robot,
        q_ref: ArrayLike | None = None,
        stiffness: ArrayLike | None = None,
        damping: ArrayLike | None = None,
        bandwidth: float = BANDWIDTH,
        damping_ratio: float = DAMPING_RATIO,
    ) -> None:
        self.robot = robot
        self.q_ref = robot.checked_q(robot.home if q_ref is None else q_ref)
        contacts = standing_contacts(robot, self.q_ref)
        _require_footing(robot, self.q_ref, contacts)
        self._static, self._position = StaticBalance(robot, contacts), DrivePositions(robot).of(self.q_ref)
        self._limits = np.array([drive.torque_limit for drive in robot.drives])
        self.kp, kd = drive_gains(robot, self.q_ref, contacts, bandwidth, damping_ratio, stiffness)
        self.kd = kd if damping is None else np.ones(robot.nu) * np.asarray(damping)
        self.notes = self._overloads() + support_doubts(robot, self.q_ref, contacts)

    def _overloads(self) -> tuple[str, ...]:
        """Drives that are too weak to hold the posture even at rest."""
        weight = np.abs(self._static.torques(np.array(self.q_ref)))
        return tuple(
            f"the posture needs {load:.3g} at joint `{drive.joint}`, whose drive has {drive.torque_limit:.3g}"
            for load, drive in zip(weight, self.robot.drives, strict=True)
            if load > drive.torque_limit
        )

    def command(self, t: float, state: State) -> Command:
        """The command in a state.

        Args:
            t: Time [s].
            state: The state.
        """
        weight = self._static.torques(np.array(state.q))
        torque = np.clip(weight, -self._limits, self._limits)
        return Command(torque=torque, position=self._position, kp=self.kp, kd=self.kd)


def _require_footing(robot: Robot, q: Array, contacts: tuple[str, ...]) -> None:
    """Refuse a robot whose weight acts along its base joint and that has nothing to stand on."""
    weight = np.array(pin.computeGeneralizedGravity(robot.model, robot.model.createData(), q))[robot.base_rows]
    if not contacts and np.abs(weight).max(initial=0.0) > _NO_WEIGHT * robot.mass:
        raise NotSupportedError(
            f"`{robot.name}` has a {robot.base} base and no contact surface to stand on",
            next_step="give `[contacts.NAME]` in a side file beside its file, or hold it: `--set robot.base=fixed`",
        )
