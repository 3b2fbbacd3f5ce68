"""`DcmFeedback`: the ZMP that brings the DCM back to its reference."""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.control.legged import closest_inside, turned

_LARGEST, _LEAK = 0.05, 0.5  # of the integral of the error [m s], [1/s]


class DcmFeedback:
    """Proportional and leaky integral feedback, inside the support polygon.

        p = p_ref + (1 + k/ω) (ξ − ξ_ref) + k_i ∫ (ξ − ξ_ref) dt        [control.dcm-tracking]   Englsberger et al. 2015

    Args:
        gain: k [1/s].
        integral_gain: k_i [1/s].
        omega: √(g/h) [1/s].
    """

    def __init__(self, gain: float, integral_gain: float, omega: float) -> None:
        self._gain, self._integral_gain = 1.0 + gain / omega, integral_gain
        self._integral = [0.0, 0.0]

    def turn(self, yaw: float) -> None:
        """The frame of reference has turned by −yaw [rad]."""
        self._integral = turned(np.array(self._integral), yaw).tolist()

    def zmp(self, error: Array, reference: Array, polygon: Array, dt: float) -> Array:
        """The ZMP (2,) to ask for.

        Args:
            error: (2,) of the DCM.
            reference: (2,) of the ZMP.
            polygon: (k, 2) support polygon.
            dt: Since the last time [s].
        """
        kept, off, point = 1.0 - _LEAK * dt, error.tolist(), reference.tolist()
        for k, e in enumerate(off):
            self._integral[k] = total = min(_LARGEST, max(-_LARGEST, kept * self._integral[k] + dt * e))
            point[k] += self._gain * e + self._integral_gain * total
        return closest_inside(np.array(point), polygon)
