"""The divergent component of motion (DCM) over a path of the zero-moment point (ZMP).

    ξ = c + ċ/ω,   ξ̇ = ω (ξ − p),   ċ = ω (ξ − c),   ω² = g/h        [reduced.dcm]

c is the centre of mass, h its height, p the ZMP (Takenaka, Matsumoto and Yoshiike 2009; Englsberger, Ott and
Albu-Schäffer 2015). Where p moves with constant rate s, the only bounded solution that ends in ξ(T) is

    ξ(t) = p(t) + s/ω + (ξ(T) − p(T) − s/ω) e^{−ω (T − t)}           [reduced.dcm-piece]

so that a path of straight pieces, continuous double supports among them, is solved backwards piece by piece.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from math import exp
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, number
from surefoot.errors import ShapeError


class ZmpPiece(NamedTuple):
    """A straight piece of the path of the ZMP, passed with constant speed.

    Args:
        duration: [s], ≥ 0.
        start: (2,) or (3,) [m].
        end: The same at the end.
    """

    duration: float
    start: ArrayLike
    end: ArrayLike


class DcmPlan:
    """The bounded motion of the DCM over a path of the ZMP; before the path and after it, its ends are held.

    Args:
        pieces: The path.
        omega: ω [1/s].
        final: DCM at the end; the end of the path if omitted.
    """

    def __init__(self, pieces: Sequence[ZmpPiece], omega: float, final: ArrayLike | None = None) -> None:
        if not len(pieces) or any(not piece.duration >= 0.0 for piece in pieces):
            raise ShapeError("a plan of the DCM needs pieces with durations from 0 on")
        self.omega = number(omega, "omega", positive=True)
        self.starts = np.cumsum([0.0, *(piece.duration for piece in pieces)])
        """(pieces + 1,) times at which pieces begin, and the end [s]."""
        begins = np.array([piece.start for piece in pieces], dtype=float)
        ends = np.array([piece.end for piece in pieces], dtype=float)
        lengths = np.diff(self.starts)[:, None]
        rates = np.divide(ends - begins, lengths, out=np.zeros_like(ends), where=lengths > 0.0)
        self._times: list[float] = self.starts.tolist()  # lists are quicker than small arrays
        self._to, self._rate = ends.tolist(), rates.tolist()
        self._begin = begins[0].tolist()
        self._ends = list(self._to)  # DCM at the end of each piece
        dcm = ends[-1].tolist() if final is None else np.asarray(final, dtype=float).tolist()
        for k in range(len(pieces) - 1, -1, -1):
            self._ends[k] = dcm
            dcm = self._dcm(k, float(lengths[k, 0]))

    @property
    def duration(self) -> float:
        """Of the path [s]."""
        return float(self.starts[-1])

    def at(self, t: float) -> tuple[Array, Array]:
        """ZMP and DCM at a time.

        Args:
            t: [s] since the beginning of the path.
        """
        k = bisect_right(self._times, t) - 1
        if k < 0:
            return np.array(self._begin), np.array(self._dcm(0, self._times[1]))
        if k >= len(self._to):
            return np.array(self._to[-1]), np.array(self._ends[-1])
        remaining = self._times[k + 1] - t
        zmp = [to - remaining * rate for to, rate in zip(self._to[k], self._rate[k], strict=True)]
        return np.array(zmp), np.array(self._dcm(k, remaining))

    def _dcm(self, k: int, remaining: float) -> list[float]:
        """DCM in piece k at a time before its end."""
        fades, omega = exp(-self.omega * remaining), self.omega
        return [
            to - remaining * rate + rate / omega + fades * (end - to - rate / omega)
            for to, rate, end in zip(self._to[k], self._rate[k], self._ends[k], strict=True)
        ]
