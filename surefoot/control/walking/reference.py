"""References of a walk in closed loop, by name: the ZMP and the DCM over the pieces of a plan.

`dcm` is the bounded motion over the pieces, which needs no state. The others begin anew from the measured state in each
phase of the walk, and when a step is adapted.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError, one_of
from surefoot.reduced import METHODS, ZmpPiece, walking_reference

REFERENCES = ("dcm", "preview", "cps", "cpt")
"""Methods of `surefoot.reduced.walking_reference` that walk in closed loop."""
_TAIL = 1.5  # how long a path goes on at its end, so that all comes to rest [s]
_DT = 0.01  # between samples [s]
_GRAVITY = 9.81  # of the pendulum with the ω that is given; only their ratio counts


class WalkReference(Protocol):
    """What a walk follows."""

    def at(self, t: float) -> tuple[Array, Array]:
        """ZMP and DCM (2,) at a time.

        Args:
            t: [s] since the beginning of the path.
        """
        ...


class SampledReference:
    """The motion of the pendulum from a state on, by one of `REFERENCES`.

    Args:
        method: Its name.
        pieces: The path of the ZMP.
        omega: √(g/h) [1/s].
        state: (2,) centre of mass and (2,) its rate, in the axes of the path.
        since: When they are so, since the beginning of the path [s].
        sole: Box (2, 2) of a sole around the ZMP on it [m].
    """

    def __init__(
        self,
        method: str,
        pieces: Sequence[ZmpPiece],
        omega: float,
        state: tuple[Array, Array],
        since: float,
        sole: Array,
    ) -> None:
        end = np.asarray(pieces[-1].end)
        path = [*_from(pieces, since), ZmpPiece(_TAIL, end, end)]
        com, rate = state
        height = _GRAVITY / omega**2
        found = walking_reference(method, path, height, _GRAVITY, dt=_DT, foot=sole, com=com, velocity=rate)
        self._t, self._rows = since + found.t, np.hstack([found.zmp, found.dcm]).T

    def at(self, t: float) -> tuple[Array, Array]:
        """ZMP and DCM (2,) at a time; before the first and after the last sample, these.

        Args:
            t: [s] since the beginning of the path.
        """
        x = [float(np.interp(t, self._t, row)) for row in self._rows]
        return np.array(x[:2]), np.array(x[2:])


def require_reference(method: str) -> str:
    """The name of a reference that walks.

    Args:
        method: The name.

    Raises:
        NotSupportedError: The method is for plans only.
        UnknownNameError: There is no such method.
    """
    if method in REFERENCES:
        return method
    if method in METHODS:
        raise NotSupportedError(
            f"the reference `{method}` moves feet by itself, as the step adaptation of this controller does already",
            next_step=f"choose one of {', '.join(REFERENCES)}",
        )
    raise one_of("walking reference", method, REFERENCES)


def _from(pieces: Sequence[ZmpPiece], since: float) -> list[ZmpPiece]:
    """What is left of a path from a time on."""
    left: list[ZmpPiece] = []
    for piece in pieces:
        if since < piece.duration:
            start, end = np.asarray(piece.start), np.asarray(piece.end)
            now = start + (since / piece.duration) * (end - start) if since > 0.0 else start
            left.append(ZmpPiece(piece.duration - max(since, 0.0), now, end))
        since -= piece.duration
    return left
