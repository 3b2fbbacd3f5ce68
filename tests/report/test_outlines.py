"""Shadows of obstacles: their extent from the side and from the front."""

from __future__ import annotations

import numpy as np

from surefoot.geometry import Box, Plane, Sphere
from surefoot.motion import Obstacle
from surefoot.report.outlines import outlines


def test_a_turned_box_and_a_ball() -> None:
    pose = np.eye(4)
    pose[:3, 3] = [1.0, 2.0, 0.5]
    c = np.sqrt(0.5)
    pose[:3, :3] = [[c, 0.0, c], [0.0, 1.0, 0.0], [-c, 0.0, c]]  # an eighth of a turn about y
    found = outlines(
        [Obstacle("box", Box((0.2, 0.4, 0.2)), pose), Obstacle("floor", Plane()), Obstacle("ball", Sphere(0.3))]
    )
    assert [len(found[view]) for view in ("side", "front")] == [2, 2]
    side, front = (np.reshape(found[view][0], (-1, 2)) for view in ("side", "front"))
    np.testing.assert_allclose(np.ptp(side, axis=0), [0.2 / c, 0.2 / c], atol=2e-3)
    np.testing.assert_allclose(np.ptp(front, axis=0), [0.4, 0.2 / c], atol=2e-3)
    np.testing.assert_allclose(np.ptp(np.reshape(found["side"][1], (-1, 2)), axis=0), 0.6, atol=6e-3)
