"""The base estimator, judged against the truth."""

from __future__ import annotations

import numpy as np
import pytest

from .runs import studied

EARLY = ("simulation.duration=1.2", "events.0.time=0.2", "events.1.time=0.6", "events.2.time=0.9")


def within_the_bounds(metrics):
    assert metrics["estimate_attitude_max_deg"] <= 1.0
    assert metrics["estimate_velocity_max"] <= 0.05
    assert metrics["estimate_attitude_rms"] <= metrics["estimate_attitude_max"]


def test_a_push_a_blind_imu_and_drop_outs_in_short():
    found = studied("noise", *EARLY)
    assert found.findings.trouble is None
    within_the_bounds(found.metrics)
    gyro = np.isnan(found.log["sensor.imu.gyro"][:, 0])
    blind = (found.log.time > 0.61) & (found.log.time < 0.79)
    assert gyro[blind].all()
    assert 0.01 < gyro[found.log.time < 0.59].mean() < 0.2
    assert found.metrics["estimate_velocity_max"] > 1e-3  # it is an estimate


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["anymal", "solo12", "g1"])
def test_ten_seconds_of_noise(robot):
    found = studied("noise", robot=robot)
    assert found.findings.trouble is None
    assert found.simulation.fall_time is None
    assert found.log.time[-1] == pytest.approx(10.0)
    within_the_bounds(found.metrics)


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["anymal", "g1"])
def test_ten_seconds_of_stand_with_the_default_sensors(robot):
    found = studied(
        "stand-pd",
        "study=estimate",
        "sensors.kind=default",
        "estimator.kind=base",
        "simulation.duration=10",
        robot=robot,
    )
    assert found.findings.trouble is None
    within_the_bounds(found.metrics)


def test_a_deceived_estimator_is_found_out():
    """The filter is told that the robot is elsewhere than it is: a payload tilts it, the encoders are silent."""
    silent = 'events=[{kind="sensor_loss", sensor="*", time=0.1, duration=2.0}, {kind="push", time=0.1, speed=0.6}]'
    found = studied("noise", silent, "simulation.duration=0.6")
    assert "error reaches" in found.findings.trouble


def test_without_an_estimator_there_is_nothing_to_judge():
    found = studied("noise", "estimator.kind=none", "simulation.duration=0.02")
    assert "nothing was estimated" in found.findings.trouble
