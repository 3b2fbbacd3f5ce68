"""Torque limits that fall with speed."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.motion import Command
from surefoot.sim.drives.drives import DriveBank
from tests.sim.drive_examples import Held, Joints, robot_of, run, torque

CURVE = {"torque_limit": 10.0, "speed_limit": 5.0, "corner_speed": 3.0}
SPEEDS = np.linspace(-7.0, 7.0, 57)


@pytest.mark.parametrize("corner", [0.0, 3.0, 5.0, np.inf])
def test_the_limits_are_those_of_the_drive_both_ways(corner):
    robot = robot_of({**CURVE, "corner_speed": corner})
    for speed in SPEEDS:
        given = DriveBank(robot, "torque_speed").act(torque(0.0), [0.0], [speed])
        np.testing.assert_allclose(given.upper, robot.drives[0].torque_at_speed(speed), atol=1e-12)
        np.testing.assert_allclose(given.lower, -robot.drives[0].torque_at_speed(-speed), atol=1e-12)


@pytest.mark.parametrize("wanted", [100.0, -100.0, 4.0])
def test_a_held_joint_gets_what_the_curve_allows_in_every_step(wanted):
    robot = robot_of(CURVE)
    for speed in SPEEDS:
        joints = Held(1.0, speed)
        found = run(DriveBank(robot), joints, torque(wanted), 4)["torque"]
        most = robot.drives[0].torque_at_speed(np.sign(wanted) * speed)
        np.testing.assert_allclose(found, np.sign(wanted) * min(abs(wanted), most), atol=1e-12)


@pytest.mark.parametrize("inertia", [1e-6, 1e-3, 0.1, 1.0])
def test_at_full_throttle_every_joint_comes_to_the_top_speed_without_swinging(inertia):
    joints = Joints(inertia)
    speeds = run(DriveBank(robot_of(CURVE)), joints, torque(100.0), 2500)["v"][:, 0]
    np.testing.assert_allclose(speeds[-1], 5.0, rtol=1e-3)
    assert (np.diff(speeds[2:]) >= -1e-9).all() or speeds[2:].min() > 4.999


@pytest.mark.parametrize("inertia", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("kp", [1e2, 1e6])
def test_a_stiff_spring_within_the_curve_does_not_chatter(kp, inertia):
    """Commands jump far beyond the limit; the implicit spring settles as it does without the curve."""
    gains = {"kp": np.array([kp]), "kd": np.array([0.2 * kp])}

    def steps(t: float) -> Command:
        return Command(position=np.array([0.3 if t % 4.0 < 2.0 else -0.2]), **gains)

    joints = Joints(inertia)
    found = run(DriveBank(robot_of(CURVE)), joints, steps, 2000)
    np.testing.assert_allclose(joints.q, -0.2, atol=1e-3)
    rest = found["torque"][900:1000, 0]
    assert (np.diff(np.abs(rest)) <= 1e-9).all(), "dies out"


def test_an_ideal_source_takes_from_the_supply_what_it_gives(rng):
    wanted = 30.0 * rng.standard_normal(300)
    joints, bank = Joints(0.02, 1.0), DriveBank(robot_of(CURVE))
    start = joints.kinetic
    run(bank, joints, lambda t: torque(wanted[round(t / 0.002)]), 300)
    np.testing.assert_allclose(bank.electrical_work, joints.kinetic - start, rtol=1e-11)
    assert bank.loss == bank.energy == 0.0
