"""`Quintic`: the polynomial of fifth degree between two ends whose position, velocity and acceleration are given.

Between the samples of a motion, on the manifold of configurations.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number

__all__ = ["Place", "Quintic", "bracket", "configuration_between", "linear", "linear_at", "place_of"]


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


Place = tuple[int, int, float]
"""Rows before and after a time, and its share s of the way between them, 0…1."""


def bracket(time: Array, t: Array) -> tuple[np.ndarray, Array]:
    """Segment index k and share s with t = time[k] + s (time[k+1] − time[k]), s in 0…1.

    Args:
        time: (n,) increasing [s].
        t: (m,) inside of it [s].
    """
    if len(time) == 1:
        return np.zeros(len(t), dtype=int), np.zeros(len(t))
    k = np.clip(np.searchsorted(time, t, side="right") - 1, 0, len(time) - 2)
    return k, (t - time[k]) / (time[k + 1] - time[k])


def linear(values: Array, k: np.ndarray, s: Array) -> Array:
    """Rows between rows: (1 − s) values[k] + s values[k + 1]; exact at s = 0 and s = 1."""
    if len(values) == 1:
        return values[k]
    share = s.reshape(-1, *([1] * (values.ndim - 1)))
    return np.where(share == 1.0, values[k + 1], (1.0 - share) * values[k] + share * values[k + 1])


def place_of(time: Array, t: float) -> Place:
    """Where one time lies among the samples, as `bracket` has it for many.

    Args:
        time: (n,) increasing [s].
        t: Inside of it [s].
    """
    if len(time) == 1:
        return 0, 0, 0.0
    k = min(max(int(time.searchsorted(t, side="right")) - 1, 0), len(time) - 2)
    return k, k + 1, float((t - time[k]) / (time[k + 1] - time[k]))


def linear_at(values: Array, place: Place) -> Array:
    """One row between rows, read-only; exact at the samples."""
    before, after, s = place
    if s in (0.0, 1.0):
        return values[before if s == 0.0 else after]
    out: Array = (1.0 - s) * values[before] + s * values[after]
    out.setflags(write=False)
    return out


def configuration_between(
    model: pin.Model, q: tuple[Array, Array], v: tuple[Array, Array] | None, duration: float, s: float
) -> Array:
    """The configuration (nq,) at share s of a segment; its ends are met exactly.

    Without velocities the geodesic q₀ ⊕ s (q₁ ⊖ q₀). With them the cubic Bézier curve on the Lie group with the control
    points q₀, q₀ ⊕ v₀ h/3, q₁ ⊕ (−v₁ h/3), q₁, which has the velocities v₀ and v₁ at its ends:

        q(s) = q₀ ⊕ B₁(s) d₁ ⊕ B₂(s) d₂ ⊕ B₃(s) d₃,  B_i = Σ_{j ≥ i} C(3, j) (1 − s)^(3−j) s^j     [motion.hermite]
        Kim, Kim & Shin 1995, cumulative basis (d_i: steps between the control points)

    Args:
        model: The robot's model, or any with the same joints (`manifold.manifold`).
        q: q₀ and q₁, (nq,).
        v: v₀ and v₁, (nv,), or None.
        duration: h [s].
        s: 0…1.
    """
    start, end = np.array(q[0]), np.array(q[1])
    if s in (0.0, 1.0):
        return start if s == 0.0 else end
    if v is None:
        return np.array(pin.interpolate(model, start, end, s))
    first, last = v[0] * (duration / 3.0), v[1] * (duration / 3.0)
    middle = pin.difference(model, pin.integrate(model, start, first), pin.integrate(model, end, -last))
    rest = 1.0 - s
    weights = (1.0 - rest**3, s * s * (3.0 - 2.0 * s), s**3)
    for step, weight in zip((first, middle, last), weights, strict=True):
        start = pin.integrate(model, start, weight * step)
    return np.array(start)
