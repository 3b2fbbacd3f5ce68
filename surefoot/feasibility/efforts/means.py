"""Means over short windows of time: samples of measured motions are too rough to be judged one by one.

Rates and ways are (n, k) over n samples, times (n,) [s].
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array

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
    """A window from every sample to the first one that is `length` later; one step where steps are longer."""
    last = np.searchsorted(time, time + length - _ROUNDING)
    last = np.maximum(last, np.arange(len(time)) + 1)
    first = np.flatnonzero(last < len(time))
    if not len(first):
        first, last = np.array([0]), np.full(len(time), len(time) - 1)
    last = last[first]
    return Windows(first, last, 0.5 * (time[first] + time[last]), time[last] - time[first])


def integral(rates: Array, time: Array) -> Array:
    """(n, k): integral from the first sample on, by trapezoids."""
    steps = 0.5 * (rates[1:] + rates[:-1]) * np.diff(time)[:, None]
    return np.vstack([np.zeros(rates.shape[1]), np.cumsum(steps, axis=0)])


def mean_rates(way: Array, time: Array, length: float) -> Array:
    """(n, k): mean rates of a way over `length` to both sides of each sample; over at least one step to each side."""
    k = np.arange(len(time))
    before = np.searchsorted(time, time - length + _ROUNDING, side="right") - 1
    after = np.searchsorted(time, time + length - _ROUNDING)
    i, j = np.maximum(np.minimum(before, k - 1), 0), np.minimum(np.maximum(after, k + 1), len(time) - 1)
    return np.asarray((way[j] - way[i]) / (time[j] - time[i])[:, None])


def second_rates(way: Array, time: Array, length: float) -> Array:
    """(n, k): second rates of a way: how much its mean rate after a sample differs from the one before it.

    Both means are over `length`, or one step where steps are longer: a weighted mean of the second derivative over
    twice that, most in the middle. Noise of the way counts by its amount over `length`², however dense the samples are.
    What is nearer to an end than `length` is held.
    """
    if len(time) < 3:
        return np.zeros((len(time), way.shape[1]))
    i, middle, j = _rate_windows(time, length)
    rates = [(way[b] - way[a]) / (time[b] - time[a])[:, None] for a, b in ((i, middle), (middle, j))]
    return np.asarray(2.0 * (rates[1] - rates[0]) / (time[j] - time[i])[:, None])


def spread(mask: NDArray[np.bool_], time: Array, length: float) -> NDArray[np.bool_]:
    """(n, k): whether a mask is true somewhere in the window of the second rate of each sample (`second_rates`)."""
    if len(time) < 3:
        return mask
    first, _, last = _rate_windows(time, length)
    sums = np.vstack([np.zeros(mask.shape[1], dtype=np.int64), np.cumsum(mask, axis=0)])
    return np.asarray(sums[last + 1] > sums[first])


def _rate_windows(time: Array, length: float) -> tuple[Indices, Indices, Indices]:
    """First, middle and last sample of the window of the second rate of each sample, n ≥ 3."""
    n = len(time)
    before = np.searchsorted(time, time - length + _ROUNDING, side="right") - 1
    after = np.searchsorted(time, time + length - _ROUNDING)
    whole = np.flatnonzero((before >= 0) & (after < n))
    first, last = (int(whole[0]), int(whole[-1])) if len(whole) else (n // 2, n // 2)
    middle = np.clip(np.arange(n), max(first, 1), min(last, n - 2))
    i = np.clip(np.minimum(before[middle], middle - 1), 0, None)
    j = np.clip(np.maximum(after[middle], middle + 1), None, n - 1)
    return i, middle, j
