from __future__ import annotations

import numpy as np
import pytest

from surefoot.estimation import EstimatorSettings, contact_probability
from surefoot.estimation.trackers import TouchTracker

SETTINGS = EstimatorSettings()
NONE, SILENT = np.zeros(1), np.full(1, np.nan)


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
