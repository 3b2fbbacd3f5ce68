"""A hand draws an eight through singular postures: path, limb, plan, judge and run."""

from __future__ import annotations

import json

import numpy as np
import pinocchio as pin
import pytest
from numpy.testing import assert_allclose

from surefoot.cli.main import _status
from surefoot.errors import NotSupportedError
from surefoot.ik.textbook import truncated_inverse
from surefoot.motion import Column, Log
from surefoot.robot.loading import load
from surefoot.scenario.motions import planner_of
from surefoot.scenario.motions.figure_eight import servo
from surefoot.scenario.motions.hand_path import EightPath, HandPath, end_frame, frame_poses
from surefoot.scenario.schema import MotionTable
from surefoot.spatial import so3

LIMIT = 2.0
CENTRE = (-0.3, 0.0, 0.25)


def planned(robot, **keys):
    table = MotionTable(kind="figure_eight", **{"centre": CENTRE, "rate_limit": LIMIT, **keys})
    return planner_of("figure_eight")(table, robot, None)


@pytest.fixture(scope="module")
def arm():
    return load("ur5")


@pytest.fixture(scope="module")
def plan(arm):
    return planned(arm, cycles=2, tilt=0.01, duration=6.0)


# -- the path --------------------------------------------------------------------------------------------------------


def eight(cycles=3, tilt=0.1, axes=(1, 2), centre=(0.1, 0.2, 0.3)):
    R = np.array(so3.exp([0.3, -0.2, 0.5]), dtype=float)
    return EightPath(np.array(centre), R, np.eye(3)[list(axes)], (0.2, 0.1), cycles, tilt)


def test_twist_is_the_rate_of_the_pose():
    path, h = eight(), 1e-6
    for s in np.linspace(path.start, path.end, 57):
        low, high = path.pose(s - h), path.pose(s + h)
        linear = (high[:3, 3] - low[:3, 3]) / (2.0 * h)
        angular = pin.log3(high[:3, :3] @ low[:3, :3].T) / (2.0 * h)
        assert_allclose(path.twist(s), np.concatenate([linear, angular]), atol=1e-7)


def test_crosses_its_centre_with_the_tilt_of_the_cycle():
    path = eight()
    for cycle in range(3):
        for s in (np.pi * (2 * cycle + 1), np.pi * (2 * cycle + 2)):
            T = path.pose(s)
            assert_allclose(T[:3, 3], path.centre, atol=1e-12)
            turn = pin.log3(T[:3, :3] @ path.rotation.T)
            assert_allclose(turn, [0.1 * cycle, 0.0, 0.0], atol=1e-12)
    for s in (path.start, path.end):
        assert_allclose(path.pose(s)[:3, 3] - path.centre, [0.0, 0.2, 0.0], atol=1e-12)


def test_one_cycle_has_no_tilt():
    path = eight(cycles=1)
    for s in np.linspace(path.start, path.end, 9):
        assert_allclose(path.pose(s)[:3, :3], path.rotation, atol=1e-12)
        assert_allclose(path.twist(s)[3:], 0.0)


# -- the limb --------------------------------------------------------------------------------------------------------


def test_jacobian_is_the_rate_of_the_miss(arm):
    hand, h = HandPath(arm, "tool0", eight(), True), 1e-6
    x = np.array([0.3, -1.0, 1.2, -0.4, 0.2, 0.1])
    numeric = [(hand.miss(x - h * e, 2.0)[:3] - hand.miss(x + h * e, 2.0)[:3]) / (2.0 * h) for e in np.eye(6)]
    assert_allclose(hand.jacobian(x)[:3], np.transpose(numeric), atol=1e-7)
    assert_allclose(hand.joints_of(hand.posture(x)), x, atol=1e-12)


def test_a_planar_arm_has_the_rows_of_its_plane():
    robot = load("arm4")
    assert HandPath(robot, "tip", eight(axes=(0, 2), tilt=0.0), True).jacobian(np.zeros(4)).shape == (3, 4)
    assert HandPath(robot, "tip", eight(axes=(0, 2), tilt=0.0), False).jacobian(np.zeros(4)).shape == (2, 4)
    with pytest.raises(NotSupportedError, match="plane"):
        HandPath(robot, "tip", eight(axes=(1, 2)), True)


def test_end_frames():
    assert end_frame(load("ur5")) == "tool0"
    assert end_frame(load("panda")) == "panda_hand_tcp"  # before the fingers
    assert end_frame(load("arm4")) == "tip"
    with pytest.raises(NotSupportedError, match="several limbs"):
        end_frame(load("g1", base="fixed"))


def test_the_plain_inverse_is_good_where_nothing_is_singular(arm):
    path = EightPath(np.array([0.4, 0.2, 0.4]), np.eye(3), np.eye(3)[[1, 2]], (0.1, 0.05), 1)
    hand = HandPath(arm, "tool0", path, False)
    x = np.array([0.5, -1.5, 1.8, -0.3, 0.4, 0.0])
    for _ in range(50):
        x = x + truncated_inverse(hand.jacobian(x)) @ hand.miss(x, path.start)[:3]
    found = servo(hand, x, np.pi / 3.0, 0.01, truncated_inverse)
    assert found.error[:, 0].max() < 1e-3
    assert np.abs(found.rates).max() < LIMIT


# -- the plan --------------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_passes_exactly_through_singular_postures_and_beside_them(arm, plan):
    """The wrist of this arm is singular where wrist_2 is zero: the first eight goes through it, the second does not."""
    wrist = plan.trajectory.q[:, arm.tree.q_index[arm.joint_index("wrist_2_joint")]]
    moving = wrist[np.abs(wrist) > 1e-9]
    assert plan.trouble is None
    assert plan.metrics["singular_crossings"] == np.sum(moving[1:] * moving[:-1] < 0.0) == 2
    assert plan.metrics["near_singular_passes"] == 4
    assert plan.metrics["least_singular_value"] < 1e-4


@pytest.mark.slow
def test_rates_are_bounded_on_the_path_and_others_pay(plan):
    m = plan.metrics
    assert m["consistent_rate_rad_s"] <= LIMIT * (1.0 + 1e-9)
    assert m["consistent_path_error_m"] < 1e-9
    assert m["path_duration_s"] > m["at_full_speed_s"]  # it waited
    assert m["plain_rate_rad_s"] > 10.0 * LIMIT
    assert m["damped_path_error_m"] > 2e-3
    assert m["damped_rate_rad_s"] < m["plain_rate_rad_s"]


def test_the_trajectory_belongs_together(arm, plan):
    trajectory = plan.trajectory
    assert_allclose(trajectory.q[0], arm.home)
    assert_allclose(trajectory.v[[0, -1]], 0.0, atol=1e-12)
    step = np.diff(trajectory.q, axis=0) / np.diff(trajectory.time)[:, None]
    assert_allclose(step, 0.5 * (trajectory.v[1:] + trajectory.v[:-1]), atol=0.05)
    assert np.abs(trajectory.v).max() <= LIMIT * (1.0 + 1e-9)
    assert all(len(line) == len(trajectory) for curve in plan.curves for line in curve.lines.values())


def test_the_hand_is_on_the_eight(arm, plan):
    """Points of the drawn part fulfil (w/b)² = 4 (u/a)² (1 − (u/a)²), with no parameter in it."""
    places = (
        frame_poses(arm, plan.trajectory.q, "tool0")[:, :3, 3] - frame_poses(arm, arm.home[None], "tool0")[0, :3, 3]
    )
    x, y, z = (places - CENTRE).T
    drawn = plan.trajectory.time > plan.trajectory.end - plan.metrics["path_duration_s"] - 1.0
    u, w = y[drawn] / 0.2, z[drawn] / 0.1
    assert_allclose(x[drawn], 0.0, atol=1e-5)
    assert_allclose(w**2, 4.0 * u**2 * (1.0 - u**2), atol=1e-3)
    assert u.min() == pytest.approx(-1.0, abs=1e-3)


def test_a_redundant_arm():
    plan = planned(load("panda"), centre=(0.0, 0.0, 0.0), size=(0.1, 0.05))
    assert plan.trouble is None
    assert plan.metrics["frame"] == "panda_hand_tcp"
    assert plan.metrics["singular_crossings"] is None
    assert plan.metrics["near_singular_passes"] == 0


@pytest.mark.parametrize(
    ("keys", "word"),
    [
        ({"centre": (0.5, 0.0, 0.0)}, "cannot reach its path"),
        ({"centre": (-0.1, 0.0, 0.0), "size": (0.1, 0.45)}, "before the arm runs out of reach"),
    ],
)
def test_paths_beyond_the_reach(arm, keys, word):
    plan = planned(arm, **keys)
    assert word in plan.trouble
    assert_allclose(plan.trajectory.q[0], arm.home)


def test_joint_limits_are_looked_at(arm):
    joint = arm.tree.q_index[arm.joint_index("elbow_joint")]
    upper = np.array(arm.limits.upper)
    upper[joint] = 1.5
    tight = arm.replace(limits=type(arm.limits)(arm.limits.lower, upper, arm.limits.velocity, arm.limits.effort))
    assert "`elbow_joint` would leave its limits" in planned(tight).trouble


def test_the_slowest_joint_bounds_all():
    robot = load("ur10")
    slowest = float(robot.limits.velocity.min())
    assert planned(robot, rate_limit=9.0, tilt=0.0).metrics["rate_bound_rad_s"] == pytest.approx(slowest)


def test_refusals(arm):
    with pytest.raises(NotSupportedError, match="floating"):
        planned(load("g1"))
    with pytest.raises(NotSupportedError, match="no drive"):
        planned(load("pendulum"))
    with pytest.raises(NotSupportedError, match="tilt"):
        planned(arm, orientation=False, tilt=0.1)


def run_of(plan, until=np.inf, aside=0.0):
    """A log of a run that does what was planned, apart from what is said, and goes on a little."""
    rows = plan.trajectory.time <= until
    q, v, t = plan.trajectory.q[rows] + aside, plan.trajectory.v[rows], plan.trajectory.time[rows]
    if until == np.inf:
        q, v, t = np.vstack([q, q[-1:]]), np.vstack([v, v[-1:]]), np.append(t, t[-1] + 0.1)
    return Log.of(Column("time", "s", t), Column("q", "", q), Column("v", "", v))


def test_judge(arm, plan):
    found = plan.judge(arm, run_of(plan))
    assert found.trouble is None
    assert found.metrics["run_hand_error_m"] < 1e-9
    assert found.metrics["run_hand_error_rad"] < 1e-6
    off = plan.judge(arm, run_of(plan, aside=0.03))
    assert "from its plan" in off.trouble
    assert off.metrics["run_hand_error_rad"] > 0.03
    assert "before the motion ends" in plan.judge(arm, run_of(plan, until=5.0)).trouble


@pytest.mark.slow
def test_runs(tmp_path):
    out = tmp_path / "run"
    assert _status(["run", "figure-eight", "--out", str(out)]) == 0
    metrics = json.loads((out / "metrics.json").read_text())
    assert metrics["run_hand_error_m"] < 2e-3
    assert metrics["run_hand_error_rad"] < 2e-3
    assert metrics["run_largest_rate_rad_s"] < 1.05 * LIMIT
    assert metrics["max_torque_ratio"] < 0.6
    assert "plan: smallest singular value" in (out / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "status", "text"),
    [
        (["--robot", "g1"], 2, "robot.base=fixed"),
        (["--robot", "arm4"], 2, "motion.plane"),
        (["--set", "motion.frame=tool1"], 2, "tool0"),
        (["--set", "motion.cycles=0"], 2, "motion.cycles"),
        (["--set", "motion.centre=[0.5,0,0]", "--set", "simulation.duration=0.1"], 1, "cannot reach its path"),
        (["--set", "motion.cycles=1", "--set", "simulation.duration=0.1"], 1, "before the motion ends"),
    ],
)
def test_exit_status(words, status, text, tmp_path, capsys):
    assert (
        _status(["run", "figure-eight", *words, "--set", "audit.kind=none", "--out", str(tmp_path / "run")]) == status
    )
    assert text in "".join(capsys.readouterr())
