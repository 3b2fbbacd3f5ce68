"""Between the samples of a motion, on the manifold of configurations."""

from __future__ import annotations

import numpy as np
import pinocchio as pin

from surefoot.arrays import Array

__all__ = ["Place", "bracket", "configuration_between", "linear", "linear_at", "place_of"]

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
