"""Walks, closed loop in MuJoCo on estimates: a short one always, the scenarios as slow tests."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.gait import stance_of
from surefoot.robot.loading import load
from surefoot.scenario import names, read_scenario
from surefoot.scenario.studies.walking import WalkRecord
from surefoot.scenario.studies.walking.walk import _trouble
from tests.scenario.studies.runs import studied

KEYS = {"goal_error_m", "goal_error_rad", "mean_speed_m_s", "steps", "cost_of_transport", "fall_cause"}
WALKS = [name for name in names() if read_scenario(name).study == "walk"]


@pytest.fixture(scope="module")
def short():
    """A few steps of the smallest robot."""
    return studied("walk-fast", "walk.goal=[0.6, 0.0, 0.0]", "walk.step=0.3", "walk.pace=1.0", robot="small-humanoid")


def test_a_short_walk_passes_with_all_metrics(short):
    assert short.findings.trouble is None
    metrics = short.metrics
    assert set(metrics) >= KEYS
    assert metrics["fall_cause"] is None
    assert metrics["steps"] >= 3
    q = short.log["q"][-1]
    middle = np.mean([foot.position for foot in stance_of(short.simulation.robot, q)], axis=0)
    goal = 0.6 * short.simulation.controller.source.limits.leg
    assert metrics["goal_error_m"] == pytest.approx(np.hypot(middle[0] - goal, middle[1]), abs=1e-9)
    assert metrics["goal_error_m"] < 0.02


def test_steps_are_where_pinocchio_has_the_feet(short):
    robot, log = short.simulation.robot, short.log
    record = WalkRecord(robot, log)
    assert len(record.steps) == short.metrics["steps"] == len(short.findings.tables[0].rows)
    data = robot.model.createData()
    feet = {foot.name: foot for foot in record.feet}
    for step in record.steps:
        row = int(np.searchsorted(log.time, step.end - 1e-9))
        pin.framesForwardKinematics(robot.model, data, np.array(log["q"][row]))
        foot = feet[step.foot]
        T = data.oMf[robot.frame_id(foot.link)].homogeneous @ foot.placement
        assert_allclose(step.measured, T[:2, 3], atol=1e-9)
        assert np.hypot(*np.subtract(step.adapted, step.measured)) < 0.01
        assert step.start < step.end
        assert 0.0 < step.margin < 0.05


def test_the_zmp_is_that_of_the_mass_in_free_fall_and_inside_the_support(short):
    """Σ wrenches against momentum: the ZMP of single supports lies in the sole that stands."""
    record = WalkRecord(short.simulation.robot, short.log)
    low, high = record.support_limits()
    carried = record.loaded.any(axis=1)
    inside = (record.zmp[carried, :2] >= low[carried] - 1e-6) & (record.zmp[carried, :2] <= high[carried] + 1e-6)
    assert inside.mean() > 0.999
    rest = record.time > record.time[-1] - 0.1  # at rest the ZMP is under the centre of mass
    com = pin.centerOfMass(short.simulation.robot.model, short.simulation.robot.model.createData(), short.log["q"][-1])
    assert_allclose(record.zmp[rest, :2].mean(axis=0), com[:2], atol=0.01)


def test_plots_and_outlines_show_the_walk(short):
    titles = [plot.title for plot in short.findings.plots]
    assert "DCM along x" in titles
    assert "Height of the soles" in titles
    heights = short.findings.plots[titles.index("Height of the soles")]
    lift = short.simulation.controller.settings.lift
    assert max(line.max() for line in heights.lines.values()) == pytest.approx(lift, rel=0.3)
    assert len(short.findings.outlines) == short.metrics["steps"]
    dcm = short.findings.plots[titles.index("DCM along x")].lines
    assert np.abs(dcm["DCM"] - dcm["reference"]).max() < 0.05


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["g1", "talos", "humanoid"])
def test_contact_forces_on_flat_ground_stay_below_1_3_weights(robot):
    found = studied("walk", "walk.unit=leg", "walk.goal=[1.0, 0.0, 0.0]", robot=robot)
    assert found.findings.trouble is None
    assert 1.0 < found.metrics["peak_contact_force_of_weight"] <= 1.3


@pytest.mark.slow
def test_motors_have_an_electrical_cost_of_transport(short, monkeypatch):
    """Heat in the windings and torque times speed, from currents, torques and speeds; only motors have one."""
    assert short.metrics["electrical_cost_of_transport"] is None
    motor = {"gear_ratio": 50.0, "resistance": 0.5, "torque_constant": 0.02, "voltage": 48.0}
    robot = load("small-humanoid")
    robot = robot.replace(drives=tuple(replace(drive, **motor) for drive in robot.drives))
    monkeypatch.setattr("surefoot.scenario.build.simulation.load", lambda *_, **__: robot)
    found = studied("walk", "walk.goal=[0.15, 0.0, 0.0]", robot="small-humanoid")
    assert found.findings.trouble is None
    current, rates = found.log["drive.current"], found.log["v"][:, robot.driven]
    power = 0.5 * current**2 + 50.0 * 0.02 * current * rates
    energy = np.trapezoid(np.maximum(power, 0.0).sum(axis=1), found.log.time)
    cost = found.metrics["electrical_cost_of_transport"]
    assert cost == pytest.approx(energy / (robot.mass * 9.81 * found.metrics["walked_m"]), rel=0.05)
    assert cost > found.metrics["cost_of_transport"]


@pytest.mark.parametrize(
    ("distance", "angle", "text"),
    [
        (0.05, 0.08, None),
        (0.0503, 0.0, "ended 50.3 mm from its goal (at most 50 mm)"),
        (0.0500001, 0.0, "ended 50.1 mm from its goal (at most 50 mm)"),
        (0.0, np.deg2rad(5.0001), "ended turned by 5.01° from its goal (at most 5°)"),
    ],
)
def test_a_goal_that_is_missed_by_little_does_not_read_as_the_limit(distance, angle, text):
    assert _trouble(SimpleNamespace(metadata={"incidents": []}), distance, angle) == text


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in WALKS if name != "walk-gaze"])  # dry friction holds its head
def test_talos_walks(name):
    found = studied(name, robot="talos")
    assert found.log.metadata["fall_time_s"] is None
    assert found.findings.trouble is None
    assert set(found.metrics) >= KEYS
