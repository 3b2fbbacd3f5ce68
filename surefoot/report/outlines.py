"""Obstacles as outlines, seen from the side and from the front."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from surefoot.geometry import Plane, convex_hull, surface_points
from surefoot.motion import Obstacle

__all__ = ["outlines"]

Array = NDArray[np.float64]
_VIEWS = {"side": (0, 2), "front": (1, 2)}


def outlines(obstacles: Sequence[Obstacle]) -> dict[str, list[list[float]]]:
    """Corners of the shadow of each obstacle, (across, up) one after the other [m], by view; planes have none.

    Args:
        obstacles: What stands in the world.
    """
    found: dict[str, list[list[float]]] = {view: [] for view in _VIEWS}
    for obstacle in obstacles:
        if isinstance(obstacle.shape, Plane):
            continue
        points = surface_points(obstacle.shape) @ obstacle.pose[:3, :3].T + obstacle.pose[:3, 3]
        for view, axes in _VIEWS.items():
            corners = np.asarray(convex_hull(points[:, list(axes)]))
            found[view].append(np.round(corners, 3).ravel().tolist())
    return found
