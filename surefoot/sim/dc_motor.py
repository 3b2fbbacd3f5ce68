"""DC motors behind rigid gears: winding, back-EMF and supply."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.robot import Drive
from surefoot.sim.drive_group import Flags, numbers
from surefoot.sim.speed_line import LineLimited

__all__ = ["DcMotors"]


class DcMotors(LineLimited):
    """L di/dt = u − R i − k N v, torque N k i (N gear ratio, k torque constant), |u| ≤ supply.

    A current loop, faster than the step, brings the current to wanted torque / (N k) at the end of the step where the
    voltage allows it, else the full voltage acts. The wanted current is bounded by the torque limit. Within a step the
    voltage less the back-EMF is held and the winding solved exactly: with x = R dt / L, E = exp(−x) and
    φ = (1 − E)/x, the current goes from i to i∞ + (i − i∞) E, its mean is i∞ + (i − i∞) φ. The back-EMF is that at the
    end of the step, so that a strong gear does not swing. Beyond the speed of the supply the motor brakes.

    Koch, (B.2) to (B.5), with efficiency 1. Rotor inertia (armature), dry and viscous friction are the engine's.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end.
        dt: Step [s].
    """

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self._resistance, self._inductance = numbers(drives, "resistance"), numbers(drives, "inductance")
        self._ratio = numbers(drives, "gear_ratio")
        self._gain = self._ratio * numbers(drives, "torque_constant")  # N m at the joint per A, V per rad/s
        self._supply = numbers(drives, "voltage")
        self._solve_winding(dt)
        self.slope = self._gain**2 * self._rest / self._resistance
        super().__init__(drives, turns, dt)

    def _solve_winding(self, dt: float) -> None:
        """E, φ, 1 − φ, mean of exp(−2 R t/L), and the shares of the currents before and after in the mean current."""
        winds = self._inductance > 0.0
        x = np.where(winds, self._resistance * dt / np.where(winds, self._inductance, 1.0), 1.0)
        self._left = np.where(winds, np.exp(-x), 0.0)
        self._phi = np.where(winds, -np.expm1(-x) / x, 0.0)
        small = x / 2.0 - x**2 / 6.0 + x**3 / 24.0
        self._rest = np.where(winds & (x < 1e-4), small, 1.0 - self._phi)
        self._squares = np.where(winds, -np.expm1(-2.0 * x) / (2.0 * x), 0.0)
        self._after = self._rest / np.where(winds, -np.expm1(-x), 1.0)
        self._before = self._phi - self._after * self._left

    def start(self, position: Array, velocity: Array) -> None:
        """No current."""
        super().start(position, velocity)
        self._current, self._voltage = np.zeros(self.n), np.zeros(self.n)
        self._angle = self._ratio * position
        self._bound()

    def _bound(self) -> None:
        """Lines of the supply and caps of the current, with the current that flows now."""
        flowing = self._gain * self._current
        push = self._gain * self._rest / self._resistance * self._supply
        self.lines = self._phi * flowing + np.array([-push, push])
        self.caps = self._before * flowing + np.array([-self._after * self.limit, self._after * self.limit])

    def shape(self, position: Array, velocity: Array) -> None:
        """The mean torque of the step: some from the current that flows, the rest from the wanted one."""
        self._bound()
        rows = self.rows
        rows[0] = self._after * rows[0] + self._before * self._gain * self._current
        rows[2] *= self._after
        rows[4] *= self._after
        self.keep_to_lines(position, velocity)

    def close(self, torque: Array, mean: Array, path: Array, velocity: Array) -> Array:
        """The current at the end of the step, and the heat; power counts the back-EMF at the mean speed."""
        average = torque / self._gain
        final = (average - self._phi * self._current) / self._rest
        gap = self._current - final
        heat = self._resistance * (final**2 + 2.0 * final * gap * self._phi + gap**2 * self._squares)
        self.lost += self.dt * heat
        self._current = final + gap * self._left
        self._voltage = self._resistance * final + self._gain * velocity
        self._angle = self._angle + self._ratio * path
        return self._resistance * final * average + torque * mean

    @property
    def stored(self) -> float:
        """Energy of the windings [J]."""
        return float(0.5 * self._inductance @ self._current**2)

    def readings(self) -> dict[str, Array]:
        """Current now [A], voltage of the last step [V], power [W], angle of the rotor [rad]."""
        return {
            **super().readings(),
            "current": self._current,
            "voltage": self._voltage,
            "motor_angle": self._angle,
        }
