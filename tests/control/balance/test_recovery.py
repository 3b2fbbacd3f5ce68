"""Steps that catch a robot: the choice of leg and landing, the reach of the trunk, and closed loops."""

from math import exp

import numpy as np
import pytest

import surefoot as sf
from surefoot.control.balance import StepRecovery
from surefoot.control.balance.catch_step import Catcher, CatchStep
from surefoot.control.balance.trunk_swing import TrunkSwing
from surefoot.control.legged import leg_reach
from surefoot.errors import NotSupportedError
from surefoot.robot import anatomy, load
from surefoot.scenario import run_scenario
from surefoot.scenario.build import capture_impulse
from surefoot.sim import Push

OMEGA = 3.7


@pytest.fixture(scope="module")
def catcher():
    robot = load("humanoid", base="floating")
    feet = anatomy(robot).feet
    return Catcher(feet, [foot.sole for foot in feet], leg_reach(robot, anatomy(robot)), OMEGA)


def feet_of(catcher):
    """Both feet side by side, their middle at the origin."""
    half = 0.5 * catcher.legs.apart
    return [np.array([0.0, half if side == "left" else -half, 0.0, 0.0]) for side in catcher.sides]


def test_a_step_lands_where_the_pendulum_ends(catcher):
    """Integrated on its own, the DCM ends at the offset from the landing that the plan expects."""
    poses = feet_of(catcher)
    step = catcher.choose(np.array([0.16, 0.0]), poses)
    dcm, dt = step.seen(np.array([0.16, 0.0])), 1e-5
    for _ in range(round(step.length / dt)):
        dcm = dcm + dt * OMEGA * (dcm - step.found.cop)
    np.testing.assert_allclose(dcm, step.found.landing + step.found.offset, atol=1e-4)
    assert step.found.viable
    assert catcher.margin(step) > catcher.well_inside


def test_the_rear_foot_swings_after_a_step(catcher):
    """A robot in a lunge whose capture point is over the front foot steps on with the other one."""
    for front in range(2):
        poses = feet_of(catcher)
        poses[front][0] += 0.3
        side = 1.0 if catcher.sides[front] == "left" else -1.0
        step = catcher.choose(poses[front][:2] + np.array([0.05, -side * 0.1]), poses)
        assert step.support == front


def test_legs_do_not_cross(catcher):
    poses, rng = feet_of(catcher), np.random.default_rng(3)
    for _ in range(200):
        step = catcher.choose(rng.uniform(-0.4, 0.4, 2), poses)
        width = step.landing[1] * (-1.0 if catcher.sides[step.support] == "left" else 1.0)
        assert catcher.limits.width[0] - 1e-9 <= width <= catcher.limits.width[1] + 1e-9
        assert abs(step.landing[0]) <= catcher.limits.forward[1] + 1e-9


def test_a_step_follows_the_foot_that_stands(catcher):
    """A step is the same wherever the robot stands and looks."""
    poses, dcm, turn = feet_of(catcher), np.array([0.15, 0.05]), 0.7
    R = np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]])
    moved = [np.array([*(R @ pose[:2] + [2.0, 1.0]), 0.3, turn]) for pose in poses]
    here, there = catcher.choose(dcm, poses), catcher.choose(R @ dcm + [2.0, 1.0], moved)
    assert here.support == there.support
    np.testing.assert_allclose(here.landing, there.landing, atol=1e-7)


def test_a_swing_reaches_its_landing_in_time(catcher):
    poses, dcm = feet_of(catcher), np.array([0.16, 0.0])
    step, dt, apex = CatchStep(catcher, 0, poses, dcm), 0.002, 0.0
    while not step.has_landed(None):
        dcm = dcm + dt * OMEGA * (dcm - poses[0][:2] - step.found.cop)
        step.advance(dt, poses, dcm)
        apex = max(apex, step.swing.position[2])
    np.testing.assert_allclose(step.swing.position[:2], step.landing[:2], atol=0.015)
    assert apex > 0.04 * catcher.legs.length
    assert step.clock <= catcher.limits.duration[1] + dt


def test_to_the_side_the_free_foot_closes_up_before_the_other_steps_out():
    """Pushed to the left, the left foot of g1 carries; a quick step of the right one comes before a wide one."""
    robot = load("g1", base="floating")
    feet = anatomy(robot).feet
    catcher = Catcher(feet, [foot.sole for foot in feet], leg_reach(robot, anatomy(robot)), OMEGA)
    poses, left = feet_of(catcher), catcher.sides.index("left")
    close = catcher.choose(np.array([0.0, 0.5 * catcher.legs.apart + 0.04]), poses)
    assert close.support == left
    assert close.landing[1] == pytest.approx(-catcher.limits.width[0])
    poses[1 - left][1] = poses[left][1] + close.landing[1]
    wide = catcher.choose(poses[left][:2] + close.found.landing + close.found.offset, poses)
    assert wide.foot == left
    assert wide.length > close.length
    assert catcher.margin(wide) > -0.02


def test_a_swing_asks_for_no_more_than_the_leg_has(catcher):
    """Along a quintic of the planned duration, speed and acceleration stay within what joints and torques allow."""
    legs, T, way = catcher.legs, catcher.legs.swing_time(0.3, 0.6), 0.3
    s = np.linspace(0.0, 1.0, 1001)
    path = way * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    speed = np.gradient(path, T * s)
    assert max(speed.max() / legs.speed, np.gradient(speed, T * s).max() / (0.6 * legs.acceleration)) == pytest.approx(
        1.0, rel=0.01
    )


def test_feet_stand_flat_as_far_aside_as_the_joints_allow():
    """Pinocchio: with the sole level, a foot moved outward by `aside` has its first joint at a limit."""
    robot = load("g1", base="floating")
    legs = leg_reach(robot, anatomy(robot))
    assert 0.14 < legs.aside < 0.18  # the ankles roll by 15 degrees, the legs are 0.67 m long
    assert legs.aside == pytest.approx(0.2618 * 0.64, rel=0.06)


def test_reach_of_the_trunk_by_integration():
    """A DCM that is beyond the edge by the reach comes to rest on it when the trunk has stopped at its largest lean."""
    swing, b, dt = TrunkSwing(), 0.03, 1e-5
    first = np.sqrt(2.0 * swing.otherwise / (swing.fastest * (1.0 + swing.fastest / swing.braking)))
    end = first * (1.0 + swing.fastest / swing.braking)
    s, lean, rate = swing.reach(OMEGA, b), 0.0, 0.0
    for k in range(round(end / dt)):
        a = swing.fastest if k * dt < first else -swing.braking
        s, lean, rate = s + dt * (OMEGA * s - b * a), lean + dt * rate, rate + dt * a
    assert abs(s) < 1e-3 * exp(OMEGA * end)
    assert lean == pytest.approx(swing.otherwise, rel=1e-3)
    assert rate == pytest.approx(0.0, abs=2e-3)


def pushed(share):
    """A humanoid that is pushed forward by a share of M ω s, on true states."""
    robot = load("humanoid", base="floating")
    size = share * capture_impulse(robot, np.array(robot.home), np.array([1.0, 0.0, 0.0]))
    base = robot.tree.body_names[robot.base_joint]
    push = Push(1.0, 0.1, base, [size / 0.1, 0.0, 0.0, 0.0, 0.0, 0.0], at="com_height")
    control = StepRecovery(robot)
    return control, sf.simulate(robot, control, sf.World(), 2.6, events=[push], self_collision=True)


@pytest.mark.slow
def test_a_fall_is_foreseen():
    """The capture point has left what steps can catch well before the robot lies on the ground."""
    _, log = pushed(5.0)
    fall = log.metadata["fall_time_s"]
    lost = log.time[np.flatnonzero(log["control.capturable"] == 0.0)[0]]
    assert fall is not None
    assert 1.0 < lost < fall - 0.3


def test_steps_when_pushed_beyond_what_it_can_hold():
    robot = load("humanoid", base="floating")
    size = 1.7 * capture_impulse(robot, np.array(robot.home), np.array([1.0, 0.0, 0.0]))
    push = Push(
        1.0, 0.1, robot.tree.body_names[robot.base_joint], [size / 0.1, 0.0, 0.0, 0.0, 0.0, 0.0], at="com_height"
    )
    control = StepRecovery(robot)
    log = sf.simulate(robot, control, sf.World(), 2.6, events=[push], self_collision=True)
    assert log.metadata["fall_time_s"] is None
    assert control.steps >= 1
    assert log["base.tilt"][-1] < 0.1
    assert np.linalg.norm(log["control.com"][-1] - log["control.com_reference"][-1]) < 0.05


def test_stands_without_a_step_if_it_is_not_pushed():
    control = StepRecovery(sf.load("humanoid"))
    sf.simulate(control.robot, control, sf.World(), 1.2)
    assert control.steps == 0


def test_needs_two_feet():
    with pytest.raises(NotSupportedError, match="steps with two"):
        StepRecovery(sf.load("anymal"))


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["g1", "talos", "humanoid"])
@pytest.mark.parametrize("seed", [0, 1])
def test_step_recovery(robot, seed, tmp_path):
    found = run_scenario("step-recovery", robot=robot, seed=seed, out=tmp_path / "run", overrides=["audit.kind=none"])
    assert found.metrics["verdict"] == "passed"
    assert found.metrics["steps"] >= 1
