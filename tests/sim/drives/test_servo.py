"""Hobby servos: rate, dead band, steps, and against an ideal drive."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.errors import NotSupportedError
from surefoot.motion import Command
from surefoot.sim.drives.drives import DriveBank
from tests.sim.drive_examples import SERVO, Held, Joints, robot_of, run, torque

RATE, LIMIT, KP, KD = (SERVO[key] for key in ("speed_limit", "torque_limit", "servo_stiffness", "servo_damping"))
INERTIA = 1e-3
DT = 0.002


def go_to(*position: float, gain: float = 1.0) -> Command:
    return Command(position=np.array(position), kp=np.full(len(position), gain))


def bank_of(**changes: float) -> DriveBank:
    return DriveBank(robot_of({**SERVO, **changes}), "servo")


@pytest.mark.parametrize("target", [0.7, -0.7])
def test_the_reference_is_a_ramp_and_then_exactly_the_target(target):
    joints, bank = Joints(INERTIA), bank_of()
    bank.reset(joints.q, joints.v)
    for k in range(1, 100):
        joints.advance(bank.act(go_to(target), joints.q, joints.v))
        wanted = np.sign(target) * min(RATE * DT * k, abs(target))
        np.testing.assert_allclose(bank.readings()["servo_reference"], wanted, rtol=1e-12)
    assert bank.readings()["servo_reference"][0] == target


@pytest.mark.parametrize("inertia", [2e-4, 1e-3])  # at most critically damped: kd² ≥ 4 kp I
def test_the_joint_is_never_faster_than_the_rate_and_arrives(inertia):
    joints = Joints(inertia)
    speeds = run(bank_of(), joints, go_to(1.0), 600)["v"]
    assert speeds.max() <= RATE * (1.0 + 1e-9)
    assert speeds.max() > 0.99 * RATE
    np.testing.assert_allclose(joints.q, 1.0, atol=1e-6)


def test_on_the_ramp_it_lags_by_damping_times_rate_over_stiffness():
    joints, bank = Joints(INERTIA), bank_of(torque_limit=50.0)
    run(bank, joints, go_to(2.0), 180)
    np.testing.assert_allclose(bank.readings()["servo_reference"] - joints.q, KD * RATE / KP, rtol=1e-3)


def test_an_ideal_drive_is_there_before_the_servo_and_both_end_alike():
    slow, fast = Joints(INERTIA), Joints(INERTIA)
    ideal = DriveBank(robot_of(SERVO), "torque")
    stiff = Command(position=np.array([1.0]), kp=np.array([KP]), kd=np.array([KD]))
    servo, plain = run(bank_of(), slow, go_to(1.0), 800)["q"], run(ideal, fast, stiff, 800)["q"]
    assert (plain - servo >= -1e-9).all()
    assert (plain - servo).max() > 0.02
    np.testing.assert_allclose(slow.q, fast.q, atol=1e-6)


def test_under_load_it_sags_by_load_over_stiffness_and_yields_beyond_its_torque():
    joints = Joints(INERTIA)
    run(bank_of(), joints, go_to(0.0), 800, load=0.5)
    np.testing.assert_allclose(joints.q, 0.5 / KP, rtol=1e-6)
    run(bank_of(), joints, go_to(0.0), 800, load=1.2)
    assert joints.q[0] > 1.0
    np.testing.assert_allclose(joints.torque, -LIMIT)


def test_inside_the_dead_band_nothing_holds_the_joint():
    band = 0.02
    joints, bank = Held(1.0, position=0.3), bank_of(servo_dead_band=band)
    bank.reset(joints.q, joints.v)
    for error, wanted in [(0.015, 0.0), (-0.015, 0.0), (0.03, KP * 0.01), (-0.05, -KP * 0.03)]:
        for _ in range(10):
            joints.advance(bank.act(go_to(0.3 + error), joints.q, joints.v))
        np.testing.assert_allclose(joints.torque, wanted, atol=1e-12)
    loaded = Joints(INERTIA)
    run(bank_of(servo_dead_band=band), loaded, go_to(0.0), 800, load=0.5)
    np.testing.assert_allclose(loaded.q, band + 0.5 / KP, rtol=1e-6)


@pytest.mark.parametrize(("target", "heard"), [(0.099, 0.096), (0.101, 0.104), (-0.0041, -0.008), (0.0039, 0.0)])
def test_positions_are_heard_in_steps(target, heard):
    bank, joints = bank_of(servo_step=0.008), Joints(INERTIA)
    run(bank, joints, go_to(target), 50)
    np.testing.assert_allclose(bank.readings()["servo_reference"], heard, atol=1e-12)


def test_gains_and_torque_of_the_command_are_not_for_it():
    first, second = Joints(INERTIA), Joints(INERTIA)
    noisy = Command(torque=np.ones(1), position=np.array([0.4]), velocity=np.ones(1), kp=np.full(1, 1e4), kd=np.ones(1))
    np.testing.assert_array_equal(run(bank_of(), first, go_to(0.4), 100)["q"], run(bank_of(), second, noisy, 100)["q"])


def test_without_position_it_refuses_by_name():
    with pytest.raises(NotSupportedError, match="servo of `j0` takes positions"):
        bank_of().act(torque(0.1), [0.0], [0.0])


def test_a_wheel_goes_the_short_way_round():
    bank = DriveBank(robot_of(SERVO, kind="continuous"), "servo")
    joints = Joints(INERTIA, position=3.0)
    run(bank, joints, go_to(-3.0), 600)
    np.testing.assert_allclose(joints.q, 2.0 * np.pi - 3.0, atol=1e-6)
