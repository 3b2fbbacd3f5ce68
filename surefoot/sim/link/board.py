"""`ServoBoard`: the robot's side of the link. It obeys, holds, and resumes."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.sim.link.calibration import Calibration
from surefoot.sim.link.protocol import Status, Targets, decode, is_newer


class ServoBoard:
    """Takes datagrams, moves servos, reports.

    Targets are obeyed if the packet is whole, names each servo once, keeps all pulses within their bounds, and is newer
    than the last one of its session. Without such a packet for `watchdog` seconds the board holds its servos where they
    were sent last, until the next one comes. Only then, or before the first packet, may another session take over.

    Args:
        calibration: The servos.
        angles: (n,) where they are at the beginning [rad].
        watchdog: [s].
    """

    def __init__(self, calibration: Calibration, angles: ArrayLike, watchdog: float = 0.25) -> None:
        self.calibration = calibration
        self.watchdog = number(watchdog, "watchdog", positive=True)
        self._addresses = [servo.address for servo in calibration.servos]
        self._counts = calibration.counts(angles)
        self._session = self._obeyed = 0
        self._heard: float | None = None
        self._sent = 0
        self.accepted = self.refused = self.holds = 0

    def receive(self, data: bytes, now: float) -> bool:
        """Take a datagram; whether it was obeyed.

        Args:
            data: What arrived.
            now: Time [s].
        """
        message = decode(data)
        if not isinstance(message, Targets) or not self._is_next(message, now):
            self.refused += 1
            return False
        wanted = np.array([message.counts[address] for address in self._addresses], dtype=float)
        if self.state(now) == "holding":
            self.holds += 1
        self._counts, self._session, self._obeyed, self._heard = wanted, message.session, message.sequence, now
        self.accepted += 1
        return True

    def _is_next(self, message: Targets, now: float) -> bool:
        if sorted(message.counts) != sorted(self._addresses):
            return False
        low, high = self.calibration.bounds
        wanted = np.array([message.counts[address] for address in self._addresses])
        if (wanted < low).any() or (wanted > high).any():
            return False
        if message.session == self._session and self._heard is not None:
            return is_newer(message.sequence, self._obeyed)
        return self.state(now) != "following"

    def state(self, now: float) -> str:
        """One of `STATES`."""
        if self._heard is None:
            return "waiting"
        return "following" if now - self._heard <= self.watchdog else "holding"

    @property
    def angles(self) -> Array:
        """(n,) where the servos are sent [rad]."""
        return self.calibration.angles(self._counts)

    def report(self, now: float, contacts: ArrayLike, imus: Array, battery: float) -> Status:
        """The next status.

        Args:
            now: Time [s].
            contacts: Which feet touch.
            imus: (k, 6) gyroscopes [rad/s] and accelerometers [m/s²].
            battery: [V].
        """
        self._sent = (self._sent + 1) % (1 << 32)
        touching = tuple(bool(x) for x in np.asarray(contacts))
        clock = int(1000.0 * now) % (1 << 32)
        return Status(
            self._session, self._sent, clock, self._obeyed, self.state(now), touching, battery, self.accepted,
            self.refused, imus,
        )  # fmt: skip
