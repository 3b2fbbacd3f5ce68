"""Closed loops of the balance controller: it stands, squats, reaches, lifts feet and takes pushes."""

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.balance import BalanceController, Lift, Squat
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.motion import Log
from surefoot.scenario import run_scenario
from surefoot.sim import Push
from tests.control.walking.random_biped import random_biped


@pytest.mark.parametrize("name", ["small-humanoid", pytest.param("hexapod", marks=pytest.mark.slow)])
def test_squats_on_two_and_on_six_feet(name):
    robot = sf.load(name)
    control = BalanceController(robot, [Squat(0.01, start=0.0, duration=0.5, ramp=0.25, frequency=0.0)])
    log = sf.simulate(robot, control, sf.World(), 0.6, self_collision=True)
    off = np.linalg.norm(log["control.com"] - log["control.com_reference"], axis=1)
    assert log.metadata["fall_time_s"] is None
    assert off.max() < 2e-3
    assert log["control.fallbacks"][-1] == 0.0
    assert control.timeline.ended == {0}
    lowest = log["com.height"].min()
    assert log["com.height"][0] - lowest > 0.008  # the true height, not that of the controller


@pytest.mark.parametrize("seed", [301, pytest.param(905, marks=pytest.mark.slow)])
def test_a_robot_nobody_knows_lowers_itself_on_straight_legs_with_its_trunk_upright(seed, tmp_path):
    """301: its legs first get longer when the knees bend; 905: it begins with its weight over the heels."""
    file = tmp_path / "biped.urdf"
    file.write_text(random_biped(seed))
    robot = sf.load(file)
    log = sf.simulate(robot, BalanceController(robot), sf.World(), 0.9)
    assert np.rad2deg(log["base.tilt"].max()) < 3.0  # 54° with legs led by the centre of mass
    off = log["control.com"] - log["control.com_reference"]
    assert np.linalg.norm(off[:, :2], axis=1).max() < 0.01 * log["com.height"][0]
    assert log["com.height"][-1] == pytest.approx(0.94 * log["com.height"][0], rel=0.01)


def test_the_spin_of_the_whole_body_problem_is_what_was_asked_for():
    robot = sf.load("small-humanoid")
    control = BalanceController(robot)
    state = sf.State.of(robot)
    control.command(0.0, state)
    body = control.body
    body.spin(np.array([0.0, 0.3, 0.0]), 0.0)
    body.command(0.0, np.asarray(state.q), np.zeros(robot.nv))
    import pinocchio as pin

    Ag = pin.computeCentroidalMap(robot.model, robot.model.createData(), np.array(state.q))
    found = body.problem.solve(np.asarray(state.q), np.zeros(robot.nv))
    np.testing.assert_allclose((Ag @ found.acceleration)[3:], [0.0, 0.3, 0.0], atol=1e-4)


def test_refuses_what_cannot_be():
    with pytest.raises(NotSupportedError, match="feet"):
        BalanceController(sf.load("panda"))
    with pytest.raises(UnknownNameError, match="foot"):
        BalanceController(sf.load("small-humanoid"), [Lift("left_hand")])


@pytest.mark.slow
@pytest.mark.parametrize("angle", range(0, 360, 45))
def test_takes_a_whole_capture_impulse_from_each_side(angle):
    from surefoot.scenario.build.events import capture_impulse

    robot = sf.load("g1")
    u = np.array([np.cos(np.deg2rad(angle)), np.sin(np.deg2rad(angle)), 0.0])
    force = 1.05 * capture_impulse(robot, np.array(robot.home), u) / 0.1 * u
    push = Push(1.0, 0.1, "pelvis", np.r_[force, np.zeros(3)], "com_height")
    log = sf.simulate(robot, BalanceController(robot), sf.World(), 4.1, events=[push], self_collision=True)
    assert log.metadata["fall_time_s"] is None
    assert log["base.tilt"][-1] < np.deg2rad(20.0)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["stand", "squat", "lean", "one-leg", "reach-wbc", "wipe", "push", "hip-push"])
def test_scenarios_pass_on_estimates(tmp_path, name):
    result = run_scenario(name, out=tmp_path / "run", overrides=["audit.kind=none"])
    assert result.passed, result.metrics["verdict"]


@pytest.mark.slow
def test_talos_lifts_a_leg_under_a_steady_force(tmp_path):
    """Nenchev & Konno 2019, §5: (0, −20, −20) N from 3 to 5 s while a leg is lifted."""
    force = 'events=[{kind="push", time=3.0, duration=2.0, force=[0.0, -20.0, -20.0]}]'
    result = run_scenario("one-leg", "talos", out=tmp_path / "run", overrides=["audit.kind=none", force])
    assert result.passed, result.metrics["verdict"]


@pytest.mark.slow
def test_supports_are_left_one_by_one_with_continuous_forces(tmp_path):
    """Nenchev & Konno 2019, figs. 5.26 and 5.27: left foot unloaded at 7 s, hand at 9 s, no force jumps."""
    run = run_scenario("support-transition", out=tmp_path / "run", overrides=["audit.kind=none"])
    assert run.passed, run.metrics["verdict"]
    log, weight = Log.load(run.path / "log.parquet"), sf.load("small-humanoid").mass * 9.81
    for name, (full, left, until) in {"left_foot": (5.0, 7.3, 10.0), "palm": (7.0, 10.3, 14.0)}.items():
        force = np.linalg.norm(log[f"contact.{name}.wrench"][:, :3], axis=1)
        assert force[log.time == log.time[np.searchsorted(log.time, full)]][0] > 3.0
        assert force[(log.time > left) & (log.time < until)].max() < 0.5
        smooth = np.convolve(force, np.ones(25) / 25, "valid")
        assert np.abs(smooth[25:] - smooth[:-25])[500:].max() < 0.1 * weight
