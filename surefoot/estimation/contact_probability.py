"""How likely each contact holds on to the ground."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.estimation.settings import EstimatorSettings

__all__ = ["TouchTracker", "contact_probability"]

Array = NDArray[np.float64]
_SURE = 0.98  # what a contact bit is worth


def contact_probability(share: Array, touching: Array, settings: EstimatorSettings) -> Array:
    """Probability of touch from normal forces, before any smoothing.

        P = 1 / (1 + exp(−(f − f₀ + h P₋) / w))        [estimation.touch]   after Camurri et al. 2017

    with a threshold that is h lower for a contact that touched (hysteresis).

    Args:
        share: (k,) normal forces as shares of the weight.
        touching: (k,) P₋, the probabilities before.
        settings: f₀ `touch_force`, h `touch_hysteresis`, w `touch_width`.

    Returns:
        (k,) in 0…1, NaN where the force is.
    """
    return _logistic((share - settings.touch_force + settings.touch_hysteresis * touching) / settings.touch_width)


def _logistic(x: Array) -> Array:
    """1 / (1 + exp(−x)), without overflow."""
    out: Array = 0.5 * (1.0 + np.tanh(0.5 * x))
    return out


class TouchTracker:
    """Probabilities of touch over time: from the force, where it is silent from the contact bit, else from the speed.

    A contact that no sensor sees counts as touching while it is at rest in the world: more is not asked of a foothold.

    Args:
        count: Number k of contacts.
        settings: Thresholds and time constants.
    """

    def __init__(self, count: int, settings: EstimatorSettings) -> None:
        self._settings = settings
        self.probability, self._fresh = np.zeros(count), True

    def reset(self) -> None:
        """Begin again: the next readings count in full."""
        self.probability[:] = 0.0
        self._fresh = True

    def update(self, dt: float, share: Array, bit: Array, speed: Array) -> None:
        """Take the readings at the end of a step.

        Args:
            dt: Of the step [s].
            share: (k,) normal forces as shares of the weight, NaN where silent.
            bit: (k,) contact bits 0 or 1, NaN where silent.
            speed: (k,) of the contacts in world, as far as known [m/s].
        """
        chosen, before = self._settings, self.probability
        at_rest = _logistic(4.0 * (1.0 - speed / chosen.rest_speed))
        by_bit = np.where(np.isnan(bit), at_rest, np.where(bit > 0.5, _SURE, 1.0 - _SURE))
        target = np.where(np.isnan(share), by_bit, contact_probability(share, before, chosen))
        step = 1.0 if self._fresh else 1.0 - np.exp(-dt / chosen.touch_time)
        self.probability = before + step * (target - before)
        self._fresh = False
