"""The plan of a walk: its DCM obeys the pendulum, the leg that swings is part of it, and small steps are not made."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pinocchio as pin
import pytest

import surefoot as sf
from surefoot.control.legged import foot_momenta, leg_reach
from surefoot.control.walking.plan import StepPlan
from surefoot.control.walking.settings import WalkSettings, paced_times, walk_settings, yaw_share
from surefoot.robot import anatomy

OMEGA = 3.9


@pytest.fixture(scope="module")
def g1():
    return sf.load("g1")


def planned(robot, recoil=None) -> StepPlan:
    """A plan of three steps ahead, just after lift-off."""
    body, legs = anatomy(robot), leg_reach(robot, anatomy(robot))
    legs = legs if recoil is None else replace(legs, recoil=recoil, recoil_slope=0.0)
    plan = StepPlan(body.feet, [foot.sole for foot in body.feet], WalkSettings(), legs, OMEGA)
    side = -1.0 if plan.sides[0] == "left" else 1.0
    plan.stand_on(0, [np.zeros(4), np.array([-0.3, 0.24 * side, 0.0, 0.0])])
    plan.coming = [np.array([0.3 * (k + 1), 0.24 * side * ((k + 1) % 2), 0.0, 0.0]) for k in range(3)]
    plan.lift_off(0.6, np.array([-0.3, 0.24 * side, 0.0, 0.0]))
    return plan


@pytest.mark.parametrize("recoil", [0.0, 0.005])
def test_the_dcm_of_a_swing_obeys_the_pendulum(g1, recoil):
    """ξ̇ = ω (ξ − p) by finite differences, with the moment of the leg that swings and without."""
    plan, h = planned(g1, recoil), 1e-5
    for t in np.linspace(0.03, 0.57, 10):
        p, dcm = plan.reference(t)
        rate = (plan.reference(t + h)[1] - plan.reference(t - h)[1]) / (2.0 * h)
        np.testing.assert_allclose(rate, OMEGA * (dcm - p), atol=1e-4)


def test_the_leg_that_swings_moves_the_force_back_then_ahead(g1):
    """Recoil times the peak acceleration 10/√3 d/T² of a quintic, at its time; nothing at start and middle."""
    plan, middle = planned(g1, 0.005), planned(g1, 0.0).reference(0.3)[0]
    peak, at = 0.005 * 10.0 / 3**0.5 * 0.6 / 0.6**2, 0.6 * (0.5 - 0.5 / 3**0.5)
    assert plan.reference(at)[0][0] == pytest.approx(middle[0] - peak)
    assert plan.reference(0.6 - at)[0][0] == pytest.approx(middle[0] + peak)
    for t in (0.0, 0.3):
        assert plan.reference(t)[0] == pytest.approx(middle, abs=1e-9)


def test_a_leg_that_is_heavier_behind_turns_the_force_ahead_in_mid_swing(g1):
    """−L̇ of L = (c₀ + c₁ x) ẋ by finite differences; 0 at the ends, where the hips alone move."""
    body, legs = anatomy(g1), replace(leg_reach(g1, anatomy(g1)), recoil=0.004, recoil_slope=-0.007)
    plan = StepPlan(body.feet, [foot.sole for foot in body.feet], WalkSettings(), legs, OMEGA)
    plan.stand_on(0, [np.zeros(4), np.array([-0.3, 0.0, 0.0, 0.0])])
    plan.coming = [np.array([0.3, 0.0, 0.0, 0.0])]
    plan.lift_off(0.6, np.array([-0.3, 0.0, 0.0, 0.0]))
    hips = np.array([-0.3 * 0.35, 0.3 * 0.4])
    rate = float(np.diff(hips)[0]) / 0.6

    def momentum(t: float) -> float:
        s = t / 0.6
        foot = -0.3 + 0.6 * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        speed = 0.6 * 30.0 * s**2 * (1.0 - s) ** 2 / 0.6
        return (0.004 - 0.007 * (foot - hips[0] - rate * t)) * (speed - rate)

    for share in (0.1, 0.35, 0.5, 0.65, 0.9):
        t, h = 0.6 * share, 1e-5
        wanted = -(momentum(t + h) - momentum(t - h)) / (2.0 * h) - 0.007 * rate**2
        assert plan.reference(t)[0][0] == pytest.approx(wanted, abs=1e-6)
    assert plan.reference(0.3)[0][0] > 0.01
    assert plan.reference(0.0)[0][0] == pytest.approx(0.0, abs=1e-9)


@pytest.mark.parametrize(
    ("name", "moved"),
    [("g1", (0.0, 0.0)), ("g1", (-0.15, 0.08)), ("talos", (0.0, 0.0)), ("humanoid", (0.0, 0.0)), ("icub", (0.0, 0.0))],
)
def test_recoil_is_the_angular_momentum_of_a_foot_that_moves_ahead(name, moved):
    """Against the momentum that Pinocchio has for a leg of which two postures are a small step apart."""
    robot = sf.load(name)
    foot, model = anatomy(robot).feet[0], robot.model
    data, q, h = model.createData(), np.array(robot.home), 1e-3
    place = robot.placements(q)[foot.link]
    ahead = (place @ foot.placement)[:3, 0]
    base = robot.tree.body_names[robot.base_joint]
    still = sf.tasks.FramePose(base, robot.placements(q)[base], name="base")

    def moved_by(way):
        target = place.copy()
        target[:3, 3] += way
        return sf.ik.solve(robot, [sf.tasks.FramePose(foot.link, target, name="foot"), still], q).q

    start = np.array([0.0, 0.0, moved[1]]) + moved[0] * ahead
    q = moved_by(start)
    v = pin.difference(model, q, moved_by(start + h * ahead)) / h
    moment = np.cross(pin.computeCentroidalMomentum(model, data, q, v).angular, ahead)[2]
    assert -foot_momenta(robot, anatomy(robot).feet, moved)[0][1] == pytest.approx(moment, rel=0.1)
    if not any(moved):
        weight = robot.mass * float(np.linalg.norm(robot.tree.gravity))
        assert leg_reach(robot, anatomy(robot)).recoil == pytest.approx(moment / weight, rel=0.1)


def test_small_steps_are_not_worth_it(g1):
    plan = planned(g1)
    other, little = np.array([0.0, -0.24, 0.0, 0.0]), 0.9 * plan.worth
    assert not plan.is_worth([], other)
    assert not plan.is_worth([other + np.array([little, 0.0, 0.0, 0.04])], other)
    assert plan.is_worth([other + np.array([0.0, 1.2 * plan.worth, 0.0, 0.0])], other)
    assert plan.is_worth([other, np.array([0.0, 0.0, 0.0, 0.06])], other)


def test_quick_steps_free_the_trunk(g1):
    usual = walk_settings(g1, 0.2)
    omega = float(np.sqrt(9.81 / usual.height))
    shares = [yaw_share(replace(usual, single=usual.single / pace), omega) for pace in (0.8, 1.0, 1.2, 1.5)]
    assert shares[0] == shares[1] == pytest.approx(1.0, abs=0.02)
    assert 1.0 > shares[2] > shares[3] >= 0.1


def test_the_last_step_keeps_the_dcm_as_far_from_its_support_as_any_other(g1):
    """At lift-off, the DCM of a robot that closes its feet is as far inward as that of one that goes on."""
    lateral = []
    for count in (1, 3):
        plan = planned(g1, 0.0)
        plan.coming = plan.coming[:count]
        for k, step in enumerate(plan.coming):
            step[0] = 0.0 if k < count else step[0]
        plan.lift_off(0.6, np.array([0.0, plan.other[1], 0.0, 0.0]))
        lateral.append(abs(plan.reference(0.0)[1][1] - plan.zmp_of(0)[1]))
    assert lateral[0] > 0.9 * lateral[1]


def test_closing_ends_between_the_feet(g1):
    plan = planned(g1)
    took = plan.close(0.2)
    middle = 0.5 * (plan.zmp_of(0) + plan.other_zmp())
    for value in plan.reference(took):
        np.testing.assert_allclose(value, middle, atol=1e-9)
    np.testing.assert_allclose(plan.reference(0.2)[0], plan.zmp_of(0), atol=1e-9)


def test_a_robot_that_falls_sideways_does_not_lift_the_foot_that_carries_it(g1):
    """A DCM beyond the outer edge of a foot: the other foot closes up if that helps, and else none moves."""
    plan = planned(g1)
    side = 1.0 if plan.sides[0] == "left" else -1.0
    poses = [np.zeros(4), np.array([0.0, -0.24 * side, 0.0, 0.0])]
    plan.stand_on(0, poses)
    plan.rest(np.zeros(2), 0.0)
    edge = np.abs(plan._soles[0]).max(axis=0)
    support, landing, _ = plan.recovery(np.array([0.0, side * (edge[1] + 0.001)]), poses)
    assert support == 0
    assert abs(landing[1]) < 0.24
    assert plan.recovery(np.array([0.0, side * (edge[1] + 0.02)]), poses) is None
    assert plan.recovery(np.array([edge[0] + 0.1, -0.12 * side]), poses)[1][0] > 0.1


@pytest.mark.parametrize("pace", [0.5, 1.0, 1.4, 5.0])
def test_quicker_steps_take_their_time_from_both_feet(pace):
    settings = WalkSettings(single=0.6, double=0.2)
    single, double = paced_times(settings, pace)
    assert single + double == pytest.approx(0.8 / pace)
    assert 0.0 < double <= 0.2 / pace + 1e-12
    assert single >= 0.6 / pace - 1e-12
