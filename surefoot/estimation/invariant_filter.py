"""`InvariantFilter`: rotation, velocity, position, footholds and IMU offsets of a walking body.

Contact-aided right-invariant extended Kalman filter: Hartley, Ghaffari, Eustice and Grizzle 2020 (International Journal
of Robotics Research). The state X = (R, v, p, d_1 … d_n) is an element of SE_{n+2}(3), the error is
ξ = log(X̂ X⁻¹) with X̂ the estimate, offsets have the error ζ = b̂ − b. Order of the error: rotation, velocity, position,
gyroscope offset, accelerometer offset, footholds. Everything is in world axes, offsets in IMU axes.
"""

from __future__ import annotations

from math import isnan
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.codegen.loops import BoundCode
from surefoot.compiler import KernelSet
from surefoot.errors import NotSupportedError
from surefoot.estimation.covariance import COVARIANCE
from surefoot.estimation.settings import EstimatorSettings
from surefoot.spatial.so3 import skew

FIXED = 15
"""Size of the error without footholds."""
_R, _V, _P, _BIAS = slice(0, 3), slice(3, 6), slice(6, 9), slice(9, FIXED)
_ALL = np.ones(6, dtype=bool)
_DT = 6  # place of dt among the arguments of `covariance.predict`
_INERTIA = 1e-4  # weight of the twist before against that of one sure point


def addresses(*arrays: NDArray[Any]) -> tuple[int, ...]:
    """Where arrays are in memory; the caller must keep them."""
    return tuple(array.ctypes.data for array in arrays)


class _Kept:
    """An array that stays where it is in memory: numbers that are assigned are copied into it."""

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = f"_{name}"

    def __get__(self, instance: InvariantFilter, owner: type) -> Array:
        out: Array = getattr(instance, self._name)
        return out

    def __set__(self, instance: InvariantFilter, value: Array) -> None:
        getattr(instance, self._name)[...] = value


class InvariantFilter:
    """Estimate and covariance. The body frame is that of the IMU. Footholds that are not in use mean nothing.

    Machine code works in its arrays: it cannot be copied.

    Args:
        kernels: `inertial_step` and `move` of `filter_kernels`.
        count: Number n of footholds.
        gravity: (3,) in world [m/s²].
    """

    rotation, velocity, position, footholds, bias, P = _Kept(), _Kept(), _Kept(), _Kept(), _Kept(), _Kept()

    def __init__(self, kernels: KernelSet, count: int, gravity: Array) -> None:
        size, rows = FIXED + 3 * count, max(3 * count, 3)
        self.gravity, self.size = np.array(gravity), size
        self._state, body = _body(count)
        self._next, after = _body(count)
        self._rotation, self._velocity, self._position, self._footholds = body
        self._rotation[:], self._bias, self._P = np.eye(3), np.zeros(6), np.eye(size)
        self.H = np.zeros((3 * count, size))
        self.H[:, _P], self.H[:, FIXED:] = np.tile(np.eye(3), (count, 1)), -np.eye(3 * count)
        self.true, self._dt, self.step, inputs = np.zeros(6), np.zeros(1), np.zeros(size), np.zeros((size, 6))
        """(6,) readings of the next step without their offsets [rad/s], [m/s²]."""
        given = (self.true[:3], self.true[3:], self._dt, self.gravity)
        self._inertial_step = kernels.inertial_step.bind(*body, *given, *after[:3], inputs)
        self._move = kernels.move.bind(*body, self.step, *after)
        self.known, self.noise, self.walk = np.zeros(6), np.zeros(6), np.zeros(size)
        """(6,), (6,) and (15 + 3 n,) for the next step, as for `predict`."""
        W, U, HP, K, D = (np.zeros((k, size)) for k in (size, 6, rows, rows, rows))
        S = np.zeros((rows, rows))
        self._kept = (HP, S, K, D, W)  # as long as their addresses
        self._at = (*addresses(self._P), size)
        changes = inputs, self.known, self.noise, self.walk
        self._predict = COVARIANCE.bind("predict", *self._at, *changes, 0.0, self.gravity, W, U)
        self.body = addresses(self._rotation, self._position, self._footholds)
        """Addresses of rotation, position and footholds."""
        self.scratch = addresses(HP, S, K, D, W, self.step)
        """Addresses of the scratch and the step of `covariance.correct`."""

    def __reduce__(self) -> NoReturn:
        raise NotSupportedError("a filter cannot be copied", next_step="make another one")

    def reset(self, rotation: Array, velocity: Array, position: Array, deviations: Array) -> None:
        """Begin again without offsets.

        Args:
            rotation: R_world_imu (3, 3).
            velocity: (3,) in world [m/s].
            position: (3,) in world [m].
            deviations: (5,) standard deviations of rotation [rad], velocity, position and the two offsets.
        """
        self._rotation[:], self._velocity[:], self._position[:] = rotation, velocity, position
        self._footholds[:], self._bias[:] = 0.0, 0.0
        T = self._to_invariant()
        self._P[:] = np.eye(self.size)
        self._P[:FIXED, :FIXED] = (T * np.repeat(deviations, 3) ** 2) @ T.T

    @property
    def covariance(self) -> Array:
        """(15, 15) of rotation (rotation vector in world axes), velocity, position and offsets, estimate − truth."""
        T = 2.0 * np.eye(FIXED) - self._to_invariant()  # its inverse
        return T @ self.P[:FIXED, :FIXED] @ T.T

    def _to_invariant(self) -> Array:
        """(15, 15) from plain errors to invariant ones: ξ_v = δv + v × ξ_R, ξ_p = δp + p × ξ_R."""
        T = np.eye(FIXED)
        T[_V, _R], T[_P, _R] = skew(self.velocity), skew(self.position)
        return T

    def predict(self, readings: Array, dt: float, noise: Array, walk: Array, known: Array) -> None:
        """Go on by one step with constant readings; mean and transition are exact.

        Args:
            readings: (6,) of gyroscope [rad/s] and accelerometer [m/s²], or guesses, offsets included.
            dt: Length of the step [s].
            noise: (6,) variances of the readings during the step.
            walk: (15 + 3 n,) variances that the step adds to offsets and footholds.
            known: (6,) true for a reading, false for a guess, whose error has nothing to do with the offset.
        """
        np.subtract(readings, self._bias, out=self.true)
        self.known[:], self.noise[:], self.walk[:] = known, noise, walk
        self.go_on(dt)

    def go_on(self, dt: float) -> None:
        """Go on by one step with what is in `true`, `known`, `noise` and `walk`.

        Args:
            dt: Length of the step [s].
        """
        self._dt[0] = self._predict.real[_DT] = dt
        self._inertial_step()
        self._state[:FIXED] = self._next[:FIXED]
        self._predict.run()

    def take(self, chosen: NDArray[np.int64], points: Array, noise: Array) -> None:
        """Begin footholds where contact points are now: ξ_d = ξ_p + R̂ w.

        Args:
            chosen: (m,) which footholds.
            points: (m, 3) in the body frame [m].
            noise: (3 m, 3 m) covariance of the points in world axes [m²].
        """
        rows = (FIXED + 3 * chosen[:, None] + np.arange(3)).ravel()
        self._P[rows] = np.tile(self._P[_P], (len(chosen), 1))
        self._P[:, rows] = np.tile(self._P[:, _P], (1, len(chosen)))
        self._P[np.ix_(rows, rows)] += noise
        self._footholds[chosen] = self._position + points @ self._rotation.T

    def residuals(self, points: Array) -> Array:
        """(n, 3) where the contact points are less where the footholds are, in world [m].

        z = R̂ y + p̂ − d̂ = ξ_p − ξ_d + R̂ w = H ξ + R̂ w        [estimation.foothold]   Hartley et al. 2020

        Args:
            points: (n, 3) measured y in the body frame [m].
        """
        out: Array = points @ self.rotation.T + self.position - self.footholds
        return out

    def see_velocity(self, velocity: Array, deviation: float) -> None:
        """Take a velocity (3,) in the body frame [m/s]: z = R̂ y − v̂ = −ξ_v + R̂ w."""
        residual, H = self.rotation @ velocity - self.velocity, np.zeros((3, self.size))
        H[:, _V] = -np.eye(3)
        self.correct(residual, H, deviation**2 * np.eye(3))

    def correct(self, residual: Array, H: Array, noise: Array) -> None:
        """Kalman step with residual = H ξ + w.

        Args:
            residual: (m,), m at most 3 or the rows of all footholds.
            H: (m, 15 + 3 n).
            noise: (m, m) covariance of w.
        """
        m, rows = len(residual), np.arange(len(residual))
        z, H, noise = (np.ascontiguousarray(x, dtype=float) for x in (residual, H, noise))
        given = (*self._at, H.ctypes.data, m, noise.ctypes.data)
        COVARIANCE["innovate"](*given, *self.scratch[:2])
        COVARIANCE["correct"](*given, *addresses(z, rows), m, *self.scratch)
        self.move()

    def bound_look(self, *given: Any) -> BoundCode:
        """Bind `covariance.look` to all arguments after P and its size."""
        return COVARIANCE.bind("look", *self._at, *given)

    def move(self) -> None:
        """X ← exp(step) X, b ← b + step, after a correction."""
        self._move()
        self._state[:] = self._next
        self._bias += self.step[_BIAS]

    def doubt(self, attitude: float, velocity: float) -> None:
        """Add variances of rotation [rad²] and velocity [m²/s²], as plain errors."""
        T = self._to_invariant()[:, :6]
        self._P[:FIXED, :FIXED] += (T * np.repeat([attitude, velocity], 3)) @ T.T


def _body(count: int) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Rotation, velocity, position and footholds, and the memory that they share."""
    memory = np.zeros(FIXED + 3 * count)
    return memory, (memory[:9].reshape(3, 3), memory[9:12], memory[12:15], memory[15:].reshape(count, 3))


class InertialStep:
    """Takes the filter from one reading to the next with the mean of both (trapezoidal rule).

    While the gyroscope is silent, the legs tell how the body turns; while the accelerometer is silent, the velocity
    stays, and the legs correct it.

    Args:
        kalman: The filter to move.
        settings: Noise.
    """

    def __init__(self, kalman: InvariantFilter, settings: EstimatorSettings) -> None:
        self._filter, self._settings = kalman, settings
        self.turn, self.last = np.zeros(3), np.full(6, np.nan)
        """(3,) angular velocity in the frame of the IMU [rad/s]; (6,) the last readings."""
        self.densities = np.repeat([settings.gyro_noise, settings.accelerometer_noise], 3) ** 2
        """(6,) of the variances of the readings."""
        self._poor = np.repeat([settings.silent_gyro, settings.silent_accelerometer], 3) ** 2
        walks = [0.0, 0.0, 0.0, settings.gyro_walk, settings.accelerometer_walk]
        self.walks = np.repeat([*walks, *([settings.point_drift] * len(kalman.footholds))], 3) ** 2
        """(15 + 3 n,) variances that each second adds."""

    def reset(self, turn: Array) -> None:
        """Begin again with an angular velocity (3,) in the frame of the IMU [rad/s]."""
        self.turn[:], self.last[:] = turn, np.nan

    @property
    def twist(self) -> Array:
        """(6,) of the IMU in its own frame now, linear first."""
        return np.concatenate([self._filter.velocity @ self._filter.rotation, self.turn])

    def advance(self, dt: float, readings: Array, legs: Array | None) -> None:
        """Go to the time of the readings.

        Args:
            dt: Since the last ones [s].
            readings: (6,) gyroscope [rad/s] and accelerometer [m/s²], NaN where silent.
            legs: (6,) twist of the IMU by the legs; None if no reading is silent.
        """
        kalman, known = self._filter, _ALL if legs is None else ~np.isnan(readings)
        if legs is not None:
            guess = np.concatenate([legs[3:], -kalman.gravity @ kalman.rotation]) + kalman.bias
            readings = np.where(known, readings, guess)
        if dt > 0.0:
            mean, noise = 0.5 * (self.last + readings), self.densities / dt
            if legs is not None or isnan(mean.sum()):
                mean = np.where(known & ~np.isnan(self.last), mean, readings)
                noise = np.where(known, noise, self._poor)
            kalman.predict(mean, dt, noise, self.walks * dt, known)
        self.last[:] = readings
        self.last[~known] = np.nan
        if legs is not None and not known[3:].all():
            kalman.see_velocity(legs[:3], self._settings.leg_velocity)
        np.subtract(readings[:3], kalman.bias[:3], out=self.turn)


def leg_twist(points: Array, moving: Array, grip: Array, before: Array) -> Array:
    """Twist (6,) of the body, linear first, in its own frame, for which points at rest in the world are at rest.

        min Σ g_i |v + ω × y_i + J_i q̇|² + ε |(v, ω) − before|²        [estimation.legs]

    The last term decides what the points leave open.

    Args:
        points: (n, 3) y in the body frame [m].
        moving: (n, 3) their velocity J q̇ against the body [m/s].
        grip: (n,) weights g, 0…1.
        before: (6,) twist before.
    """
    A = np.concatenate([np.broadcast_to(np.eye(3), (len(points), 3, 3)), np.cross(points[:, None], np.eye(3))], axis=2)
    weighted = A * grip[:, None, None]
    normal = np.einsum("nij,nik->jk", weighted, A) + _INERTIA * np.eye(6)
    return np.linalg.solve(normal, _INERTIA * before - np.einsum("nij,ni->j", weighted, moving))
