"""Where the ground pushes: zero-moment points and the polygon in which they must lie."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from surefoot.geometry import convex_hulls

__all__ = ["support_polygon", "zero_moment_point"]

Array = NDArray[np.float64]
_UP = (0.0, 0.0, 1.0)
_HORIZONTAL = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))


def zero_moment_point(
    wrench: ArrayLike,
    about: ArrayLike = (0.0, 0.0, 0.0),
    point: ArrayLike = (0.0, 0.0, 0.0),
    normal: ArrayLike = _UP,
    least_load: float = 0.0,
) -> Array:
    """The point of a plane about which a wrench has no moment in the plane.

        p = r + n × m_r / (n · f),  m_r the moment about a point r of the plane        [contact.zmp]

    Vukobratović & Borovac 2004; in this form Sardain & Bessonnet 2004, (7). For the wrench of one contact in its own
    frame it is the centre of pressure.

    Args:
        wrench: (..., 6) on the robot, linear first.
        about: (..., 3) the point that its moment refers to [m].
        point: (..., 3) r, a point of the plane [m].
        normal: (..., 3) n, of unit length.
        least_load: Below this normal force [N], and at 0, there is no such point.

    Returns:
        (..., 3) [m], NaN where there is none.
    """
    w, r, n = (np.asarray(x, dtype=float) for x in (wrench, point, normal))
    force = w[..., :3]
    moment = w[..., 3:] + np.cross(np.asarray(about, dtype=float) - r, force)
    load = (force * n).sum(axis=-1)
    load = np.where((load > 0.0) & (load >= least_load), load, np.nan)
    return np.asarray(r + np.cross(n, moment) / load[..., None])


def support_polygon(corners: ArrayLike, active: ArrayLike | None = None, axes: ArrayLike = _HORIZONTAL) -> Array:
    """(n, c, 2): hulls of the corners that touch, in a plane, for every sample; see `geometry.convex_hulls`.

    `geometry.distance_inside(p @ axes.T, polygons)` says how far points p (n, 3) are inside.

    Args:
        corners: (n, k, 3) corners of all contact surfaces, in world [m].
        active: (n, k) which of them touch; all if left out.
        axes: (2, 3) directions of the plane, right-handed with its normal; x and y of the world if left out.
    """
    return convex_hulls(np.asarray(corners, dtype=float) @ np.asarray(axes, dtype=float).T, active)
