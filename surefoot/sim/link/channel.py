"""`LossyChannel`: a bad network, in a reproducible way."""

from __future__ import annotations

import heapq
from collections.abc import Sequence

import numpy as np

from surefoot.arrays import number


class LossyChannel:
    """Loses, delays, reorders and repeats packets.

    Args:
        loss: Share of packets that never arrive.
        delay: Mean delay [s].
        jitter: Delays are uniform in delay ± jitter [s]; larger than the time between packets, it reorders them.
        repeat: Share of packets that arrive twice.
        blackouts: Intervals (from, to) [s] in which everything sent is lost.
        seed: Of the chances.
    """

    def __init__(
        self,
        loss: float = 0.0,
        delay: float = 0.0,
        jitter: float = 0.0,
        repeat: float = 0.0,
        blackouts: Sequence[tuple[float, float]] = (),
        seed: int = 0,
    ) -> None:
        self.loss, self.repeat = number(loss, "loss"), number(repeat, "repeated packets")
        self.delay, self.jitter = number(delay, "delay"), number(jitter, "jitter")
        self.blackouts, self._rng = tuple(blackouts), np.random.default_rng(seed)
        self._waiting: list[tuple[float, int, bytes]] = []
        self._count = 0

    def send(self, data: bytes, now: float) -> None:
        """Put a packet in.

        Args:
            data: The packet.
            now: Time [s].
        """
        copies = 2 if self._rng.random() < self.repeat else 1
        lost = self._rng.random() < self.loss or any(start <= now < end for start, end in self.blackouts)
        for _ in range(copies):
            wait = max(0.0, self.delay + self.jitter * self._rng.uniform(-1.0, 1.0))
            if not lost:
                self._count += 1
                heapq.heappush(self._waiting, (now + wait, self._count, data))

    def arrivals(self, now: float) -> list[bytes]:
        """Packets that have arrived by now, in the order of their arrival.

        Args:
            now: Time [s].
        """
        out = []
        while self._waiting and self._waiting[0][0] <= now:
            out.append(heapq.heappop(self._waiting)[2])
        return out
