"""Compact encoding of numbers for the page."""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

_MOST = 65534  # the largest step; 65535 stands for "nothing"


def packed(values: ArrayLike, kind: str) -> str:
    """Base64 of an array, little endian.

    Args:
        values: Any shape.
        kind: Such as "f4", "i2" or "u1".
    """
    return base64.b64encode(np.ascontiguousarray(values, dtype=f"<{kind}").tobytes()).decode("ascii")


def quantised(values: ArrayLike) -> dict[str, Any]:
    """A series in 65535 steps between its smallest and largest value; non-finite values become NaN.

    Args:
        values: (n,) or (n, k): each column has steps of its own.

    Returns:
        `data` (base64 of 16-bit numbers), `low` and `step`, so that value = low + step × number.
    """
    array = np.asarray(values, dtype=float)
    known = np.isfinite(array)
    low = np.where(known, array, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, array, -np.inf).max(axis=0, initial=-np.inf)
    low, high = np.where(np.isfinite(low), low, 0.0), np.where(np.isfinite(high), high, 0.0)
    step = (high - low) / _MOST
    counts = np.round((np.where(known, array, low) - low) / np.where(step > 0.0, step, 1.0))
    return {"data": packed(np.where(known, counts, _MOST + 1), "u2"), "low": low.tolist(), "step": step.tolist()}


def rounded(values: ArrayLike, digits: int = 5) -> list[Any]:
    """Nested lists of rounded numbers.

    Args:
        values: Finite numbers.
        digits: After the point.
    """
    found = np.round(np.asarray(values, dtype=float), digits) + 0.0
    return list(found.tolist())
