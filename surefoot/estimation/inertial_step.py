"""The IMU's part of an update, with something in its place while it is silent."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.estimation.invariant_filter import InvariantFilter
from surefoot.estimation.settings import EstimatorSettings

__all__ = ["InertialStep"]

Array = NDArray[np.float64]


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
        self._turn, self._last = np.zeros(3), np.full(6, np.nan)
        self._good = np.repeat([settings.gyro_noise, settings.accelerometer_noise], 3) ** 2  # densities
        self._poor = np.repeat([settings.silent_gyro, settings.silent_accelerometer], 3) ** 2
        walks = [0.0, 0.0, 0.0, settings.gyro_walk, settings.accelerometer_walk]
        self._walk = np.repeat([*walks, *([settings.point_drift] * len(kalman.footholds))], 3) ** 2

    def reset(self, turn: Array) -> None:
        """Begin again with an angular velocity (3,) in the frame of the IMU [rad/s]."""
        self._turn, self._last = turn.copy(), np.full(6, np.nan)

    @property
    def twist(self) -> Array:
        """(6,) of the IMU in its own frame now, linear first."""
        return np.concatenate([self._filter.velocity @ self._filter.rotation, self._turn])

    def advance(self, dt: float, readings: Array, legs: Array | None) -> None:
        """Go to the time of the readings.

        Args:
            dt: Since the last ones [s].
            readings: (6,) gyroscope [rad/s] and accelerometer [m/s²], NaN where silent.
            legs: (6,) twist of the IMU by the legs; needed where a reading is silent.
        """
        kalman, known = self._filter, ~np.isnan(readings)
        if legs is not None:
            guess = np.concatenate([legs[3:], -kalman.gravity @ kalman.rotation]) + kalman.bias
            readings = np.where(known, readings, guess)
        if dt > 0.0:
            mean = np.where(known & ~np.isnan(self._last), 0.5 * (self._last + readings), readings)
            noise = np.where(known, self._good / dt, self._poor)
            kalman.predict(mean, dt, noise, self._walk * dt, known.astype(float))
        self._last = np.where(known, readings, np.nan)
        if legs is not None and not known[3:].all():
            kalman.see_velocity(legs[:3], self._settings.leg_velocity)
        self._turn = readings[:3] - kalman.bias[:3]
