"""What acted between n samples, and means of it over m windows; values are (n, k), times (n,) [s]."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.feasibility.efforts import Windows
from surefoot.feasibility.series import Series

Hold = Literal["step before", "step after", "sample"]
HOLDS: tuple[Hold, ...] = get_args(Hold)
"""What a row of torques or wrenches stands for: the step that ended there, the one that begins there, or the sample."""

_SEEN = 0.0025  # [s]: impacts last some milliseconds


class Balanced(NamedTuple):
    """A balance.

    Args:
        series: Of residuals.
        hold: What rows of forces were taken to stand for.
    """

    series: Series
    hold: Hold


def between(values: Array, hold: Hold) -> Array:
    """(n − 1, ...): what acts between samples."""
    if hold == "step before":
        return values[1:]
    return values[:-1] if hold == "step after" else 0.5 * (values[1:] + values[:-1])


def means(rates: Array, time: Array, windows: Windows) -> Array:
    """(m, k): means over windows."""
    sums = np.vstack([np.zeros(rates.shape[1]), np.cumsum(rates * np.diff(time)[:, None], axis=0)])
    return np.asarray((sums[windows.last] - sums[windows.first]) / windows.length[:, None])


def roughness(values: Array, time: Array, windows: Windows) -> Array:
    """(m, k): how much means over windows may be off, if values between samples lie between those at the samples."""
    return means(0.5 * np.abs(np.diff(values, axis=0)), time, windows)


def unseen_impacts(wrenches: Array, time: Array, windows: Windows) -> NDArray[np.bool_]:
    """(m,): windows in which a contact closes or opens between samples so far apart that its impact is not seen."""
    loaded = np.any(wrenches, axis=2)
    switches = (loaded[1:] != loaded[:-1]).any(axis=1) & (np.diff(time) > _SEEN)
    return means(switches[:, None].astype(float), time, windows)[:, 0] > 0.0


def unseen_steps(failed: NDArray[np.bool_], windows: Windows) -> NDArray[np.bool_]:
    """(m, k): single long steps that fail between two that do not: forces came and went in them, unseen by the samples.

    Args:
        failed: (m, k) by window.
        windows: m of them; nothing is unseen if they hold several steps.
    """
    if (windows.last - windows.first > 1).any():
        return np.zeros(failed.shape, dtype=bool)
    none = np.zeros((1, failed.shape[1]), dtype=bool)
    around = np.vstack([none, failed, none])
    return np.asarray(failed & ~around[:-2] & ~around[2:])


def hold_of(residuals: Mapping[Hold, Array], limit: float) -> Hold:
    """What rows stand for, told by what explains the motion best; beyond the limit all residuals count the same.

    Args:
        residuals: (m, k) under each hold.
        limit: What passes.
    """
    sizes = {hold: np.minimum(np.abs(found), limit).sum() for hold, found in residuals.items()}
    return min(residuals, key=lambda hold: float(sizes[hold]))
