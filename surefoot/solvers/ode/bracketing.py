"""A zero of a function between two points where its signs differ."""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["bracketed_zero"]

_PATIENCE = 20
"""Steps of false position before halving; functions that are nearly straight need about six."""


def bracketed_zero(function: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """A point within `tolerance` of a change of sign: false position, Illinois variant (Dowell & Jarratt 1971).

    Args:
        function: g(s), with signs that differ at the ends; it may jump. Where rounding at an end made the signs equal,
            the end nearer to zero is given back.
        low: Lower end.
        high: Upper end.
        tolerance: Width of the bracket at which to stop; not smaller than the rounding of the ends.
    """
    g_low, g_high = function(low), function(high)
    if (g_low > 0.0) == (g_high > 0.0) or g_low == 0.0 or g_high == 0.0:
        return low if abs(g_low) < abs(g_high) else high
    tolerance = max(tolerance, 4.0 * math.ulp(max(abs(low), abs(high))))
    last_side = count = 0
    while high - low > tolerance:
        s = high - g_high * (high - low) / (g_high - g_low) if count < _PATIENCE else 0.5 * (low + high)
        s = min(max(s, low + 0.5 * tolerance), high - 0.5 * tolerance)  # so that the far end comes near, too
        g = function(s)
        if g == 0.0:
            return s
        side = 1 if (g > 0.0) == (g_high > 0.0) else -1
        if side == 1:
            high, g_high, g_low = s, g, (0.5 * g_low if last_side == 1 else g_low)
        else:
            low, g_low, g_high = s, g, (0.5 * g_high if last_side == -1 else g_high)
        last_side, count = side, count + 1
    return low if abs(g_low) < abs(g_high) else high
