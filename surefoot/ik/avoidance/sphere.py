"""Obstacle avoidance as a second task that fades in inside a sphere of influence.

v = J₁⁺ V₁ + α_η(d) J̄₂⁺ (α₂(d) V₂ - J₂ J₁⁺ V₁)        [ik.sphere]   Maciejewski & Klein 1985;
                                                               Nenchev & Konno 2019, (2.53)

Three radii: from the sphere of influence on the point nearest to the obstacle is guided away; at the unity-gain radius
it has all that the first task leaves (α_η = 1) at its nominal speed (α₂ = 1); at the smallest the task is to be given
up.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from surefoot import ops
from surefoot.arrays import Array
from surefoot.errors import ShapeError


@dataclass(frozen=True)
class InfluenceSphere:
    """The three radii [m] about an obstacle.

    Args:
        abort: Nearer than this the first task must be given up.
        unity: Where avoidance has its full share and its nominal speed.
        influence: Where it begins.
    """

    abort: float
    unity: float
    influence: float

    def __post_init__(self) -> None:
        if not self.abort < self.unity < self.influence:
            raise ShapeError(
                "the radii must grow: abort < unity < influence",
                evidence={"abort": self.abort, "unity": self.unity, "influence": self.influence},
            )

    def share(self, distance: Any) -> Any:
        """α_η: 0 at the sphere of influence, 1 from the unity radius on, C² between (over `ops`).

        Args:
            distance: [m], a number or an array.
        """
        s = ops.minimum(ops.maximum(self._depth(distance), 0.0), 1.0)
        return s**3 * (10.0 + s * (6.0 * s - 15.0))

    def gain(self, distance: Any) -> Any:
        """α₂: 0 at the sphere of influence, 1 at the unity radius, growing as a square towards the obstacle.

        Args:
            distance: [m], a number or an array.
        """
        return ops.maximum(self._depth(distance), 0.0) ** 2

    def must_abort(self, distance: Any) -> Any:
        """Whether the first task is to be given up.

        Args:
            distance: [m], a number or an array.
        """
        return ops.less(distance, self.abort)

    def _depth(self, distance: Any) -> Any:
        return (self.influence - distance) / (self.influence - self.unity)

    def motion(self, J: Array, rate: Array, gradient: Array, speed: float, distance: float) -> Array:
        """(nv,) rates that do the first task and, in its null space, keep away.

        Args:
            J: (m, nv) Jacobian of the first task.
            rate: (m,) its rate V₁.
            gradient: (nv,) of the distance: J₂.
            speed: V₂ [m/s]: of moving away at the unity radius.
            distance: [m].
        """
        inverse = np.linalg.pinv(J)
        first, row = inverse @ rate, gradient - (gradient @ inverse) @ J
        size = row @ row
        if size <= _NO_FREEDOM**2 * (gradient @ gradient):
            return np.asarray(first)
        push = self.gain(distance) * speed - gradient @ first
        return np.asarray(first + self.share(distance) * push / size * row)


_NO_FREEDOM = 1e-6  # share of the gradient that the first task must leave for avoidance to act at all
