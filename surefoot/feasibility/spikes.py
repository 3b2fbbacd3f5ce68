"""Few samples that stand out from their neighbours: an error of a sensor or a file, not something a robot does."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array

__all__ = ["LONGEST", "is_spike", "look_at_sample"]

LONGEST = 3
"""Samples of a spike, at most."""
_STANDS_OUT = 5.0  # times as far from the line between the neighbours as these are from theirs


def is_spike(values: Array, rows: NDArray[np.int64]) -> bool:
    """Whether some samples are few, in a row, and far from the line through their neighbours.

    The tip of a hill over a limit is none, however few samples it has: its neighbours rise towards it.

    Args:
        values: (n,) a quantity over time.
        rows: (k,) the samples, increasing.
    """
    first, last = int(rows[0]), int(rows[-1])
    if last - first >= LONGEST:
        return False
    before, after = values[max(first - 2, 0) : first], values[last + 1 : last + 3]
    ends = [*before[-1:], *after[:1]]
    if not ends or not np.isfinite(ends).all():
        return False
    line = np.linspace(ends[0], ends[-1], last - first + 3)[1:-1]
    steps = [float(np.abs(np.diff(side)).max(initial=0.0)) for side in (before, after)]
    steps += [abs(float(ends[-1] - ends[0]))]
    return bool(np.abs(values[first : last + 1] - line).max() > _STANDS_OUT * max(steps))


def look_at_sample(quantity: str) -> str:
    """What to do about a spike of a quantity that came with the motion, with {where} and {time} to fill in.

    Args:
        quantity: Such as "torque".
    """
    return f"look at the {quantity} of {{where}} in the file at {{time}}: it stands out from the samples around it"
