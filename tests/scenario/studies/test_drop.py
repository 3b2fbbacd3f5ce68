"""A hexapod on 6, 5, 4 and 3 feet sinks into penalty ground by g / (300 n)."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import GroundPlane, World
from surefoot.robot.loading import load
from surefoot.scenario.studies.drop import contact_depths

from .runs import studied

QUICK = ("simulation.control_dt=0.02", "simulation.duration=3.0")
LIFTED = {
    6: (),
    5: ("left_middle",),
    4: ("left_middle", "right_middle"),
    3: ("left_front", "right_middle", "left_rear"),
}
DEPTH = {6: 5.45e-3, 5: 6.54e-3, 4: 8.18e-3, 3: 10.9e-3}


def legs_up(feet: int) -> list[str]:
    return [f"initial.joints.{leg}_femur=-1.2" for leg in LIFTED[feet]]


def settled(feet: int, *overrides: str):
    found = studied("drop", *legs_up(feet), *overrides)
    assert found.findings.trouble is None
    assert found.metrics["feet_down"] == feet
    up = [name for name, depth in found.metrics["penetration_by_contact_m"].items() if depth < 0.0]
    assert sorted(up) == sorted(LIFTED[feet])
    assert found.metrics["rest_force_n"] == pytest.approx(found.metrics["weight_n"], rel=1e-3)
    return found.metrics


@pytest.mark.parametrize("feet", [6, 3])
def test_depth_at_rest(feet):
    assert settled(feet, *QUICK)["penetration_m"] == pytest.approx(DEPTH[feet], rel=0.01)


@pytest.mark.slow
@pytest.mark.parametrize("feet", [6, 5, 4, 3])
def test_depth_at_rest_of_the_file_as_it_is(feet):
    metrics = settled(feet)
    assert metrics["penetration_m"] == pytest.approx(DEPTH[feet], rel=0.01 if feet == 6 else 0.02)
    assert metrics["expected_penetration_m"] == pytest.approx(DEPTH[feet], rel=1e-3)


def test_a_robot_that_still_falls_has_not_settled():
    assert "no foot" in studied("drop", "initial.lift=0.5", "simulation.duration=0.1", QUICK[0]).findings.trouble
    assert "still moving" in studied("drop", "simulation.duration=0.1", QUICK[0]).findings.trouble


def test_a_load_that_the_robot_does_not_know_is_seen():
    heavy = 'events=[{kind="parameter_error", mass_factor=1.2}]'
    assert "carries 25.9 N, but the robot weighs 21.58 N" in studied("drop", heavy, *QUICK).findings.trouble


def test_depths_change_by_the_way_along_the_normal():
    robot, rng = load("hexapod"), np.random.default_rng(4)
    normal = np.array([0.3, -0.2, 1.0])
    world, unit = World(ground=(GroundPlane(normal=normal),)), normal / np.linalg.norm(normal)
    before = contact_depths(robot, np.array(robot.home), world)
    for way in rng.normal(scale=0.1, size=(5, 3)):
        q = np.array(robot.home)
        q[:3] += way
        after = contact_depths(robot, q, world)
        np.testing.assert_allclose([before[name] - after[name] for name in before], unit @ way, atol=1e-12)


def test_a_ball_is_as_deep_however_it_is_turned():
    """A foot that ends in a ball: its lowest point is below its centre, not at the corner of the contact."""
    robot, q = load("hexapod"), np.array(load("hexapod").home)
    q[robot.tree.q_index[robot.joint_index("left_front_tibia")]] += 0.3
    contact = robot.contacts["left_front"]
    T = robot.placements(q)[contact.frame] @ contact.placement
    centre = T[:3, 3] + contact.radius * T[:3, 2]
    assert contact.radius > 0.0
    assert contact_depths(robot, q, World())["left_front"] == pytest.approx(contact.radius - centre[2], abs=1e-12)
