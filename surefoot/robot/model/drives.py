"""Motors and gears of the driven joints."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np


@dataclass(frozen=True)
class Drive:
    """The drive of one joint. Quantities are at the joint unless stated otherwise.

    Args:
        joint: The joint that it drives.
        gear_ratio: Motor turns per joint turn.
        rotor_inertia: At the motor [kg m²].
        gear: "rigid" (adds ratio² · rotor inertia to the joint) or "elastic" (the rotor turns on its own).
        stiffness: Of an elastic gear [N m/rad].
        damping: Of an elastic gear [N m s/rad].
        dry_friction: Coulomb friction [N m] or [N].
        viscous_friction: [N m s/rad] or [N s/m].
        torque_limit: [N m] or [N].
        speed_limit: [rad/s] or [m/s].
        corner_speed: Speed up to which the full torque is there; beyond it falls linearly to 0 at `speed_limit`.
        resistance: Of the winding [ohm]; 0 where unknown.
        inductance: Of the winding [H].
        torque_constant: At the motor [N m/A]; 0 where unknown.
        voltage: Of the supply [V]; 0 where unknown.
        servo_stiffness: Of the position loop of a hobby servo [N m/rad] or [N/m]; 0 where unknown.
        servo_damping: Of that loop, against rest [N m s/rad] or [N s/m].
        servo_dead_band: Position error to which the servo does not react [rad] or [m].
        servo_step: The servo hears positions rounded to multiples of it [rad] or [m]; 0 for all positions.
    """

    joint: str
    gear_ratio: float = 1.0
    rotor_inertia: float = 0.0
    gear: Literal["rigid", "elastic"] = "rigid"
    stiffness: float = 0.0
    damping: float = 0.0
    dry_friction: float = 0.0
    viscous_friction: float = 0.0
    torque_limit: float = np.inf
    speed_limit: float = np.inf
    corner_speed: float = np.inf
    resistance: float = 0.0
    inductance: float = 0.0
    torque_constant: float = 0.0
    voltage: float = 0.0
    servo_stiffness: float = 0.0
    servo_damping: float = 0.0
    servo_dead_band: float = 0.0
    servo_step: float = 0.0

    @property
    def armature(self) -> float:
        """Inertia of the rotor seen at the joint [kg m²]; 0 for an elastic gear, whose rotor turns on its own."""
        return self.gear_ratio**2 * self.rotor_inertia if self.gear == "rigid" else 0.0

    def torque_at_speed(self, speed: float) -> float:
        """The largest torque [N m] at a joint speed [rad/s]: flat up to the corner, then falling to 0.

        Args:
            speed: Joint speed in the direction of the torque; braking has the full torque.
        """
        if speed > self.speed_limit:
            return 0.0
        if speed <= self.corner_speed or self.corner_speed >= self.speed_limit or np.isinf(self.speed_limit):
            return self.torque_limit
        return self.torque_limit * (self.speed_limit - speed) / (self.speed_limit - self.corner_speed)
