"""`PressingForces`: what to command so that hands press with the forces that are asked for, friction or not."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from surefoot.arrays import Array

__all__ = ["PressingForces"]

_RATE = 2.0  # at which the measured force becomes that which is asked for [1/s]
_MORE, _LESS = 4.0, 0.8  # most that is added and taken away, shares of the force


class PressingForces:
    """Integrates what measured normal forces miss; without readings it passes on what is asked for.

    A hand in the air feels nothing, so it is pushed on until it overcomes its friction and meets something.
    """

    def __init__(self) -> None:
        self._readings: Mapping[str, Array] = {}
        self._extra: dict[str, float] = {}
        self.asked: dict[str, float] = {}
        """Normal forces by contact [N]."""

    def observe(self, readings: Mapping[str, Array]) -> None:
        """See the force sensors.

        Args:
            readings: By name; NaN where nothing arrived.
        """
        self._readings = readings

    def commanded(self, contact: str, force: float, dt: float) -> float:
        """Normal force to command [N].

        Args:
            contact: The contact surface.
            force: What is asked for [N].
            dt: Since the last time [s].
        """
        measured = self._readings.get(f"contact.{contact}.wrench")
        miss = 0.0 if measured is None or np.isnan(measured[2]) else force - float(measured[2])
        extra = self._extra.get(contact, 0.0) + dt * _RATE * miss
        self._extra[contact] = min(max(extra, -_LESS * force), _MORE * force)
        return force + self._extra[contact]
