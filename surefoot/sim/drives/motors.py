"""DC motors behind rigid gears: winding, back-EMF and supply.

Elastic gears: the rotor turns on its own, behind a spring and a damper.

Hobby servos: positions only, with finite rate, a stiff spring and a dead band.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from surefoot.arrays import Array
from surefoot.robot import Drive
from surefoot.sim.drives.group import DriveGroup, Flags, numbers, short_way
from surefoot.sim.drives.speed_line import LineLimited, SpeedCurve


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
        """Effect of gear and rotor on the joint in the next step."""
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


class HobbyServos(DriveGroup):
    """A reference goes to the commanded position at the speed limit of the drive at most, and the joint after it.

    A spring holds the joint to the reference and a damper to rest, both within the torque limit, as in [sim.drive]. The
    servo hears the commanded position alone, in steps of `servo_step`; torque, velocity and gains of the command
    are not for it. The spring reaches to the edge of the dead band about the reference, and is off inside. As the
    damper brakes against rest (the back-EMF of the small motor), the joint does not outrun the reference; it lags
    behind it by damping · rate / stiffness. Supply and loss are those of an ideal source.

    Args:
        drives: The drives.
        turns: (n,) whether a joint turns without end.
        dt: Step [s].
    """

    def __init__(self, drives: Sequence[Drive], turns: Flags, dt: float) -> None:
        self._stride = dt * numbers(drives, "speed_limit")
        self._stiffness, self._damping = numbers(drives, "servo_stiffness"), numbers(drives, "servo_damping")
        self._dead_band, step = numbers(drives, "servo_dead_band"), numbers(drives, "servo_step")
        self._steps = step if step.any() else None
        super().__init__(drives, turns, dt)

    def start(self, position: Array, velocity: Array) -> None:
        """The reference is where the joint is."""
        self._reference = position.copy()

    def shape(self, position: Array, velocity: Array) -> None:
        """Move the reference by one step and put spring and damper on it."""
        way = self._near(self._rounded(self.rows[1]) - self._reference)
        self._reference = self._reference + np.minimum(np.maximum(way, -self._stride), self._stride)
        error = self._near(self._reference - position)
        edge = np.minimum(np.maximum(error, -self._dead_band), self._dead_band)
        self.rows[0] = self.rows[3] = 0.0
        self.rows[1] = position + (error - edge)
        self.rows[2] = np.where(np.abs(error) >= self._dead_band, self._stiffness, 0.0)
        self.rows[4] = self._damping

    def _near(self, way: Array) -> Array:
        """The short way round where joints turn without end."""
        return way if self.turns is None else np.where(self.turns, short_way(way), way)

    def _rounded(self, target: Array) -> Array:
        """Targets as the servo resolves them."""
        if self._steps is None:
            return target
        step = np.where(self._steps > 0.0, self._steps, 1.0)
        return np.where(self._steps > 0.0, step * np.round(target / step), target)

    def readings(self) -> dict[str, Array]:
        """Power at the joint [W], reference [rad] or [m]."""
        return {**super().readings(), "servo_reference": self._reference}
