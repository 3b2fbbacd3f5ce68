"""Cross products of few rows, without the ceremony of numpy's."""

from __future__ import annotations

from surefoot.arrays import Array

__all__ = ["row_cross"]

_NEXT, _LAST = [1, 2, 0], [2, 0, 1]


def row_cross(a: Array, b: Array) -> Array:
    """Row by row a × b, (n, 3); several times faster than numpy's for few rows.

    Args:
        a: (n, 3).
        b: (n, 3).
    """
    return a[:, _NEXT] * b[:, _LAST] - a[:, _LAST] * b[:, _NEXT]
