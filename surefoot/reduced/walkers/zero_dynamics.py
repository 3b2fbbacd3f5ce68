"""Hybrid zero dynamics on the compass: the swing leg follows the stance leg (Westervelt, Grizzle, Koditschek 2003).

One actuator between the legs enforces θ_n = h(θ_s). What is left has one degree of freedom, and its stride map is
closed: with the momentum σ about the stance foot, ζ = ½ σ², V(θ) = −∫ I(θ) (G₁ + G₂) dθ and σ⁺ = δ σ⁻,

    ζ⁺ ↦ δ² (ζ⁺ + V),  fixed at δ² V / (1 − δ²)        [walk.hzd]   Westervelt et al. 2003, (38) and (43)

so the largest eigenvalue of the whole stride is δ².
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import comb
from typing import ClassVar

import numpy as np
from scipy.integrate import quad

from surefoot.arrays import Array
from surefoot.reduced.walkers.compass import Compass, compass_stride
from surefoot.reduced.walkers.stride import Stride


@dataclass(frozen=True, eq=False)
class ZeroDynamicsWalker:
    """The compass on level ground under a virtual constraint.

    Args:
        model: The compass.
        half: Half the angle between the legs at heel strike [rad].
        end_slope: dθ_n/dθ_s at heel strike: the swing leg is retracted if it is positive.
        middle: Middle coefficient of the constraint, a Bézier polynomial of degree 4 [rad].
        stiffness: Of the error's decay [1/s²], critically damped.
    """

    model: Compass = field(default_factory=Compass)
    half: float = 0.15
    end_slope: float = 1.0
    middle: float = -0.8
    stiffness: float = 900.0
    name: ClassVar[str] = "zero dynamics"
    idea: ClassVar[str] = "a virtual constraint ties the swing leg to the stance leg"
    pace: ClassVar[int] = 1

    @property
    def weight(self) -> float:
        """[N]."""
        return self.model.weight

    @cached_property
    def coefficients(self) -> Array:
        """(5,) of the constraint; the first two make it invariant under heel strike."""
        ends, width = np.array([self.half, -self.half]), 2.0 * self.half
        _, after = self.model.strike(ends, np.array([1.0, self.end_slope]))
        first = self.half + after[1] / after[0] * width / 4.0
        return np.array([self.half, first, self.middle, -self.half - self.end_slope * width / 4.0, -self.half])

    def constraint(self, angle: float) -> tuple[float, float, float]:
        """h, h' and h'' at a stance angle [rad]."""
        s, width, a = (angle + self.half) / (2.0 * self.half), 2.0 * self.half, self.coefficients
        value = [_bezier(c, s) for c in (a, 4.0 * np.diff(a), 12.0 * np.diff(a, 2))]
        return value[0], value[1] / width, value[2] / width**2

    def torque(self, _: float, x: Array) -> float:
        """Input-output linearisation: ÿ = −2√k ẏ − k y for y = θ_n − h(θ_s) [N m]."""
        h, slope, curve = self.constraint(x[0])
        M, bias = self.model.mass_matrix(x[:2]), self.model.forces(x[:2], x[2:])
        pull, free = np.linalg.solve(M, np.array([-1.0, 1.0])), np.linalg.solve(M, -bias)
        row = np.array([-slope, 1.0])
        y, rate = x[1] - h, x[3] - slope * x[2]
        wish = -self.stiffness * y - 2.0 * np.sqrt(self.stiffness) * rate
        return float((wish + curve * x[2] ** 2 - row @ free) / (row @ pull))

    @cached_property
    def loss(self) -> float:
        """δ: share of the momentum about the foot that heel strike leaves."""
        ends = np.array([self.half, -self.half])
        before = np.array([1.0, self.end_slope])
        angles, after = self.model.strike(ends, before)
        return float(self._momentum(angles, after) / self._momentum(ends, before))

    @cached_property
    def gain(self) -> float:
        """V: what gravity adds to ½ σ² over a step."""

        def rise(angle: float) -> float:
            h, slope, _ = self.constraint(angle)
            angles = np.array([angle, h])
            G = self.model.forces(angles, np.zeros(2))
            return -float(G.sum()) * self._momentum(angles, np.array([1.0, slope]))

        return float(quad(rise, -self.half, self.half)[0])

    @property
    def start(self) -> Array:
        """(3,) the fixed point of the closed stride map."""
        zeta = self.loss**2 * self.gain / (1.0 - self.loss**2)
        slope = self.constraint(-self.half)[1]
        rate = np.sqrt(2.0 * zeta) / self._momentum(np.array([-self.half, self.half]), np.array([1.0, slope]))
        return np.array([-self.half, rate, slope * rate])

    def _momentum(self, angles: Array, rates: Array) -> float:
        return float((self.model.mass_matrix(angles) @ rates).sum())

    def stride(self, section: Array) -> Stride:
        """One step from heel strike to heel strike."""
        return compass_stride(self.model, section, self.torque)


def _bezier(a: Array, s: float) -> float:
    n = len(a) - 1
    return float(sum(comb(n, k) * c * s**k * (1.0 - s) ** (n - k) for k, c in enumerate(a)))
