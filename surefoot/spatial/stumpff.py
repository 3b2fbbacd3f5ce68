"""Stumpff functions: the coefficients of all exponentials and Jacobians of rotations, smooth at zero.

    c_n(x) = 1/n! - x/(n+2)! + x²/(n+4)! - …        [spatial.stumpff]   Stumpff 1959

With x = θ²: c_0 = cos θ, c_1 = sin θ / θ, c_2 = (1 - cos θ) / θ², c_3 = (θ - sin θ) / θ³, and in general
c_{n+2} = (1/n! - c_n) / x. The series serves θ < 1, the recurrence the rest; both are finite everywhere, so the text
traces.
"""

from __future__ import annotations

import math
from typing import Any

from surefoot import ops

__all__ = ["stumpff"]

_SWITCH = 1.0
_TERMS = 10


def stumpff(order: int, x: Any) -> Any:
    """c_order(x), to a few units in the last place.

    Args:
        order: 0 to 5.
        x: The squared angle θ² ≥ 0, rad².
    """
    x = x if ops.is_symbolic(x) else float(x)
    small = ops.less(x, _SWITCH)
    near = _series(order, ops.where(small, x, 0.0))
    far = _closed(order, ops.where(small, _SWITCH, x))
    return ops.where(small, near, far)


def _series(order: int, x: Any) -> Any:
    total: Any = 0.0
    for k in reversed(range(_TERMS)):
        total = 1.0 / math.factorial(2 * k + order) - x * total
    return total


def _closed(order: int, x: Any) -> Any:
    if order == 0:
        return ops.cos(ops.sqrt(x))
    if order == 1:
        return ops.sin(ops.sqrt(x)) / ops.sqrt(x)
    return (1.0 / math.factorial(order - 2) - _closed(order - 2, x)) / x
