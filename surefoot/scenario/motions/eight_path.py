"""`EightPath`: where a hand should be along a figure-eight."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.spatial import so3

__all__ = ["EightPath"]

Array = NDArray[np.float64]
_WIDE = 0.25  # share of a cycle in which the tilt changes, about an outer turn


@dataclass(frozen=True, eq=False)
class EightPath:
    """An eight that begins and ends at its outer turn.

        p(s) = c + a sin(s) u + b sin(2 s) w,  R(s) = exp(tilt k(s) (u × w)) R,  s = π/2 … π/2 + 2π cycles

    It crosses its centre at s = π, 2π, …; k is the number of the cycle, and goes up smoothly about the outer turn
    between two cycles.

    Args:
        centre: c (3,) in world [m].
        rotation: R (3, 3), R_world_frame in the first cycle.
        axes: (2, 3) u and w, of unit length.
        size: a and b [m].
        cycles: How many.
        tilt: Turn from one cycle to the next [rad].
    """

    centre: Array
    rotation: Array
    axes: Array
    size: tuple[float, float]
    cycles: int
    tilt: float = 0.0

    @property
    def start(self) -> float:
        """First s."""
        return 0.5 * np.pi

    @property
    def end(self) -> float:
        """Last s."""
        return self.start + 2.0 * np.pi * self.cycles

    def pose(self, s: float) -> Array:
        """T_world_frame (4, 4).

        Args:
            s: Path parameter.
        """
        (a, b), (u, w) = self.size, self.axes
        T = np.eye(4)
        T[:3, 3] = self.centre + a * np.sin(s) * u + b * np.sin(2.0 * s) * w
        T[:3, :3] = np.array(so3.exp(self.tilt * self._cycle(s)[0] * np.cross(u, w)), dtype=float) @ self.rotation
        return T

    def twist(self, s: float) -> Array:
        """(6,) rate of the frame for s' = 1, in world axes, linear first.

        Args:
            s: Path parameter.
        """
        (a, b), (u, w) = self.size, self.axes
        linear = a * np.cos(s) * u + 2.0 * b * np.cos(2.0 * s) * w
        return np.concatenate([linear, self.tilt * self._cycle(s)[1] * np.cross(u, w)])

    def _cycle(self, s: float) -> tuple[float, float]:
        """The number of the cycle k, and dk/ds."""
        if self.cycles == 1:
            return 0.0, 0.0
        at = (s - self.start) / (2.0 * np.pi)
        turn = min(max(round(at), 1), self.cycles - 1)
        x = float(np.clip((at - turn) / _WIDE + 0.5, 0.0, 1.0))
        rate = 30.0 * (x * (1.0 - x)) ** 2 / (_WIDE * 2.0 * np.pi)
        return turn - 1.0 + x**3 * (10.0 - 15.0 * x + 6.0 * x**2), rate
