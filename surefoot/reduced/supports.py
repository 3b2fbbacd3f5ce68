"""Supports under a path of the ZMP: on which foot it rests, between which feet it moves, what it may reach there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import cast

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array
from surefoot.errors import ShapeError
from surefoot.reduced.dcm import ZmpPiece

_SAME = 1e-9
"""Distance below which two points of the path are one [m]."""


class Supports:
    """The points at which a path of the ZMP rests, in order, and where the ZMP is between them.

    A piece that rests is a single support (or standing); a piece that moves is a double support from one point to the
    next, in which both feet stand. Pieces that do not join are a switch without double support.

    Args:
        pieces: The path, (2,) each.
    """

    def __init__(self, pieces: Sequence[ZmpPiece]) -> None:
        if not len(pieces) or any(not piece.duration >= 0.0 for piece in pieces):
            raise ShapeError("a walk needs pieces of ZMP with durations from 0 on")
        path = cast("ArrayLike", [(piece.start, piece.end) for piece in pieces])
        ends = finite_array(path, (None, 2, 2), "the path of the ZMP")
        moved = np.abs(np.diff(ends.reshape(-1, 2), axis=0, prepend=ends[:1, 0])).max(1) > _SAME
        numbers = np.cumsum(moved)
        self.points = ends.reshape(-1, 2)[np.searchsorted(numbers, np.arange(numbers[-1] + 1))]
        """(m, 2) [m]."""
        self.starts = np.cumsum([0.0, *(piece.duration for piece in pieces)])
        """(pieces + 1,) times at which pieces begin, and the end [s]."""
        self._spans = numbers.reshape(-1, 2)

    @property
    def duration(self) -> float:
        """Of the path [s]."""
        return float(self.starts[-1])

    def at(self, t: ArrayLike) -> Array:
        """Number of the point below the ZMP at times (n,); between two points in a double support.

        Args:
            t: [s] since the beginning of the path.
        """
        time = np.clip(np.asarray(t, dtype=float), 0.0, self.duration)
        k = np.minimum(np.searchsorted(self.starts, time, side="right") - 1, len(self._spans) - 1)
        first, last = self._spans[k].T
        length = self.starts[k + 1] - self.starts[k]
        share = np.divide(time - self.starts[k], length, out=np.ones_like(time), where=length > 0.0)
        return np.asarray(first + (last - first) * share)

    def feet(self, t: float) -> tuple[int, int]:
        """Numbers of the points that carry at a time; the same one twice in a single support.

        All points up to the second one are settled: in a double support, the foot to which the ZMP moves has landed.

        Args:
            t: [s] since the beginning of the path.
        """
        k = min(int(np.searchsorted(self.starts, t, side="right")) - 1, len(self._spans) - 1)
        first, last = self._spans[max(k, 0)]
        return int(first), int(last)

    def step_ends(self) -> Array:
        """(m,) times at which the ZMP leaves each point [s]."""
        ends = np.zeros(len(self.points))
        for k, (_, last) in enumerate(self._spans):
            stays = self._spans[k, 0] == last
            ends[last] = self.starts[k + 1] if stays or ends[last] == 0.0 else ends[last]
        return np.maximum.accumulate(ends)

    def path(self, t: ArrayLike) -> Array:
        """The ZMP (n, 2) of the path itself.

        Args:
            t: (n,) [s].
        """
        place = self.at(t)
        low = np.minimum(place.astype(int), len(self.points) - 1)
        high = np.minimum(low + 1, len(self.points) - 1)
        share = (place - low)[:, None]
        return np.asarray((1.0 - share) * self.points[low] + share * self.points[high])


def clip_along(zmp: ArrayLike, aim: ArrayLike, first: ArrayLike, last: ArrayLike, foot: ArrayLike) -> Array:
    """The ZMP nearest to the one wanted on the line through it and an aim, within one foot or between two feet.

    If the line misses the support, it is tilted about the aim to touch it (Nenchev & Konno 2019, section 7.2.2). The
    support is what a box sweeps from one foot to the other: bounds along x, y and across the way.

    Args:
        zmp: (2,) wanted [m].
        aim: (2,) another point of the line.
        first: (2,) one foot.
        last: (2,) the other foot; the same for a single support.
        foot: Box (2, 2) of the sole around these points.
    """
    (px, py), (ax, ay), (fx, fy), (gx, gy), ((x0, y0), (x1, y1)) = (
        np.asarray(x, dtype=float).tolist() for x in (zmp, aim, first, last, foot)
    )
    nx, ny = fy - gy, gx - fx
    across = (nx * x0, nx * x1), (ny * y0, ny * y1)
    base = nx * fx + ny * fy
    sides = (
        (1.0, 0.0, min(fx, gx) + x0, max(fx, gx) + x1),
        (0.0, 1.0, min(fy, gy) + y0, max(fy, gy) + y1),
        (nx, ny, base + min(across[0]) + min(across[1]), base + max(across[0]) + max(across[1])),
    )
    low, high, dx, dy = -np.inf, np.inf, px - ax, py - ay  # share of the way from the aim to the ZMP wanted
    for normal_x, normal_y, least, most in sides:
        rate, at = normal_x * dx + normal_y * dy, normal_x * ax + normal_y * ay
        if abs(rate) < 1e-15:
            low, high = (low, high) if least - 1e-12 <= at <= most + 1e-12 else (np.inf, -np.inf)
        else:
            ends = (least - at) / rate, (most - at) / rate
            low, high = max(low, min(ends)), min(high, max(ends))
    if low <= high:
        share = min(max(1.0, low), high)
        return np.array([ax + share * dx, ay + share * dy])
    corners = [(x + u, y + v) for x, y in ((fx, fy), (gx, gy)) for u in (x0, x1) for v in (y0, y1)]
    if dx == dy == 0.0:
        return np.array(min(corners, key=lambda c: (c[0] - px) ** 2 + (c[1] - py) ** 2))
    return np.array(min(corners, key=lambda c: abs((c[0] - ax) * dy - (c[1] - ay) * dx)))
