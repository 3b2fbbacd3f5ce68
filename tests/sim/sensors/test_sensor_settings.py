from __future__ import annotations

import pytest

from surefoot.errors import ShapeError
from surefoot.sim.sensors.channels import Channel
from surefoot.sim.sensors.settings import SensorSettings

CHANNELS = ("encoder_position", "encoder_velocity", "gyro", "accelerometer", "wrench", "touch")


def test_the_default_sensors_are_imperfect_and_never_silent():
    settings = SensorSettings()
    for name in CHANNELS:
        channel = getattr(settings, name)
        assert channel.delay > 0.0
        assert channel.dropout == 0.0
        assert name == "touch" or channel != Channel(delay=channel.delay)


def test_ideal_sensors_have_no_error():
    assert all(getattr(SensorSettings.ideal(), name) == Channel() for name in CHANNELS)


def test_a_bad_bus_changes_dropout_alone():
    worse = SensorSettings(touch_on=0.05, imu="head").with_dropout(0.1, burst=0.02)
    for name in CHANNELS:
        channel = getattr(worse, name)
        assert (channel.dropout, channel.burst) == (0.1, 0.02)
        assert channel.noise == getattr(SensorSettings(), name).noise
    assert (worse.touch_on, worse.imu) == (0.05, "head")


@pytest.mark.parametrize("wrong", [{"touch_on": 0.01}, {"touch_off": 0.0}, {"touch_off": -0.1}])
def test_thresholds_without_sense_are_refused(wrong):
    with pytest.raises(ShapeError, match="touch_off"):
        SensorSettings(**wrong)
