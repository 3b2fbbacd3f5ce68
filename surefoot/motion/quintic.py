"""`Quintic`: the polynomial of fifth degree between two ends whose position, velocity and acceleration are given."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number


class Quintic:
    """A polynomial between two ends.

        x(t) = a₀ + a₁ t + … + a₅ t⁵,  0 ≤ t ≤ T        [motion.quintic]   Nenchev & Konno 2019, Fig. 8.53

    Before and after it rests at its ends, so that ends with velocity zero are held.

    Args:
        x0: Position at 0: a number, or an array of any shape; this shape is called dims below.
        v0: Velocity at 0, a number or dims.
        a0: Acceleration at 0.
        xf: Position at T.
        vf: Velocity at T.
        af: Acceleration at T.
        T: Duration [s], > 0.
    """

    def __init__(
        self, x0: ArrayLike, v0: ArrayLike, a0: ArrayLike, xf: ArrayLike, vf: ArrayLike, af: ArrayLike, T: float
    ) -> None:
        self.duration = T = number(T, "duration of a quintic", positive=True)
        ends = np.broadcast_arrays(*(np.asarray(end, dtype=float) for end in (x0, v0, a0, xf, vf, af)))
        x0, v0, a0, xf, vf, af = ends
        way = xf - x0
        a3 = (20.0 * way - (8.0 * vf + 12.0 * v0) * T - (3.0 * a0 - af) * T**2) / (2.0 * T**3)
        a4 = (-30.0 * way + (14.0 * vf + 16.0 * v0) * T + (3.0 * a0 - 2.0 * af) * T**2) / (2.0 * T**4)
        a5 = (12.0 * way - 6.0 * (vf + v0) * T - (a0 - af) * T**2) / (2.0 * T**5)
        self.coefficients: Array = np.array([x0, v0, 0.5 * a0, a3, a4, a5])
        """(6, dims): a₀ to a₅."""

    @classmethod
    def at_rest(cls, x0: ArrayLike, xf: ArrayLike, T: float) -> Quintic:
        """From rest to rest, accelerations zero at both ends.

        Args:
            x0: Position at 0.
            xf: Position at T.
            T: Duration [s], > 0.
        """
        return cls(x0, 0.0, 0.0, xf, 0.0, 0.0, T)

    def sample(self, t: ArrayLike) -> tuple[Array, Array, Array]:
        """Position, velocity and acceleration at times, each (times, dims).

        Args:
            t: A time or an array of times [s].
        """
        time = np.asarray(t, dtype=float)
        time = time.reshape(time.shape + (1,) * (self.coefficients.ndim - 1))
        c, s = self.coefficients, np.clip(time, 0.0, self.duration)
        moving = s == time
        x = c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * c[5]))))
        v = moving * (c[1] + s * (2.0 * c[2] + s * (3.0 * c[3] + s * (4.0 * c[4] + s * (5.0 * c[5])))))
        a = moving * (2.0 * c[2] + s * (6.0 * c[3] + s * (12.0 * c[4] + s * (20.0 * c[5]))))
        return x, v, a
