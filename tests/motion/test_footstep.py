"""Footsteps and their sources."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import ShapeError
from surefoot.motion import Footstep, StepSource
from surefoot.robot import placement


@pytest.mark.parametrize("yaw", [0.0, 0.3, -2.0, 3.1])
def test_position_and_heading(yaw):
    """The heading is the angle that the foot was turned by about the vertical, also on a slope across it."""
    turn = np.array([[np.cos(yaw), -np.sin(yaw), 0.0], [np.sin(yaw), np.cos(yaw), 0.0], [0.0, 0.0, 1.0]])
    slope = np.array([[1.0, 0.0, 0.0], [0.0, np.cos(0.2), -np.sin(0.2)], [0.0, np.sin(0.2), np.cos(0.2)]])
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = turn @ slope, [1.0, 2.0, 0.5]
    step = Footstep("left_foot", T)
    assert step.yaw == pytest.approx(yaw)
    np.testing.assert_array_equal(step.position, [1.0, 2.0, 0.5])


def test_a_footstep_is_frozen():
    T = placement((0.1, 0.0, 0.0))
    step = Footstep("left_foot", T)
    T = np.array(T)
    with pytest.raises(ValueError, match="read-only"):
        step.T[0, 3] = 1.0
    with pytest.raises(AttributeError):
        step.foot = "right_foot"
    T[0, 3] = 7.0
    assert step.position[0] == 0.1


@pytest.mark.parametrize(
    ("foot", "T", "text"),
    [
        ("left_foot", np.zeros((4, 4)), "`left_foot` is not a placement"),
        ("left_foot", np.eye(3), "shape"),
        ("left_foot", np.full((4, 4), np.nan), "finite"),
        ("", np.eye(4), "name of a foot"),
        (0, np.eye(4), "name of a foot"),
    ],
)
def test_footsteps_that_are_none_are_refused(foot, T, text):
    with pytest.raises(ShapeError, match=text):
        Footstep(foot, T)


def test_sources_are_recognised():
    class Stop:
        def upcoming(self, t, support, count):
            return ()

    assert isinstance(Stop(), StepSource)
    assert not isinstance(object(), StepSource)
