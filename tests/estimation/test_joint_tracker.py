from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EncodedJoints, EstimatorSettings
from surefoot.estimation.trackers import JointTracker
from tests.estimation.examples import arm

SETTINGS = EstimatorSettings()
DT = 0.002
SILENT = np.full(3, np.nan)


def tracker(position=(0.1, 0.2, 0.3), velocity=(1.0, -2.0, 0.5)) -> JointTracker:
    made = JointTracker(EncodedJoints(arm("fixed")), SETTINGS)
    made.reset(np.array(position), np.array(velocity))
    return made


def test_what_is_heard_is_passed_on():
    joints = tracker()
    joints.update(DT, np.array([0.5, 0.6, 0.7]), np.array([3.0, 4.0, 5.0]))
    assert joints.position == pytest.approx([0.5, 0.6, 0.7])
    assert joints.velocity == pytest.approx([3.0, 4.0, 5.0])
    assert joints.variance == pytest.approx(SETTINGS.encoder_noise**2)


def test_a_silent_position_goes_on_with_the_velocity_and_grows_unsure():
    joints = tracker()
    before = joints.variance
    for k in range(5):
        joints.update(DT, np.array([np.nan, 0.2, 0.3]), np.array([1.0, 0.0, 0.0]))
        assert joints.position[0] == pytest.approx(0.1 + (k + 1) * DT)
        assert joints.variance[0] > before[0]
        assert joints.variance[1:] == pytest.approx(before[1:])
        before = joints.variance
    joints.update(DT, np.array([0.11, 0.2, 0.3]), np.zeros(3))
    assert joints.variance[0] == pytest.approx(SETTINGS.encoder_noise**2)


def test_a_silent_velocity_is_learnt_from_positions():
    joints = tracker(velocity=(0.0, 0.0, 0.0))
    for k in range(200):
        joints.update(DT, np.array([0.1, 0.2, 0.3]) + np.array([1.0, -2.0, 0.5]) * (k + 1) * DT, SILENT)
    assert joints.velocity == pytest.approx([1.0, -2.0, 0.5], rel=1e-3)


def test_a_joint_that_nobody_hears_comes_to_rest():
    joints = tracker()
    for _ in range(500):
        joints.update(DT, SILENT, SILENT)
    assert joints.velocity == pytest.approx(np.zeros(3), abs=1e-6)
    assert joints.position == pytest.approx(
        np.array([0.1, 0.2, 0.3]) + np.array([1.0, -2.0, 0.5]) * SETTINGS.joint_memory, rel=0.05
    )


def test_a_continuous_joint_may_pass_the_turn():
    joints = tracker((0.0, np.pi - 0.001, 0.0), (0.0, 1.0, 0.0))
    joints.update(DT, np.array([0.0, -np.pi + 0.001, 0.0]), SILENT)
    assert joints.velocity[1] == pytest.approx(1.0)


def test_the_first_readings_may_come_with_the_first_state():
    joints = tracker()
    joints.update(0.0, np.array([0.1, np.nan, 0.3]), SILENT)
    assert joints.position == pytest.approx([0.1, 0.2, 0.3])
    assert joints.velocity == pytest.approx([1.0, -2.0, 0.5])
