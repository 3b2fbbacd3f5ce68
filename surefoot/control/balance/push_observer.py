"""`PushObserver`: what pushes the robot, from how its DCM moves."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array

__all__ = ["PushObserver"]


class PushObserver:
    """Luenberger observer of a push d in ξ̇ = ω (ξ − p) + d, where d = F/(M ω) for a horizontal force F.

    Args:
        rate: How fast it finds a push [1/s].
        slow: Time constant of the mean push [s].
        most: Largest mean push that is believed [m/s].
    """

    def __init__(self, rate: float = 30.0, slow: float = 0.4, most: float = 0.3) -> None:
        self._rate, self._slow, self._most = rate, slow, most
        self._dcm: Array | None = None
        self.push = np.zeros(2)
        """(2,) d now [m/s]."""
        self.mean = np.zeros(2)
        """(2,) d over some time, for steady forces [m/s]."""

    def update(self, dcm: Array, zmp: Array, omega: float, dt: float) -> None:
        """Take a measurement.

        Args:
            dcm: (2,) ξ now [m].
            zmp: (2,) p since the last time, beyond the soles if angular momentum helps [m].
            omega: ω [1/s].
            dt: Since the last time [s].
        """
        if self._dcm is None:
            self._dcm = dcm.copy()
        error = dcm - self._dcm
        self._dcm = self._dcm + dt * (omega * (dcm - zmp) + self.push + 2.0 * self._rate * error)
        self.push = self.push + dt * self._rate**2 * error
        mean = self.mean + min(1.0, dt / self._slow) * (self.push - self.mean)
        self.mean = mean * min(1.0, self._most / max(float(np.hypot(mean[0], mean[1])), 1e-9))
