from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EncodedJoints, EstimatorSettings, contact_probability
from surefoot.estimation.trackers import JointTracker, TouchTracker
from tests.estimation.examples import arm

SETTINGS = EstimatorSettings()
DT = 0.002
SILENT = np.full(3, np.nan)
NONE, SILENT = np.zeros(1), np.full(1, np.nan)


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


def test_probability_rises_with_force_from_nothing_to_certainty():
    shares = np.linspace(0.0, 0.5, 400)
    found = contact_probability(shares, np.zeros(400), SETTINGS)
    assert (np.diff(found) >= 0.0).all()
    assert found[0] < 1e-3
    assert found[-1] > 1.0 - 1e-3
    assert contact_probability(np.array([SETTINGS.touch_force]), NONE, SETTINGS) == pytest.approx([0.5])


def test_a_contact_that_touches_is_believed_with_less_force():
    share = np.array([SETTINGS.touch_force - 0.5 * SETTINGS.touch_hysteresis])
    assert contact_probability(share, np.ones(1), SETTINGS)[0] > 0.8
    assert contact_probability(share, np.zeros(1), SETTINGS)[0] < 0.2


def test_huge_forces_do_no_harm():
    with np.errstate(all="raise"):
        assert contact_probability(np.array([-1e6, 1e6]), np.zeros(2), SETTINGS) == pytest.approx([0.0, 1.0])


def test_the_first_readings_count_in_full_and_later_ones_gradually():
    touch = TouchTracker(1, SETTINGS)
    touch.update(0.0, np.array([0.4]), SILENT, NONE)
    assert touch.probability[0] > 0.99
    touch.update(SETTINGS.touch_time, NONE, SILENT, NONE)
    lifted = float(contact_probability(NONE, np.ones(1), SETTINGS)[0])
    assert touch.probability[0] == pytest.approx(lifted + (1 - lifted) * np.exp(-1.0), rel=0.01)


@pytest.mark.parametrize(
    ("bit", "speed", "touches"),
    [(1.0, 5.0, True), (0.0, 0.0, False), (np.nan, 0.0, True), (np.nan, 1.0, False)],
)
def test_without_force_the_bit_decides_and_without_both_the_speed(bit, speed, touches):
    touch = TouchTracker(1, SETTINGS)
    for _ in range(50):
        touch.update(0.002, SILENT, np.array([bit]), np.array([speed]))
    assert (touch.probability[0] > 0.9) == touches
    assert touches or touch.probability[0] < 0.1
