"""Elastic gears: the rotor turns on its own, behind a spring and a damper."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.robot import Drive
from surefoot.sim.drive_group import DriveGroup, Flags, numbers
from surefoot.sim.speed_line import SpeedCurve

__all__ = ["ElasticGears"]


class ElasticGears(DriveGroup):
    """N² J ẇ = motor − gear, gear = k (φ − q) + d (w − v); φ, w: angle and speed of the rotor divided by N.

    Koch, (B.8). The motor obeys the command with the rotor in the place of the joint, torque + kp (position − φ) +
    kd (velocity − w), as a drive with its encoder at the motor does (stable with any gains: Tomei 1991), within
    `Drive.torque_at_speed` at w. Rotor and joint take the step together: with the motor torque a − b w⁺ and
    H = N² J / dt, the speed w⁺ of the rotor after the step is linear in the speed v⁺ of the joint, which leaves

        gear = k δ + D ŵ − D (H + b) / (H + b + D) v⁺,    ŵ = (H w − k δ + a) / (H + b + D),    δ = φ − q before

    a torque and a damper for the engine, stable however stiff the gear is; an infinitely stiff one gives the rigid
    drive with armature N² J. D is d, but at least k dt, the least that brings a stiff gear to rest without ringing:
    with d < k dt, oscillations of frequency ω are damped with a ratio of about ω dt / 2 instead of ω d / (2 k).

    Friction acts at the joint and is the engine's. `lost` is the damper's work, with what the step's damping takes.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end.
        dt: Step [s].
    """

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self._ratio = numbers(drives, "gear_ratio")
        self._inertia = self._ratio**2 * numbers(drives, "rotor_inertia")
        self._stiffness = numbers(drives, "stiffness")
        self._damping = np.maximum(numbers(drives, "damping"), dt * self._stiffness)
        self._curve = SpeedCurve(drives)
        super().__init__(drives, turns, dt)

    def start(self, position: Array, velocity: Array) -> None:
        """The gear is slack, the rotor turns with the joint; nothing is wanted."""
        self._angle, self._speed = position.copy(), velocity.copy()
        self._deflection = np.zeros(self.n)
        self._push = (np.zeros(self.n), np.zeros(self.n), np.zeros(self.n))

    def shape(self, position: Array, velocity: Array) -> None:
        """What the joint feels of gear and rotor in the next step."""
        torque, target, kp, speed, kd = self.rows[:5]
        force = torque + kp * (target - position - self._deflection) + kd * speed
        drag = self.dt * kp + kd
        spring = self._stiffness * self._deflection
        heavy = self._inertia / self.dt
        rest = heavy * self._speed - spring
        force, drag = self._within_limits(force, drag, rest + self._damping * velocity)
        total = heavy + drag + self._damping
        self._push = (force, drag, (rest + force) / total)
        self.rows[0] = spring + self._damping * self._push[2]
        self.rows[1:4] = 0.0
        self.rows[4] = self._damping * (heavy + drag) / total
        self.rows[5], self.rows[6] = -np.inf, np.inf

    def _within_limits(self, force: Array, drag: Array, rest: Array) -> tuple[Array, Array]:
        """Motor torque `force − drag w⁺`, put on its limit where it would leave it if the joint kept its speed."""
        heavy = self._inertia / self.dt + self._damping
        wanted = force - drag * (rest + force) / (heavy + drag)
        low, high = self._curve.limits(self._speed)
        side = (wanted > high).astype(float) - (wanted < low)
        if not side.any():
            return force, drag
        line, slope = side * self._curve.at_rest, self._curve.slope
        along = line - slope * (rest + line) / (heavy + slope)
        on_line = side * np.clip(side * along, 0.0, self._curve.limit)
        cut = np.where(slope > 0.0, on_line, np.clip(wanted, low, high))
        falls = (slope > 0.0) & (on_line == along)
        free = side == 0.0
        return np.where(free, force, np.where(falls, line, cut)), np.where(free, drag, np.where(falls, slope, 0.0))

    def close(self, torque: Array, mean: Array, path: Array, velocity: Array) -> Array:
        """Rotor and gear at the end of the step; the motor does not exceed its torque limit."""
        force, drag, free_speed = self._push
        heavy = self._inertia / self.dt
        speed = free_speed + self._damping / (heavy + drag + self._damping) * velocity
        motor = np.minimum(np.maximum(force - drag * speed, -self.limit), self.limit)
        speed = self._speed + (motor - torque) / heavy
        rotor_mean, turn = 0.5 * (self._speed + speed), self.dt * speed
        deflection = self._deflection + turn - path
        spring = 0.5 * self._stiffness * (deflection**2 - self._deflection**2)
        self.lost += self.dt * torque * (rotor_mean - mean) - spring
        self._angle, self._speed, self._deflection = self._angle + turn, speed, deflection
        return motor * rotor_mean

    @property
    def stored(self) -> float:
        """Energy of rotors and springs [J]."""
        return float(0.5 * (self._inertia @ self._speed**2 + self._stiffness @ self._deflection**2))

    def readings(self) -> dict[str, Array]:
        """Power of the motor [W], angle of the rotor [rad]."""
        return {**super().readings(), "motor_angle": self._ratio * self._angle}
