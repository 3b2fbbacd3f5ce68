"""How far the joints move between two samples of a motion, at most.

Between samples a motion with velocities is a cubic Bézier curve (`motion.interpolation`), which is no longer than its
control polygon and no faster than three times its longest side; without velocities it is straight.
"""

from __future__ import annotations

import numpy as np

from surefoot.arrays import Array
from surefoot.collision.volumes import joint_travel
from surefoot.feasibility.case import Case

__all__ = ["PathTravel"]


class PathTravel:
    """Ways of the joints along a motion.

    Args:
        case: The motion.
    """

    def __init__(self, case: Case) -> None:
        sides = _sides(case)
        ways = [joint_travel(case.robot, side) for side in sides]
        linear, angular = (np.stack([way[k] for way in ways]) for k in (0, 1))
        self._fastest = [len(sides) * part.max(axis=0) for part in (linear, angular)]
        start = np.zeros((1, linear.shape[2]))
        self._total = [np.vstack([start, np.cumsum(part.sum(axis=0), axis=0)]) for part in (linear, angular)]

    def between(self, first: Array, last: Array) -> tuple[Array, Array]:
        """Ways (m, bodies) along [m] and about [rad] each joint, from sample coordinates first to last.

        Args:
            first: (m,) sample number, with a fraction for what is between two samples.
            last: (m,) not before `first`; a piece with a fraction lies between two neighbouring samples.
        """
        whole = (first % 1.0 == 0.0) & (last % 1.0 == 0.0)
        i, j = first.astype(int), np.ceil(last).astype(int)
        share = np.where(whole, 1.0, last - first)[:, None]
        inside = np.minimum(i, len(self._fastest[0]) - 1)
        linear, angular = (
            np.where(whole[:, None], total[j] - total[i], np.minimum(fast[inside] * share, total[j] - total[i]))
            for total, fast in zip(self._total, self._fastest, strict=True)
        )
        return linear, angular


def _sides(case: Case) -> list[Array]:
    """Sides of the control polygons, each (n − 1, nv)."""
    if case.trajectory.v is None:
        return [case.steps]
    third = np.diff(case.time)[:, None] / 3.0
    first, last = case.v[:-1] * third, case.v[1:] * third
    return [first, case.steps - first - last, last]
