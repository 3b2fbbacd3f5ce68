"""`RobotLink`: the desktop's side of the link; `play` sends a motion through it."""

from __future__ import annotations

import secrets
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.sim.link.calibration import Calibration
from surefoot.sim.link.channel import LossyChannel
from surefoot.sim.link.protocol import LARGEST_PACKET, Status, Targets, decode, encode, is_newer, loopback_address

_MOST_AT_ONCE = 256  # packets


class RobotLink:
    """Sends joint targets and hears what the robot reports.

    Args:
        url: "udp://127.0.0.1:PORT".
        calibration: The servos.
        channel: A bad network that packets to the robot go through first; None for none.
        session: A number that tells this desktop from others; drawn if omitted.
    """

    def __init__(
        self, url: str, calibration: Calibration, channel: LossyChannel | None = None, session: int | None = None
    ) -> None:
        self._address = loopback_address(url)
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.bind(("127.0.0.1", 0))
        self._socket.setblocking(False)
        self.calibration, self._channel = calibration, channel
        self.session = (secrets.randbits(32) or 1) if session is None else session
        self._sequence, self._began = 0, time.monotonic()
        self.status: Status | None = None
        self.sent = self.heard = 0

    def send(self, angles: ArrayLike) -> None:
        """Send joint targets.

        Args:
            angles: (n,) in the order of the calibration [rad]; kept within the bounds of the servos.
        """
        now = time.monotonic() - self._began
        self._sequence = (self._sequence + 1) % (1 << 32)
        counts = self.calibration.counts(angles).astype(int).tolist()
        addresses = [servo.address for servo in self.calibration.servos]
        clock = int(1000.0 * now) % (1 << 32)
        data = encode(Targets(self.session, self._sequence, clock, dict(zip(addresses, counts, strict=True))))
        self.sent += 1
        if self._channel is None:
            self._put(data)
            return
        self._channel.send(data, now)
        for arrived in self._channel.arrivals(now):
            self._put(arrived)

    def _put(self, data: bytes) -> None:
        try:
            self._socket.sendto(data, self._address)
        except (ConnectionError, BlockingIOError):  # nobody listens yet, or the buffer is full: as good as lost
            return

    def poll(self) -> Status | None:
        """Take what arrived; the newest status of this session, or None if nothing new came."""
        news = None
        for _ in range(_MOST_AT_ONCE):
            try:
                data, sender = self._socket.recvfrom(LARGEST_PACKET + 1)
            except BlockingIOError:
                break
            except ConnectionError:  # nobody listens at the port yet
                continue
            message = decode(data) if sender == self._address else None
            if isinstance(message, Status) and message.session == self.session:
                self.heard += 1
                if self.status is None or is_newer(message.sequence, self.status.sequence):
                    self.status = news = message
        return news

    def close(self) -> None:
        """Close the socket."""
        self._socket.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


@dataclass(frozen=True)
class LinkReport:
    """How a motion went through a link.

    Args:
        sent: Packets to the robot.
        heard: Reports from it.
        accepted: Packets that it obeyed.
        refused: Packets that it refused.
        longest_silence: Without a report [s].
        holding: How long the robot held [s].
        resumed: How often it followed again after that.
        battery: The last voltage [V]; NaN without any report.
    """

    sent: int
    heard: int
    accepted: int
    refused: int
    longest_silence: float
    holding: float
    resumed: int
    battery: float


def play(
    link: RobotLink,
    angles: Callable[[float], Array],
    duration: float,
    rate: float = 50.0,
    watch: Callable[[float, Status | None], None] | None = None,
) -> LinkReport:
    """Send a motion in real time.

    Args:
        link: The link.
        angles: Joint targets (n,) [rad] at a time [s].
        duration: [s].
        rate: Packets a second.
        watch: Called after each packet with the time and the last status.
    """
    step = 1.0 / number(rate, "rate", positive=True)
    began = time.monotonic()
    last, silence, holding, resumed, before = began, 0.0, 0.0, 0, ""
    for k in range(int(np.ceil(number(duration, "duration", positive=True) * rate))):
        wait = began + k * step - time.monotonic()
        if wait > 0.0:
            time.sleep(wait)
        link.send(angles(k * step))
        news = link.poll()
        now = time.monotonic()
        silence = max(silence, now - last)
        if news is not None:
            last = now
            holding += step if news.state == "holding" else 0.0
            resumed += before == "holding" and news.state == "following"
            before = news.state
        if watch is not None:
            watch(k * step, link.status)
    status = link.status
    counts = (0, 0, np.nan) if status is None else (status.accepted, status.refused, status.battery)
    return LinkReport(link.sent, link.heard, counts[0], counts[1], silence, holding, resumed, counts[2])
