"""The centre of mass goes up through straight knees (Nenchev & Konno 2019, Fig. 2.15): plan, judge and run."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.cli.main import _status
from surefoot.errors import NotSupportedError
from surefoot.ik.singular import raise_com
from surefoot.motion import Column, Log
from surefoot.robot.loading import load
from surefoot.scenario.motions import planner_of
from surefoot.scenario.motions.com_rise import Legs
from surefoot.scenario.schema import MotionTable

LIMIT = 3.0


def planned(robot, **keys):
    table = MotionTable(kind="com_rise", **{"duration": 2.0, "rate_limit": LIMIT, **keys})
    return planner_of("com_rise")(table, robot, None)


@pytest.fixture(scope="module")
def robot():
    return load("small-humanoid")


@pytest.fixture(scope="module")
def plan(robot):
    return planned(robot)


def column(robot, q, name):
    return q[:, robot.tree.q_index[robot.joint_index(name)]]


def test_the_rise_that_is_chosen_goes_through_straight_knees(robot, plan):
    trajectory, metrics = plan.trajectory, plan.metrics
    assert plan.trouble is None
    knee = column(robot, trajectory.q, "left_knee")
    row = int(np.searchsorted(trajectory.time, metrics["knees_straight_s"]))
    assert 0.0 < metrics["knees_straight_s"] < 0.9 * trajectory.end
    assert abs(knee[0]) > 1.0
    assert np.abs(knee[row:]).max() < 0.1
    assert metrics["rise_after_straight_m"] > 0.1 * metrics["rise_m"]
    assert abs(metrics["base_after_straight_m"]) < 0.05 * metrics["rise_after_straight_m"]
    assert metrics["leg_value_share"] < 0.05


def test_metrics_against_the_trajectory(robot, plan):
    data = robot.model.createData()
    heights = [pin.centerOfMass(robot.model, data, np.array(q))[2] for q in plan.trajectory.q[[0, -1]]]
    assert plan.metrics["rise_m"] == pytest.approx(heights[1] - heights[0], abs=1e-9)
    assert plan.metrics["rise_m"] == pytest.approx(plan.metrics["rise_wanted_m"], rel=0.02)
    assert plan.metrics["base_rise_m"] == pytest.approx(np.ptp(plan.trajectory.q[:, 2]), abs=1e-4)
    largest = np.linalg.norm(plan.trajectory.v[:, 6:], axis=1).max()
    assert plan.metrics["largest_rates_rad_s"] == pytest.approx(largest)
    assert largest <= LIMIT * 1.02
    first = robot.contact_corners(plan.trajectory.q[0])
    for name, corners in robot.contact_corners(plan.trajectory.q[-1]).items():
        assert_allclose(corners, first[name], atol=1e-5)


def test_curves_are_over_the_times_of_the_trajectory(plan):
    lines = [line for curve in plan.curves for line in curve.lines.values()]
    assert all(len(line) == len(plan.trajectory) and np.isfinite(line).all() for line in lines)
    assert set(plan.curves[1].lines) == {"left_knee", "right_knee"}


@pytest.mark.parametrize(("rise", "word"), [(0.08, "of the planned"), (0.008, "knees do not straighten")])
def test_a_rise_that_is_too_much_or_too_little(robot, rise, word):
    assert word in planned(robot, rise=rise).trouble


def run_of(robot, plan, until=np.inf, slip=0.0, aside=0.0):
    """A log of a run that does what was planned, apart from what is said."""
    rows = plan.trajectory.time <= until
    q = np.array(plan.trajectory.q[rows])
    q[:, 0] += aside
    n = len(q)
    slips = [Column(f"contact.{name}.slip", "m", np.full(n, slip)) for name in robot.contacts]
    time = Column("time", "s", plan.trajectory.time[rows])
    return Log.of(time, Column("q", "", q), Column("v", "", plan.trajectory.v[rows]), *slips)


def test_judge(robot, plan):
    found = plan.judge(robot, run_of(robot, plan))
    assert found.trouble is None
    assert found.metrics["run_com_error_m"] < 1e-9
    assert found.metrics["run_rise_m"] == pytest.approx(plan.metrics["rise_m"])
    assert "slid by" in plan.judge(robot, run_of(robot, plan, slip=0.02)).trouble
    assert "from its plan" in plan.judge(robot, run_of(robot, plan, aside=0.03)).trouble
    assert "before the motion ends" in plan.judge(robot, run_of(robot, plan, until=0.5)).trouble


def test_singular_values_of_legs_are_those_of_the_contact_system(robot):
    motion = raise_com(robot, 0.02, 1.0, dt=0.1)
    values = Legs(robot).singular_values(motion.q)
    assert_allclose(np.min(list(values.values()), axis=0), motion.legs, atol=1e-12)


def test_legs_have_no_joints_in_common_and_end_at_the_foot():
    """Both legs of `lola` hang on two joints of the pelvis, and each has a toe beyond its foot."""
    robot = load("lola")
    legs = Legs(robot)
    assert set(legs.joints) == {"left_foot", "right_foot"}
    for name, joints in legs.joints.items():
        names = [robot.tree.joint_names[i] for i in joints]
        assert len(names) == 6
        assert all(joint.startswith(name.partition("_")[0]) for joint in names)


def test_points_are_balls():
    assert set(Legs(load("hexapod")).contacts.values()) == {"ball"}
    assert set(Legs(load("humanoid")).contacts.values()) == {"weld"}


def test_robots_that_do_not_stand_are_refused():
    with pytest.raises(NotSupportedError, match="contact"):
        planned(load("arm4"))
    with pytest.raises(NotSupportedError, match="planar"):
        planned(load("biped"))


def test_legs_that_are_straight_at_home():
    assert "from the start" in planned(load("simple_humanoid")).trouble


def test_quadrupeds_have_nothing_left_when_their_legs_are_straight():
    trouble = planned(load("anymal")).trouble
    assert "rises only" in trouble or "do not straighten" in trouble


@pytest.mark.slow
@pytest.mark.parametrize("name", ["humanoid", "g1"])
def test_runs(name, tmp_path):
    out = tmp_path / "run"
    assert _status(["run", "straight-knees", "--robot", name, "--out", str(out)]) == 0
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["run_com_error_m"] < 2e-3
    assert metrics["run_foot_slip_m"] < 1e-3
    assert metrics["run_rise_m"] == pytest.approx(metrics["rise_m"], rel=0.02)
    assert metrics["run_largest_rates_rad_s"] < 1.1 * metrics["rates_bound_rad_s"]
    assert metrics["max_torque_ratio"] < 0.5
    page = (out / "report.html").read_text()
    assert "plan: knee angles" in page


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["--robot", "arm4"], 2, "contact surface"),
        (["--robot", "block"], 2, "no drives"),
        (["--robot", "talos_full"], 2, "mimic"),
        (["--set", "motion.rise=-1"], 2, "motion.rise"),
        (["--set", "motion.cycles=2"], 2, "com_rise has no `cycles`"),
        (["--set", "simulation.duration=0.1"], 1, "before the motion ends"),
        (["--set", "motion.duration=0.3", "--set", "simulation.duration=0.1"], 1, "do not straighten"),
    ],
)
def test_exit_status(words, status, text, tmp_path, capsys):
    assert (
        _status(["run", "straight-knees", *words, "--set", "audit.kind=none", "--out", str(tmp_path / "run")]) == status
    )
    assert text in "".join(capsys.readouterr())
