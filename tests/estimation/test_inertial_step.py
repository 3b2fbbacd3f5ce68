from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EstimatorSettings
from surefoot.estimation.invariant_filter import InertialStep
from tests.estimation.test_invariant_filter import some_filter

SETTINGS = EstimatorSettings()
SILENT = np.full(3, np.nan)


def made():
    kalman = some_filter()
    step = InertialStep(kalman, SETTINGS)
    step.reset(np.array([0.1, 0.2, 0.3]))
    return kalman, step


def test_a_step_takes_the_mean_of_two_readings():
    readings = [np.array([0.1, 0.0, 0.2, 1.0, 2.0, 9.0]), np.array([0.3, 0.1, 0.0, 0.0, 1.0, 10.0])]
    kalman, step = made()
    step.advance(0.0, readings[0], None)
    step.advance(0.01, readings[1], None)
    other = some_filter()
    other.predict(0.5 * (readings[0] + readings[1]), 0.01, np.zeros(6), np.zeros(len(other.P)), np.ones(6))
    assert kalman.position == pytest.approx(other.position)
    assert kalman.rotation == pytest.approx(other.rotation)
    assert step.twist[3:] == pytest.approx(readings[1][:3] - kalman.bias[:3])


def test_the_legs_turn_the_body_while_the_gyroscope_is_silent():
    _, step = made()
    step.advance(0.01, np.concatenate([SILENT, [0.0, 0.0, 9.81]]), np.array([0.0, 0.0, 0.0, 0.5, -0.4, 0.3]))
    assert step.twist[3:] == pytest.approx([0.5, -0.4, 0.3])


def test_without_accelerometer_the_velocity_goes_towards_that_of_the_legs():
    kalman, step = made()
    legs = np.concatenate([kalman.rotation.T @ kalman.velocity + [0.1, 0.0, 0.0], np.zeros(3)])
    before, variance = kalman.velocity.copy(), kalman.covariance[3, 3]
    step.advance(0.001, np.concatenate([np.zeros(3), SILENT]), legs)
    wanted = kalman.rotation @ legs[:3]
    assert np.linalg.norm(kalman.velocity - wanted) < 0.2 * np.linalg.norm(before - wanted)
    assert kalman.covariance[3, 3] < variance


def test_silence_makes_unsure():
    (heard, a), (silent, b) = made(), made()
    for kalman in (heard, silent):
        kalman.P = np.zeros_like(kalman.P)
    a.advance(0.01, np.zeros(6), None)
    b.advance(0.01, np.concatenate([SILENT, np.zeros(3)]), np.zeros(6))
    assert np.trace(silent.covariance[:3, :3]) > 100.0 * np.trace(heard.covariance[:3, :3])
