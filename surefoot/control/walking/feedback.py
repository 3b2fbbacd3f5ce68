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
        self._integral = np.zeros(2)

    def turn(self, yaw: float) -> None:
        """The frame of reference has turned by −yaw [rad]."""
        self._integral = turned(self._integral, yaw)

    def zmp(self, error: Array, reference: Array, polygon: Array, dt: float) -> Array:
        """The ZMP (2,) to ask for.

        Args:
            error: (2,) of the DCM.
            reference: (2,) of the ZMP.
            polygon: (k, 2) support polygon.
            dt: Since the last time [s].
        """
        self._integral = np.clip((1.0 - _LEAK * dt) * self._integral + dt * error, -_LARGEST, _LARGEST)
        return closest_inside(reference + self._gain * error + self._integral_gain * self._integral, polygon)
