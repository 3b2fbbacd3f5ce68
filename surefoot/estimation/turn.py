"""Integrals of a constant turn and their derivatives: what an IMU sample adds up to over a step, exactly.

    Γ_m(φ) = Σ_n φ̃ⁿ / (n + m)! = I / m! + c_{m+1} φ̃ + c_{m+2} φ̃²        [estimation.gamma]   Hartley et al. 2020

with the Stumpff functions c_n of |φ|². Γ₀ is the rotation itself, Γ₁ its left Jacobian. For numbers and symbols.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import factorial
from typing import Any

import numpy as np

from surefoot.ops import Array
from surefoot.spatial.so3 import skew
from surefoot.spatial.stumpff import stumpff

__all__ = ["Turn"]


@dataclass(frozen=True, eq=False)
class Turn:
    """A turn by the rotation vector `vector` (3,) [rad], with its matrix φ̃, φ̃² and the Stumpff functions c_0 … c_6."""

    vector: Array
    tilde: Array
    square: Array
    c: list[Any]

    @classmethod
    def by(cls, vector: Array) -> Turn:
        """The turn by a rotation vector (3,) [rad]."""
        tilde = skew(vector)
        return cls(vector, tilde, tilde @ tilde, [stumpff(n, vector @ vector) for n in range(7)])

    def gamma(self, m: int) -> Array:
        """Γ_m (3, 3), m from 0 to 2."""
        return np.eye(3) / factorial(m) + self.c[m + 1] * self.tilde + self.c[m + 2] * self.square

    def derivative(self, m: int, a: Array) -> Array:
        """∂(Γ_m(φ) a)/∂φ (3, 3) for a fixed vector a (3,), m from 0 to 2.

        From dc_n/dx = (n c_{n+2} − c_{n+1}) / 2 and ∂(φ̃² a)/∂φ = (φ·a) I + φ aᵀ − 2 a φᵀ.
        """
        c, phi = self.c, self.vector
        slope = [n * c[n + 2] - c[n + 1] for n in (m + 1, m + 2)]  # ∂c/∂φ = slope φᵀ
        along = slope[0] * (self.tilde @ a) + slope[1] * (self.square @ a)
        of_square = (phi @ a) * np.eye(3) + np.outer(phi, a) - 2.0 * np.outer(a, phi)
        return c[m + 2] * of_square - c[m + 1] * skew(a) + np.outer(along, phi)
