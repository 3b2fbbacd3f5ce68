"""Extremes between samples, by the law by which a quantity runs there.

Positions with given velocities, and velocities with given accelerations, are cubic between samples (Hermite); torques
are what their control law says (`Trajectory.control`): with a rate that is piecewise linear they are parabolas, which
may leave their limits between two samples that keep them.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from surefoot.arrays import Array
from surefoot.feasibility.items import ITEMS
from surefoot.feasibility.series import Series


def between_samples(series: Series, time: Array, extremes: Array) -> Series:
    """The same item between samples.

    Args:
        series: At the samples, with limits that do not change over time.
        time: (n,) of the samples [s].
        extremes: (n − 1, parts), NaN where none is beyond both ends of a step.
    """
    middle = 0.5 * (time[1:] + time[:-1])
    lower, upper, slack = (np.asarray(bound)[:1] for bound in (series.lower, series.upper, series.slack))
    texts = tuple(
        f"{ITEMS[series.item].title} of {part}: {{value}} between samples, limit {{limit}}, near {{time}}"
        for part in series.parts
    )
    return replace(
        series, time=middle, value=extremes, lower=lower, upper=upper, slack=slack, texts=texts, spike_step="",
        width=0.5 * float(np.median(np.diff(time))),
        note="; ".join(text for text in (series.note, "also between samples") if text),
    )  # fmt: skip


def parabola_extremes(time: Array, value: Array, rate: Array) -> Array:
    """(n − 1, k): extremes inside steps of values (n, k) whose rates (n, k) are linear there; NaN for none.

    y(s) = y₀ + r₀ s + (r₁ − r₀) s² / (2 h),  extreme y₀ + r₀² h / (2 (r₀ − r₁)) where r₀ r₁ < 0      [audit.parabola]
    """
    h = np.diff(time)[:, None]
    first, last = rate[:-1], rate[1:]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(first * last < 0.0, value[:-1] + first**2 * h / (2.0 * (first - last)), np.nan)


def cubic_extremes(time: Array, value: Array, rate: Array) -> Array:
    """(n − 1, k): extremes beyond both ends of a step, of cubics with values (n, k) and rates (n, k); NaN for none."""
    h = np.diff(time)[:, None]
    y0, y1, m0, m1 = value[:-1], value[1:], h * rate[:-1], h * rate[1:]
    a, b = 2.0 * (y0 - y1) + m0 + m1, 3.0 * (y1 - y0) - 2.0 * m0 - m1  # y0 + m0 s + b s² + a s³
    with np.errstate(invalid="ignore", divide="ignore"):
        root = np.sqrt(b * b - 3.0 * a * m0)
        straight = np.where(np.abs(a) < 1e-12 * (np.abs(b) + np.abs(m0)), -m0 / (2.0 * b), np.nan)
        found = []
        for s in ((-b + root) / (3.0 * a), (-b - root) / (3.0 * a), straight):
            inside = (s > 0.0) & (s < 1.0)
            y = y0 + s * (m0 + s * (b + s * a))
            beyond = (y > np.maximum(y0, y1)) | (y < np.minimum(y0, y1))
            found.append(np.where(inside & beyond, y, np.nan))
    far = [np.nan_to_num(np.abs(y - 0.5 * (y0 + y1)), nan=-1.0) for y in found]
    return np.take_along_axis(np.stack(found), np.argmax(np.stack(far), axis=0)[None], axis=0)[0]
