"""`Series`: a quantity over time with its limits, as each check returns it; and spikes in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from surefoot.arrays import Array
from surefoot.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Series:
    """Values of one item over time, one column for each part (joint, contact, pair of links).

    A part fails where its value lies below `lower − slack` or above `upper + slack`; the margin is the distance to
    the nearer of `lower` and `upper`, negative outside.

    Args:
        item: Name in `items.ITEMS`.
        unit: Of values and limits.
        time: (m,) [s].
        parts: Names of the parts.
        value: (m, parts), NaN where there is nothing to judge.
        lower: Broadcasts to (m, parts); −inf for none.
        upper: Broadcasts to (m, parts); +inf for none.
        slack: Broadcasts to (m, parts): what passes beyond the limit.
        scale: What one unit of violation is measured by, to rank findings: a typical large value, > 0.
        bodies: For each part the indices of the bodies of the tree that it concerns; None for the whole robot.
        width: How far to each side a value speaks for [s], where it was judged between samples.
        note: How it was computed, or why it was skipped.
        texts: A sentence for each part, with {value}, {limit}, {excess} and {time}; "" for the general one.
        next_step: What to do if it fails.
        spike_step: What to do if only a few samples differ from their neighbours, with {where} and {time}; "" for the
            same.
        units: Of each part, where they differ; () for `unit`.
        bound_from: Values from here on are lower bounds and were not measured.
    """

    item: str
    unit: str
    time: Array
    parts: tuple[str, ...]
    value: Array
    lower: Array | float = -np.inf
    upper: Array | float = np.inf
    slack: Array | float = 0.0
    scale: float = 1.0
    bodies: tuple[frozenset[int] | None, ...] | None = None
    width: float = 0.0
    note: str = ""
    texts: tuple[str, ...] = ()
    next_step: str = ""
    spike_step: str = ""
    units: tuple[str, ...] = ()
    bound_from: float = np.inf

    def __post_init__(self) -> None:
        shape = (len(self.time), len(self.parts))
        if self.value.shape != shape:
            raise ShapeError(f"values of `{self.item}` have shape {self.value.shape}, expected {shape}")
        for name in ("lower", "upper", "slack"):
            object.__setattr__(self, name, np.broadcast_to(np.asarray(getattr(self, name), dtype=float), shape))

    @property
    def margin(self) -> Array:
        """(m, parts): distance inside the nearer limit, negative outside; NaN where there is nothing to judge."""
        return np.minimum(self.value - self.lower, self.upper - self.value)

    @property
    def failed(self) -> np.ndarray:
        """(m, parts) bool: where a limit is broken by more than the slack."""
        with np.errstate(invalid="ignore"):
            return self.margin < -np.asarray(self.slack)

    def nearer_limit(self, k: int, part: int) -> float:
        """The limit that the value of a part is nearer to, or beyond."""
        lower, upper = float(np.asarray(self.lower)[k, part]), float(np.asarray(self.upper)[k, part])
        value = self.value[k, part]
        return lower if value - lower < upper - value else upper


def skipped(item: str, note: str) -> Series:
    """An item that was not judged."""
    return Series(item, "", np.zeros(0), (), np.zeros((0, 0)), note=note)


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
    """What to do about a spike of a quantity that came with the motion, with {where} and {time} to fill in."""
    return f"check the {quantity} of {{where}} in the file at {{time}}: it differs from the samples around it"
