"""Curves in ℝᵐ: cubic splines through points, polylines with rounded corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, increasing_times, number
from surefoot.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Curve:
    """A piecewise cubic curve x(s), smooth within its pieces.

    Args:
        breaks: (k + 1,) values of s where pieces begin and end, increasing.
        coefficients: (k, 4, m): x = c₀ + c₁ h + c₂ h² + c₃ h³ with h from the beginning of the piece.
    """

    breaks: Array
    coefficients: Array

    def __post_init__(self) -> None:
        object.__setattr__(self, "breaks", increasing_times(self.breaks, "breaks of the curve"))
        wanted = (len(self.breaks) - 1, 4, None)
        object.__setattr__(self, "coefficients", finite_array(self.coefficients, wanted, "coefficients of the curve"))

    def at(self, s: ArrayLike, before: bool = False) -> tuple[Array, Array, Array]:
        """x, dx/ds and d²x/ds², each (n, m).

        Args:
            s: (n,) within the breaks.
            before: At a break, whether the piece before it counts, or the one after it.
        """
        at = np.asarray(s, dtype=float)
        k = np.searchsorted(self.breaks, at, side="left" if before else "right") - 1
        k = np.clip(k, 0, len(self.breaks) - 2)
        h = (at - self.breaks[k])[:, None]
        c0, c1, c2, c3 = np.moveaxis(self.coefficients[k], 1, 0)
        x = c0 + h * (c1 + h * (c2 + h * c3))
        return x, c1 + h * (2.0 * c2 + 3.0 * h * c3), 2.0 * c2 + 6.0 * h * c3


def spline_curve(points: ArrayLike, weights: ArrayLike = 1.0) -> Curve:
    """The natural cubic spline through points, with continuous second derivative; s is the weighted chord length.

    Args:
        points: (k, m), k ≥ 2; neighbours differ.
        weights: (m,) or a number: lengths are √Σ (w Δx)².
    """
    from scipy.interpolate import CubicSpline  # slow to import

    x, breaks = _chords(points, weights)
    if len(x) == 2:
        return _line(x, breaks)
    coefficients = CubicSpline(breaks, x, bc_type="natural").c  # highest power first
    return Curve(breaks, np.moveaxis(coefficients[::-1], 0, 1))


def rounded_curve(points: ArrayLike, deviation: float, weights: ArrayLike = 1.0) -> Curve:
    """Straight lines through points; corners are replaced by parabolas, so that the first derivative is continuous.

    Each parabola touches both lines at the same weighted distance from the corner, which is at most half of each line.

    Args:
        points: (k, m), k ≥ 2; neighbours differ.
        deviation: Largest weighted distance of the curve from a corner, > 0.
        weights: (m,) or a number: lengths are √Σ (w Δx)².
    """
    deviation = number(deviation, "deviation of rounded corners", positive=True)
    x, breaks = _chords(points, weights)
    if len(x) == 2:
        return _line(x, breaks)
    w, lengths = np.asarray(weights, dtype=float), np.diff(breaks)
    e = np.diff(x, axis=0) / lengths[:, None]
    turn = np.linalg.norm(w * np.diff(e, axis=0), axis=1)
    room = 0.5 * np.minimum(lengths[:-1], lengths[1:])
    d = np.minimum(4.0 * deviation / np.maximum(turn, 1e-300), room)  # the middle is d |e₂ − e₁| / 4 from the corner
    left, right = np.r_[0.0, d], np.r_[d, 0.0]  # what corners take of each line
    pieces: list[tuple[float, Array]] = []
    zero = np.zeros(x.shape[1])
    for k, length in enumerate(lengths):
        straight = length - left[k] - right[k]
        if straight > 1e-12 * length:
            pieces.append((straight, np.array([x[k] + left[k] * e[k], e[k], zero, zero])))
        if k < len(d):
            bend = (e[k + 1] - e[k]) / (4.0 * d[k])
            pieces.append((2.0 * d[k], np.array([x[k + 1] - d[k] * e[k], e[k], bend, zero])))
    return Curve(np.cumsum([0.0, *(size for size, _ in pieces)]), np.array([c for _, c in pieces]))


def _chords(points: ArrayLike, weights: ArrayLike) -> tuple[Array, Array]:
    """Points (k, m) and their places (k,) along the polyline."""
    x = finite_array(points, (None, None), "points of the curve")
    if len(x) < 2:
        raise ShapeError(f"a curve needs two points or more, got {len(x)}")
    lengths = np.linalg.norm(np.asarray(weights, dtype=float) * np.diff(x, axis=0), axis=1)
    if not lengths.all():
        k = int(np.flatnonzero(lengths == 0.0)[0])
        raise ShapeError(f"points {k} and {k + 1} of the curve are equal", next_step="omit one of them")
    return x, np.r_[0.0, np.cumsum(lengths)]


def _line(x: Array, breaks: Array) -> Curve:
    slope = (x[1] - x[0]) / (breaks[1] - breaks[0])
    return Curve(breaks, np.array([[x[0], slope, 0.0 * slope, 0.0 * slope]]))
