"""The hand of a small humanoid moves; the ZMP moves with it."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.scenario.studies.reach import zero_moment_points

from .runs import studied


@pytest.fixture(scope="module")
def arm():
    return studied("op2-arm")


def test_the_hand_goes_where_it_should(arm):
    assert arm.findings.trouble is None
    assert arm.metrics["frame_error_m"] < 2e-3
    assert arm.metrics["sole_points"] == 16


def test_the_zmp_goes_forward_and_to_the_right(arm):
    """The left hand goes forward and inward, and takes its weight along."""
    start, end, way = (np.array(arm.metrics[f"zmp_{name}_m"]) for name in ("start", "end", "way"))
    np.testing.assert_allclose(end - start, way)
    assert way[0] > 2e-4
    assert way[1] < -2e-4
    low, high = np.array(arm.metrics["support_box_m"])
    assert (low < end).all()
    assert (end < high).all()


def test_the_zmp_at_rest_is_below_the_centre_of_mass(arm):
    import pinocchio as pin

    robot, log = arm.simulation.robot, arm.log
    zmp = zero_moment_points(robot, log)[-1]
    com = pin.centerOfMass(robot.model, robot.model.createData(), np.array(log["q"][-1]))
    np.testing.assert_allclose(zmp, com[:2], atol=2e-4)


def test_ideal_sensors_see_the_same_zmp(arm):
    """The reading and the study compute it in two ways."""
    zmp, seen = zero_moment_points(arm.simulation.robot, arm.log), arm.log["sensor.zmp"]
    late = arm.log.time > 0.6
    assert np.isfinite(seen[late]).all()
    np.testing.assert_allclose(seen[late][1:], zmp[late][1:], atol=2e-4)


def test_a_hand_that_has_not_arrived_is_a_bad_verdict():
    assert "from its target" in studied("op2-arm", "simulation.duration=1.0").findings.trouble


def test_a_robot_that_nothing_carries():
    found = studied("op2-arm", "world.empty=true", "simulation.duration=0.1", "controller.start=0")
    assert "does not stand" in found.findings.trouble
