"""Stretches of time in which something holds: masks (n,) over n samples at times (n,) [s]."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array

Mask = NDArray[np.bool_]


def runs_of(mask: Mask) -> list[tuple[int, int]]:
    """(first, last + 1) of every stretch of true samples."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def held(begins: Mask, goes_on: Mask) -> Mask:
    """Hysteresis: the stretches of `goes_on` in which `begins` is true at some sample."""
    out = np.zeros(len(begins), dtype=bool)
    both = begins & goes_on
    for a, b in runs_of(goes_on):
        out[a:b] = both[a:b].any()
    return out


def lasting(mask: Mask, time: Array, least: float) -> Mask:
    """The stretches that last at least so long; a sample speaks for half a step to each side."""
    out = mask.copy()
    reach = _reach(time)
    for a, b in runs_of(mask):
        if reach[a:b].sum() < least * (1.0 - 1e-9):
            out[a:b] = False
    return out


def bridged(mask: Mask, may: Mask, time: Array, longest: float = np.inf, ends: bool = False) -> Mask:
    """Fill the gaps in which `may` is true throughout and that last at most so long.

    Args:
        mask: (n,).
        may: (n,).
        time: (n,) [s].
        longest: [s].
        ends: Whether what comes before the first and after the last stretch is a gap, too.
    """
    out = mask.copy()
    reach = _reach(time)
    n = len(mask)
    for a, b in runs_of(~mask):
        inner = (a > 0 and b < n) or (ends and (a > 0 or b < n))
        if inner and reach[a:b].sum() <= longest and may[a:b].all():
            out[a:b] = True
    return out


def _reach(time: Array) -> Array:
    """(n,) how long each sample speaks for [s]."""
    if len(time) < 2:
        return np.zeros(len(time))
    half = 0.5 * np.diff(time)
    ends = np.concatenate([half[:1], half, half[-1:]])
    return np.asarray(ends[1:] + ends[:-1])
