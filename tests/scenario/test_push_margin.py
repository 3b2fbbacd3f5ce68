"""Pushes by margin against the closed form of the linear inverted pendulum."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.testing import assert_allclose

from surefoot.errors import NotSupportedError
from surefoot.robot.loading import load
from surefoot.scenario.build.events import capture_impulse, way_to_edge

SQUARE = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0], [0.2, 0.3]])


@pytest.mark.parametrize(
    ("start", "direction", "way"),
    [
        ((0.0, 0.0), (1.0, 0.0), 1.0),
        ((0.5, 0.0), (-2.0, 0.0), 1.5),
        ((0.0, 0.0), (1.0, 1.0, 5.0), np.sqrt(2.0)),
        ((0.0, 0.9), (0.6, 0.8), 0.125),
        ((1.2, 0.0), (1.0, 0.0), 0.0),
    ],
)
def test_way_to_the_edge_of_a_square(start, direction, way):
    assert_allclose(way_to_edge(SQUARE, start, direction), way, atol=1e-12)


def test_after_the_impulse_the_pendulum_just_reaches_the_edge():
    """x(t) = x cosh ωt + v/ω sinh ωt with v = J/M tends to the edge: x + v/ω = s."""
    robot = load("block")
    height = 0.05
    impulse = capture_impulse(robot, robot.home, (1.0, 0.0, 0.0))
    assert_allclose(impulse, robot.mass * np.sqrt(9.81 / height) * 0.1, rtol=1e-9)


def test_no_polygon_no_margin():
    with pytest.raises(NotSupportedError, match="polygon"):
        capture_impulse(load("bolt"), load("bolt").home, (1.0, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match="no contact"):
        capture_impulse(load("panda"), load("panda").home, (1.0, 0.0, 0.0))
    with pytest.raises(NotSupportedError, match="vertical"):
        way_to_edge(SQUARE, (0.0, 0.0), (0.0, 0.0, 1.0))
