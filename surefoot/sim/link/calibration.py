"""From joint angles to counts of the PWM chips, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, only_keys
from surefoot.errors import NotSupportedError, ShapeError
from surefoot.robot import Robot
from surefoot.tables import parse_toml, read_toml_text

_PER_RADIAN = 2000.0 / np.pi  # µs: 1000 µs for 90°, usual for analogue servos
_LEAST, _CENTRE, _LARGEST = 500.0, 1500.0, 2500.0  # µs


class PCA9685:
    """The PWM chip: 16 channels of 12 bit, one frequency. NXP, data sheet of the PCA9685, revision 4."""

    CHANNELS = 16
    STEPS = 4096
    CLOCK = 25e6  # Hz

    @classmethod
    def prescale(cls, frequency: float) -> int:
        """The value of its register PRE_SCALE, 3…255, for a frequency [Hz]."""
        return int(np.clip(round(cls.CLOCK / (cls.STEPS * frequency)) - 1, 3, 255))

    @classmethod
    def frequency(cls, prescale: int) -> float:
        """[Hz] that the chip really has."""
        return cls.CLOCK / (cls.STEPS * (prescale + 1))


@dataclass(frozen=True)
class Servo:
    """One servo: where it is plugged in, and what pulses mean.

    Args:
        joint: The joint that it turns.
        chip: 0 or 1.
        channel: 0…15.
        centre: Pulse at q = 0 [µs].
        per_radian: Change of the pulse [µs/rad]; negative if the servo turns the other way.
        least: Shortest pulse that it may get [µs].
        largest: Longest pulse that it may get [µs].
    """

    joint: str
    chip: int
    channel: int
    centre: float = _CENTRE
    per_radian: float = _PER_RADIAN
    least: float = _LEAST
    largest: float = _LARGEST

    def __post_init__(self) -> None:
        if self.chip not in (0, 1) or not 0 <= self.channel < PCA9685.CHANNELS:
            raise ShapeError(f"servo of `{self.joint}`: chip {self.chip}, channel {self.channel} do not exist")
        number(self.least, f"shortest pulse of `{self.joint}`", positive=True)
        if not self.least < self.largest or not np.isfinite(self.per_radian) or self.per_radian == 0.0:
            raise ShapeError(f"servo of `{self.joint}` needs least < largest and a slope that is not 0")

    @property
    def address(self) -> int:
        """Chip and channel in one byte."""
        return PCA9685.CHANNELS * self.chip + self.channel


@dataclass(frozen=True, eq=False)
class Calibration:
    """All servos of a robot, in the order of its drives.

    Args:
        servos: One for each driven joint.
        frequency: Of the pulses [Hz]; the chips come as near to it as they can.
    """

    servos: tuple[Servo, ...]
    frequency: float = 50.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "servos", tuple(self.servos))
        addresses = [servo.address for servo in self.servos]
        if len(set(addresses)) != len(addresses):
            raise ShapeError("two servos share a channel", evidence={"chip · 16 + channel": sorted(addresses)})
        number(self.frequency, "frequency of the pulses", positive=True)

    @property
    def microseconds(self) -> float:
        """Length of one count [µs]."""
        return 1e6 / (PCA9685.STEPS * PCA9685.frequency(PCA9685.prescale(self.frequency)))

    @property
    def bounds(self) -> tuple[Array, Array]:
        """Least and largest counts, (n,) each."""
        pulses = np.array([[servo.least, servo.largest] for servo in self.servos]) / self.microseconds
        return np.ceil(pulses[:, 0]), np.floor(pulses[:, 1])

    def counts(self, angles: ArrayLike) -> Array:
        """Counts (n,), whole numbers within the bounds of the servos, of joint angles (n,) [rad]."""
        q = finite_array(angles, (len(self.servos),), "joint angles")
        centre, slope = (np.array([getattr(s, name) for s in self.servos]) for name in ("centre", "per_radian"))
        return np.clip(np.round((centre + slope * q) / self.microseconds), *self.bounds)

    def angles(self, counts: ArrayLike) -> Array:
        """Joint angles (n,) [rad] of counts (n,)."""
        c = finite_array(counts, (len(self.servos),), "counts")
        centre, slope = (np.array([getattr(s, name) for s in self.servos]) for name in ("centre", "per_radian"))
        return (c * self.microseconds - centre) / slope

    def to_dict(self) -> dict[str, Any]:
        """As tables of a calibration file."""
        rows = {servo.joint: {k: v for k, v in asdict(servo).items() if k != "joint"} for servo in self.servos}
        return {"frequency": self.frequency, "servos": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any], robot: Robot) -> Calibration:
        """The calibration that `to_dict` wrote.

        Args:
            data: `frequency` and `servos`; joints that are omitted keep their default.
            robot: The robot.
        """
        only_keys(data, ("frequency", "servos"), "calibration")
        default, given = calibration_of(robot), data.get("servos", {})
        joints = [servo.joint for servo in default.servos]
        only_keys(given, joints, "servos of the calibration")
        fields = ("chip", "channel", "centre", "per_radian", "least", "largest")
        for joint, row in given.items():
            only_keys(row, fields, f"servo of `{joint}`")
        servos = [Servo(**(asdict(servo) | dict(given.get(servo.joint, {})))) for servo in default.servos]
        return cls(tuple(servos), data.get("frequency", default.frequency))

    @classmethod
    def load(cls, path: str | Path, robot: Robot) -> Calibration:
        """Read a calibration file (TOML)."""
        return cls.from_dict(parse_toml(read_toml_text(path), path), robot)


def calibration_of(robot: Robot) -> Calibration:
    """Nominal servos: 1500 µs at q = 0, 1000 µs for 90°; the first half of the joints on chip 0, the others on chip 1.

    A joint whose range does not fit into 500…2500 µs around q = 0 has its centre in the middle of its range.

    Args:
        robot: A robot whose drives turn joints with one axis each, at most 32.

    Raises:
        NotSupportedError: There are more of them, or others.
    """
    n = robot.nu
    if n > 2 * PCA9685.CHANNELS or len(robot.drives) != n:
        raise NotSupportedError(f"two chips drive at most 32 joints with one axis, `{robot.name}` has {n}")
    half = (n + 1) // 2 if n > 1 else 1
    servos = []
    for k, drive in enumerate(robot.drives):
        at = robot.tree.q_index[robot.joint_index(drive.joint)]
        low, high = float(robot.limits.lower[at]), float(robot.limits.upper[at])
        room = (_LARGEST - _LEAST) / 2.0 / _PER_RADIAN
        fits = not np.isfinite([low, high]).all() or (low >= -room - 1e-9 and high <= room + 1e-9)
        centre = _CENTRE if fits else _CENTRE - _PER_RADIAN * 0.5 * (low + high)
        servos.append(Servo(drive.joint, k // half, k % half, centre))
    return Calibration(tuple(servos))
