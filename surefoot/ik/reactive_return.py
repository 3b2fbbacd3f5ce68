"""The way back to the plan: a deviation that ends in C² manner, without overshoot, in a given time or earlier.

With s = t/T, x₀ the deviation, V = v₀ T and A = a₀ T², the quintic that ends at rest in zero is

    x = (1-s)³ (c₀ + c₁ s + c₂ s²),  c₀ = x₀,  c₁ = V + 3 x₀,  c₂ = A/2 + 3 V + 6 x₀        [ik.return]

Its sign is that of the quadratic, whose Bernstein coefficients are x₀, (5 x₀ + V)/2 and 10 x₀ + 4 V + A/2. Its slope is
-(1-s)² m(s)/T with m of coefficients -V, -2 V - A/2 and 30 x₀ + 12 V + 3/2 A. Let x₀ > 0 (else turn the signs). If the
deviation is already on its way back (V ≤ 0), it falls all the way where none of the coefficients of m is negative. If
it still grows (V > 0), 10 x₀ + 4 V + A/2 ≥ 0 lets it turn once and never cross zero. For T → 0 both conditions hold, so
that a short enough return without overshoot always exists; the longest one up to the given time is taken. That a return
must be C² and free of overshoot: Buschmann 2014, section 5.4 (no construction is given there; this one is ours).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number
from surefoot.motion import Quintic

__all__ = ["Return", "return_duration"]


def return_duration(x: float, v: float, a: float, longest: float) -> float:
    """The longest T ≤ `longest` [s] in which a deviation returns without overshoot.

    Args:
        x: Deviation.
        v: Its rate.
        a: The rate of that.
        longest: Time that there is [s], > 0.
    """
    first = next((y for y in (x, v, a) if y != 0.0), 0.0)
    x, v, a = (float(np.sign(first)) * y for y in (x, v, a))
    T = longest
    if v < 0.0 < a:
        T = min(T, -4.0 * v / a)  # from -2 V - A/2 ≥ 0
    return min(T, _first_root(0.5 * a, 4.0 * v, 10.0 * x))


def _first_root(a: float, b: float, c: float) -> float:
    """The smallest positive root of a T² + b T + c, which is positive at small T; inf if there is none."""
    if c == 0.0:  # one root is at zero
        return -b / a if a < 0.0 < b else np.inf
    square = b * b - 4.0 * a * c
    if square < 0.0:
        return np.inf
    lead = -b + np.sqrt(square) if b < 0.0 else -b - np.sqrt(square)
    roots = [2.0 * c / lead if lead else np.inf, 0.5 * lead / a if a else np.inf]
    return min((root for root in roots if root > 0.0), default=np.inf)


class Return:
    """A deviation (n,) on its way to zero, each coordinate by a quintic of its own duration.

    Args:
        x: (n,) deviation.
        v: (n,) its rate.
        a: (n,) the rate of that.
        longest: Time that there is [s], > 0.
    """

    def __init__(self, x: ArrayLike, v: ArrayLike, a: ArrayLike, longest: float) -> None:
        longest = number(longest, "time of a return", positive=True)
        x = finite_array(x, (None,), "deviation")
        v, a = (finite_array(y, x.shape, f"{what} of a deviation") for y, what in ((v, "rate"), (a, "acceleration")))
        self.durations = np.array([return_duration(*state, longest) for state in zip(x, v, a, strict=True)])
        self._paths = [
            Quintic(x0, v0, a0, 0.0, 0.0, 0.0, T) for x0, v0, a0, T in zip(x, v, a, self.durations, strict=True)
        ]

    def sample(self, t: float) -> tuple[Array, Array, Array]:
        """Deviation (n,), its rate and the rate of that, t after the start [s]; zero from its duration on.

        Args:
            t: [s].
        """
        found = np.array([path.sample(t) for path in self._paths]).reshape(-1, 3) * (t < self.durations)[:, None]
        return found[:, 0], found[:, 1], found[:, 2]
