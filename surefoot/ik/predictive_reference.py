"""`StraightLine`: a frame led along a straight line, from rest to rest."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from surefoot.arrays import Array, finite_array, number, placement_matrix
from surefoot.motion import Quintic

__all__ = ["StraightLine"]


class StraightLine:
    """A reference for `LocalIk` and `PredictiveIk`: the orientation stays, the origin follows a quintic in time.

    Args:
        start: T_world_frame (4, 4) at the start.
        end: (3,) where the origin of the frame ends, in world [m].
        duration: [s].
        begin: When it begins [s].
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, duration: float, begin: float = 0.0) -> None:
        self.start = placement_matrix(start, "start of a line")
        self.end, self.begin = finite_array(end, (3,), "end of a line"), number(begin, "begin of a line")
        self._way = Quintic.at_rest(self.start[:3, 3], self.end, duration)

    def __call__(self, times: Array) -> tuple[Array, Array]:
        """Poses (N, 4, 4) and twists (N, 6) in world axes, linear first.

        Args:
            times: (N,) [s].
        """
        place, speed, _ = self._way.sample(np.asarray(times) - self.begin)
        poses = np.repeat(self.start[None], len(place), axis=0)
        poses[:, :3, 3] = place
        return poses, np.concatenate([speed, np.zeros_like(speed)], axis=1)
