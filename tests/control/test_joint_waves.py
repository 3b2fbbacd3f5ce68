import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.control import JointWaves
from surefoot.errors import ShapeError, UnknownNameError
from surefoot.robot.load import load
from tests.control.following import assert_smooth, run

START = {"left_shoulder_roll": 0.8, "right_shoulder_roll": -0.8}
PITCH, ROLL = ["left_shoulder_pitch", "right_shoulder_pitch"], ["left_shoulder_roll", "right_shoulder_roll"]


def arm_circles(sense):
    """Both arms, stretched out sideways, run round in phase: the body pitches the other way."""
    waves = dict.fromkeys(PITCH, (0.6, 2.0, 0.0))
    waves |= {joint: (side * 0.4, 2.0, sense * np.pi / 2) for joint, side in zip(ROLL, (1.0, -1.0), strict=True)}
    return JointWaves(load("small-humanoid"), waves, cycles=2.0, q_start=START, bandwidth=60.0)


def test_swings_about_the_start_posture():
    robot = load("arm4")
    waves = JointWaves(robot, {"joint2": (0.3, 2.0, 0.4), "joint4": (-0.1, 1.0, 0.0)}, start=0.5, cycles=3.0)
    for t in (0.0, 0.5, 3.5, 5.0):
        q, v, a = waves.reference(t)
        assert_allclose(q, robot.home, atol=1e-12)
        assert_allclose([v, a], 0.0, atol=1e-12)
    t = 1.3  # in the middle the envelope is one
    moved = waves.reference(0.5 + t)[0] - robot.home
    assert_allclose(moved[1], 0.3 * (np.sin(4.0 * np.pi * t + 0.4) - np.sin(0.4)), atol=1e-12)
    assert_allclose(moved[3], -0.1 * np.sin(2.0 * np.pi * t), atol=1e-12)
    assert_allclose(moved[[0, 2]], 0.0)


def test_is_smooth():
    waves = JointWaves(load("arm4"), {"joint2": (0.3, 1.5, 0.4), "joint4": (0.1, 1.0, 0.0)}, start=0.5, cycles=2.5)
    assert_smooth(waves, [0.3, 0.5, 0.7, 1.0, 1.6, 2.5, 2.8, 3.0, 3.4])


def test_circles_of_the_arms_turn_a_floating_robot():
    """Momentum stays zero, the joints come back, the base has turned; round the other way it has turned back."""
    turns = []
    for sense in (1.0, -1.0):
        controller = arm_circles(sense)
        q, v, _ = run(controller, 1.1, dt=2e-3)
        robot = controller.robot
        hg = pin.computeCentroidalMomentum(robot.model, robot.model.createData(), q, v)
        assert_allclose(hg.vector, 0.0, atol=1e-4)
        assert_allclose(q[7:], controller.q_start[7:], atol=2e-3)
        turns.append(pin.log3(pin.Quaternion(q[3:7]).matrix()))
    assert np.abs(turns[0]).argmax() == 1
    assert abs(turns[0][1]) > 0.01
    assert_allclose(turns[0][1], -turns[1][1], rtol=0.2)


@pytest.mark.parametrize(
    ("waves", "options", "kind"),
    [
        ({}, {}, ShapeError),
        ({"joint2": (0.1, 0.0, 0.0)}, {}, ShapeError),
        ({"joint2": (0.1, 1.0)}, {}, ShapeError),
        ({"joint2": (9.0, 1.0, 0.0)}, {}, ShapeError),
        ({"joint2": (0.1, 1.0, 0.0)}, {"cycles": 0.5}, ShapeError),
        ({"elbow": (0.1, 1.0, 0.0)}, {}, UnknownNameError),
    ],
)
def test_wrong_waves(waves, options, kind):
    with pytest.raises(kind):
        JointWaves(load("arm4"), waves, **options)
