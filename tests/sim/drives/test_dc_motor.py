"""DC motors against closed forms and the coupled differential equation."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.motion import Command
from surefoot.sim.drives.drives import DriveBank
from tests.sim.drive_examples import MOTOR, Held, Joints, robot_of, run, torque

R, L, U = MOTOR["resistance"], MOTOR["inductance"], MOTOR["voltage"]
GAIN = MOTOR["gear_ratio"] * MOTOR["torque_constant"]
ALL = torque(1e6)


def bank_of(dt: float = 0.002, **changes: float) -> DriveBank:
    return DriveBank(robot_of({**MOTOR, **changes}), dt=dt)


def test_without_load_the_motor_reaches_supply_over_gain():
    joints = Joints(0.05)
    run(bank_of(), joints, ALL, 2000)
    np.testing.assert_allclose(joints.v, U / GAIN, rtol=1e-9)


def test_stalled_it_has_the_torque_of_supply_over_resistance():
    joints, bank = Held(1.0), bank_of()
    run(bank, joints, ALL, 50)
    np.testing.assert_allclose(joints.torque, GAIN * U / R, rtol=1e-9)
    np.testing.assert_allclose(bank.readings()["current"], U / R, rtol=1e-9)


@pytest.mark.parametrize("speed", [-12.0, -3.0, 0.0, 4.0, 9.0, 11.0])
@pytest.mark.parametrize("side", [1.0, -1.0])
def test_at_held_speed_the_torque_lies_on_the_line(speed, side):
    joints, bank = Held(1.0, speed), bank_of()
    run(bank, joints, torque(1e6 * side), 50)
    np.testing.assert_allclose(joints.torque, GAIN * (side * U - GAIN * speed) / R, rtol=1e-9)
    np.testing.assert_allclose(bank.readings()["voltage"], side * U, rtol=1e-9)


@pytest.mark.parametrize("inductance", [1e-4, 1e-3, 0.05])
def test_the_current_of_a_stalled_motor_rises_with_the_electrical_time_constant(inductance):
    bank, joints = bank_of(inductance=inductance), Held(1.0)
    bank.reset(joints.q, joints.v)
    for k in range(1, 6):
        joints.advance(bank.act(ALL, joints.q, joints.v))
        bank.settle(joints.q, joints.v)
        wanted = U / R * -np.expm1(-k * bank.dt * R / inductance)
        np.testing.assert_allclose(bank.readings()["current"], wanted, rtol=1e-12)


def coupled(inertia: float, viscous: float, end: float) -> tuple[float, float, float]:
    """Current, speed and heat of motor and joint at full voltage."""

    def rates(_: float, x: np.ndarray) -> list[float]:
        i, v, _ = x
        return [(U - R * i - GAIN * v) / L, (GAIN * i - viscous * v) / inertia, R * i * i]

    return tuple(solve_ivp(rates, (0.0, end), [0.0, 0.0, 0.0], rtol=1e-10, atol=1e-12, method="LSODA").y[:, -1])


def test_winding_and_joint_together_follow_their_differential_equation():
    inertia, viscous, end = 0.2, 0.5, 0.05  # mechanical time constant I R / gain² = 64 ms
    i, v, heat = coupled(inertia, viscous, end)
    errors = []
    for dt in (2e-4, 1e-4):
        joints, bank = Joints(inertia, viscous=viscous, dt=dt), bank_of(dt)
        run(bank, joints, ALL, round(end / dt))
        found = np.array([bank.readings()["current"][0], joints.v[0], bank.loss])
        errors.append(np.abs(found / [i, v, heat] - 1.0))
    assert (errors[1] < 3e-3).all()
    assert (errors[1][1:] < 0.6 * errors[0][1:]).all(), "first order in speed and heat"


def test_the_mechanical_time_constant():
    inertia = 0.2
    constant = inertia * R / GAIN**2
    dt = constant / 1000
    joints = Joints(inertia, dt=dt)
    run(bank_of(dt, inductance=0.0), joints, ALL, 1000)
    np.testing.assert_allclose(joints.v, U / GAIN * (1.0 - np.exp(-1.0)), rtol=1e-3)


@pytest.mark.parametrize("inductance", [0.0, 1e-3, 0.5e-2])
def test_where_the_voltage_suffices_the_wanted_torque_comes(inductance):
    joints, bank = Held(1.0, 2.0), bank_of(inductance=inductance)
    run(bank, joints, torque(7.0), 1)
    np.testing.assert_allclose(bank.readings()["current"], 7.0 / GAIN, rtol=1e-12)
    run(bank, joints, torque(7.0), 2)
    np.testing.assert_allclose(joints.torque, 7.0, rtol=1e-12)
    if inductance == 0.0:
        np.testing.assert_allclose(bank.readings()["voltage"], R * 7.0 / GAIN + GAIN * 2.0, rtol=1e-12)


def test_the_torque_limit_bounds_the_current():
    joints, bank = Held(1.0), bank_of(torque_limit=5.0)
    run(bank, joints, torque(-100.0), 20)
    np.testing.assert_allclose(bank.readings()["current"], -5.0 / GAIN, rtol=1e-12)


@pytest.mark.parametrize("inductance", [0.0, 1e-3, 0.1])
def test_supply_is_kinetic_energy_and_heat_and_field(rng, inductance):
    wanted = 200.0 * rng.standard_normal(400)
    joints, bank = Joints(0.03, velocity=-4.0), bank_of(inductance=inductance, torque_limit=25.0)
    start = joints.kinetic
    run(bank, joints, lambda t: torque(wanted[round(t / 0.002)]), 400)
    assert bank.loss > 0.0
    gained = joints.kinetic - start
    np.testing.assert_allclose(bank.electrical_work, gained + bank.loss + bank.energy, rtol=1e-11)
    np.testing.assert_allclose(joints.work.sum(), gained, rtol=1e-9)
    np.testing.assert_allclose(bank.energy, 0.5 * inductance * bank.readings()["current"][0] ** 2, rtol=1e-12)


@pytest.mark.parametrize("inertia", [1e-6, 1e-4, 1e-2])
def test_a_strong_gear_on_a_light_joint_does_not_swing(inertia):
    """Back-EMF taken at the start of a step would swing up below an inertia of gain² dt / (2 R) = 3e-3."""
    joints = Joints(inertia, velocity=3.0 * U / GAIN)
    speeds = run(bank_of(inductance=0.0), joints, ALL, 400)["v"][2:]
    np.testing.assert_allclose(speeds[-1], U / GAIN, rtol=1e-6)
    change = np.diff(speeds[:, 0])
    assert (change >= -1e-9).all() or (change <= 1e-9).all(), "one way"


@pytest.mark.parametrize("inertia", [1e-4, 1e-2, 1.0])
@pytest.mark.parametrize("kp", [30.0, 3e4])
def test_a_position_loop_through_the_motor_comes_to_rest_at_its_target(kp, inertia):
    command = Command(position=np.array([0.5]), kp=np.array([kp]), kd=np.array([2.0 * np.sqrt(kp * inertia)]))
    joints, bank = Joints(inertia), bank_of(torque_limit=20.0)
    run(bank, joints, command, 3000)
    np.testing.assert_allclose(joints.q, 0.5, atol=1e-6)
    np.testing.assert_allclose(joints.v, 0.0, atol=1e-5)


def test_the_rotor_turns_with_the_joint():
    joints, bank = Joints(0.1, position=0.3), bank_of()
    run(bank, joints, torque(3.0), 100)
    np.testing.assert_allclose(bank.readings()["motor_angle"], MOTOR["gear_ratio"] * joints.q, rtol=1e-12)
