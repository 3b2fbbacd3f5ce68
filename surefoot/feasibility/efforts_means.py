"""Means over short windows of time: samples of measured motions are too rough to be judged one by one."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.motion.checks import Array

__all__ = ["Windows", "moving_mean", "moving_windows", "spread"]

Indices = NDArray[np.int64]
_ROUNDING = 1e-9  # [s]


class Windows(NamedTuple):
    """Stretches of a motion, from sample to sample.

    Args:
        first: (m,) index of the first sample.
        last: (m,) index of the last one, after the first.
        time: (m,) middle [s].
        length: (m,) [s].
    """

    first: Indices
    last: Indices
    time: Array
    length: Array


def moving_windows(time: Array, length: float) -> Windows:
    """A window from every sample to the first one that is `length` later; one step where steps are longer.

    Args:
        time: (n,) increasing [s], n ≥ 2.
        length: [s].
    """
    last = np.searchsorted(time, time + length - _ROUNDING)
    last = np.maximum(last, np.arange(len(time)) + 1)
    first = np.flatnonzero(last < len(time))
    if not len(first):
        first, last = np.array([0]), np.full(len(time), len(time) - 1)
    last = last[first]
    return Windows(first, last, 0.5 * (time[first] + time[last]), time[last] - time[first])


def moving_mean(values: Array, time: Array, length: float) -> Array:
    """(n, k): means over the samples of a window around each; half of it at the ends.

    Args:
        values: (n, k).
        time: (n,) [s].
        length: Of the window [s].
    """
    first, end = _around(time, length)
    if (end - first == 1).all():
        return values
    sums = np.vstack([np.zeros(values.shape[1]), np.cumsum(values, axis=0)])
    return np.asarray((sums[end] - sums[first]) / (end - first)[:, None])


def spread(mask: NDArray[np.bool_], time: Array, length: float) -> NDArray[np.bool_]:
    """(n, k): whether a mask is true somewhere in a window around each sample.

    Args:
        mask: (n, k).
        time: (n,) [s].
        length: Of the window [s].
    """
    first, end = _around(time, length)
    sums = np.vstack([np.zeros(mask.shape[1], dtype=np.int64), np.cumsum(mask, axis=0)])
    return np.asarray(sums[end] > sums[first])


def _around(time: Array, length: float) -> tuple[Indices, Indices]:
    """First sample and last + 1 of the window around each sample."""
    half = 0.5 * length + _ROUNDING
    return np.searchsorted(time, time - half), np.searchsorted(time, time + half)
