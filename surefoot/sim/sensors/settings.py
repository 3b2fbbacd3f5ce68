"""`SensorSettings`: which sensors a robot has and how good they are."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from surefoot.errors import ShapeError
from surefoot.sim.sensors.channels import Channel

_BUS = 0.001  # delay of a field bus [s]
_ENCODER = Channel(noise=1e-4, bias=3e-4, delay=_BUS, quantisation=2.0 * np.pi / 2**14)
_DRIVE_SPEED = Channel(noise=0.01, delay=_BUS)
_GYRO = Channel(noise_density=2.4e-4, bias=3e-3, bias_walk=2e-5, delay=_BUS, quantisation=2.7e-4)
_ACCELEROMETER = Channel(noise_density=2e-3, bias=0.03, bias_walk=2e-4, delay=_BUS, quantisation=1.8e-3)
_FORCE_AND_MOMENT = (2e-3, 2e-3, 2e-3, 2e-4, 2e-4, 2e-4)
_WRENCH = Channel(noise=_FORCE_AND_MOMENT, bias=_FORCE_AND_MOMENT, delay=_BUS, quantisation=1e-5)
_TOUCH = Channel(delay=_BUS)


@dataclass(frozen=True)
class SensorSettings:
    """The sensors. The defaults are those of a legged robot of today.

    Encoders: 14 bit at the joint, calibrated to 0.3 mrad; speeds are differentiated by the drive. Gyroscope and
    accelerometer: the densities of a good MEMS unit with 16 bit, offsets as after a calibration. Force sensors: 0.2 %
    of the weight.

    Args:
        encoder_position: [rad] or [m], joint by joint.
        encoder_velocity: [rad/s] or [m/s], joint by joint.
        gyro: [rad/s].
        accelerometer: [m/s²].
        wrench: In weights of the robot: forces per weight [1], moments per weight [m]; linear first.
        touch: Of the contact bits; noise has no sense here.
        touch_on: Normal force from which on a contact bit is set, as share of the weight.
        touch_off: Normal force below which it is cleared, as share of the weight.
        imu: Link or frame that carries the IMU; None for the base (a robot fixed to the world then has none).
    """

    encoder_position: Channel = _ENCODER
    encoder_velocity: Channel = _DRIVE_SPEED
    gyro: Channel = _GYRO
    accelerometer: Channel = _ACCELEROMETER
    wrench: Channel = _WRENCH
    touch: Channel = _TOUCH
    touch_on: float = 0.03
    touch_off: float = 0.015
    imu: str | None = None

    def __post_init__(self) -> None:
        if not 0.0 < self.touch_off <= self.touch_on:
            raise ShapeError(
                "a contact bit needs 0 < touch_off ≤ touch_on",
                evidence={"touch_on": self.touch_on, "touch_off": self.touch_off},
            )

    @classmethod
    def ideal(cls) -> SensorSettings:
        """Sensors without errors and delays."""
        perfect: dict[str, Any] = {name: Channel() for name in cls._channels()}
        return cls(**perfect)

    def with_dropout(self, dropout: float, burst: float = 0.0) -> SensorSettings:
        """The same sensors on a bad bus.

        Args:
            dropout: Share of the readings that never arrive, of every sensor.
            burst: Mean length of a drop-out [s]; 0 where each reading is lost or not by itself.
        """
        worse: dict[str, Any] = {
            name: replace(getattr(self, name), dropout=dropout, burst=burst) for name in self._channels()
        }
        return replace(self, **worse)

    def with_delay(self, delay: float) -> SensorSettings:
        """The same with another delay of all sensors.

        Args:
            delay: From the world to the program [s].
        """
        return replace(self, **{name: replace(getattr(self, name), delay=delay) for name in self._channels()})

    @classmethod
    def _channels(cls) -> list[str]:
        return [item.name for item in fields(cls) if isinstance(item.default, Channel)]
