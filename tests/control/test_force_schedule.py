import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from surefoot.control import ForceSchedule
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.motion import Controller, State
from surefoot.robot.load import load


def test_runs_straight_from_point_to_point():
    robot = load("arm4")
    schedule = ForceSchedule(robot, [(1.0, {"joint1": 2.0}), (2.0, {"joint3": -4.0}), (4.0, {"joint1": 0.0})])
    assert isinstance(schedule, Controller)
    want = {0.0: [2, 0, 0, 0], 1.5: [2, 0, -2, 0], 2.0: [2, 0, -4, 0], 3.0: [1, 0, -4, 0], 9.0: [0, 0, -4, 0]}
    for t, torque in want.items():
        command = schedule.command(t, State.of(robot))
        assert_allclose(command.torque, torque)
        assert command.position is None
        assert command.kd is None


@pytest.mark.parametrize("name", ["block", "v-support"])
def test_no_points_no_force(name):
    robot = load(name)
    assert_array_equal(ForceSchedule(robot, []).command(1.0, State.of(robot)).torque, np.zeros(robot.nu))


def test_wrong_points():
    robot = load("arm4")
    with pytest.raises(UnknownNameError):
        ForceSchedule(robot, [(0.0, {"joint": 1.0})])
    with pytest.raises(ShapeError):
        ForceSchedule(robot, [(1.0, {}), (0.5, {})])
    with pytest.raises(ShapeError):
        ForceSchedule(robot, [(1.0, {"joint1": np.inf})])
