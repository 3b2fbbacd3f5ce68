"""Elastic gears against the two-mass oscillator and the rigid drive."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.motion import Command
from surefoot.sim.drives.drives import DriveBank
from tests.sim.drive_examples import GEAR, Held, Joints, robot_of, run, torque

N, K, D = GEAR["gear_ratio"], GEAR["stiffness"], GEAR["damping"]
J = N**2 * GEAR["rotor_inertia"]
REST = torque(0.0)


def bank_of(dt: float = 0.002, **changes: float) -> DriveBank:
    return DriveBank(robot_of({**GEAR, **changes}), dt=dt)


def rotor(bank: DriveBank) -> float:
    return float(bank.readings()["motor_angle"][0]) / N


def kicked(bank: DriveBank, joints: Joints, speed: float) -> None:
    """Rotor at rest, joint at a speed: relative motion about a common drift."""
    bank.reset(joints.q, joints.v)
    joints.v = np.full_like(joints.v, speed)


def test_two_masses_swing_with_the_closed_form_frequency():
    inertia, dt = 0.1, 2e-5
    omega = np.sqrt(K * (1.0 / inertia + 1.0 / J))
    joints, bank = Joints(inertia, dt=dt), bank_of(dt, damping=0.0)
    kicked(bank, joints, 1.0)
    twist, steps = [], round(1.75 * 2.0 * np.pi / omega / dt)
    for _ in range(steps):
        joints.advance(bank.act(REST, joints.q, joints.v))
        bank.settle(joints.q, joints.v)
        twist.append(joints.q[0] - rotor(bank))
    crossings = np.flatnonzero(np.diff(np.sign(twist)))
    np.testing.assert_allclose(np.diff(crossings) * dt, np.pi / omega, rtol=2e-3)
    np.testing.assert_allclose(max(twist), 1.0 / omega, rtol=5e-3)
    swing = 0.5 * inertia * J / (inertia + J) * np.exp(-(omega**2) * dt * steps * dt)  # damping ratio ω dt / 2
    np.testing.assert_allclose(joints.kinetic + bank.energy, 0.5 * inertia**2 / (inertia + J) + swing, rtol=1e-3)


def swinging(inertia: float, end: float, motor: float) -> np.ndarray:
    """Joint and rotor (angle, speed each), work of the damper."""

    def rates(_: float, x: np.ndarray) -> list[float]:
        q, v, phi, w, _ = x
        gear = K * (phi - q) + D * (w - v)
        return [v, gear / inertia, w, (motor - gear) / J, D * (w - v) ** 2]

    return solve_ivp(rates, (0.0, end), [0.0, 0.0, 0.0, 0.0, 0.0], rtol=1e-10, atol=1e-13, method="LSODA").y[:, -1]


def test_rotor_and_joint_follow_their_differential_equation_at_first_order():
    inertia, end, motor = 0.1, 0.04, 10.0
    q, v, phi, w, heat = swinging(inertia, end, motor)
    errors = []
    for dt in (1e-4, 5e-5):
        joints, bank = Joints(inertia, dt=dt), bank_of(dt)
        run(bank, joints, torque(motor), round(end / dt))
        errors.append(np.abs(np.array([joints.q[0], joints.v[0], rotor(bank), bank.loss]) / [q, v, phi, heat] - 1.0))
        power = 0.5 * J * w**2 + 0.5 * K * (phi - q) ** 2
        np.testing.assert_allclose(bank.energy, power, rtol=5e-3)
    assert (errors[1] < 8e-3).all()
    assert (errors[1] < 0.65 * errors[0]).all(), errors


@pytest.mark.parametrize("stiffness", [1e6, 1e9, 1e12])
def test_an_infinitely_stiff_gear_is_a_rigid_drive_with_armature(rng, stiffness):
    wanted = 20.0 * rng.standard_normal(200)
    soft, rigid = Joints(0.3, 0.5), Joints(0.3 + J, 0.5)
    elastic = run(bank_of(stiffness=stiffness), soft, lambda t: torque(wanted[round(t / 0.002)]), 200, load=-1.0)
    plain = DriveBank(robot_of({}))
    stiff = run(plain, rigid, lambda t: torque(wanted[round(t / 0.002)]), 200, load=-1.0)
    np.testing.assert_allclose(elastic["q"], stiff["q"], atol=2e3 / stiffness + 1e-9)
    np.testing.assert_allclose(elastic["v"], stiff["v"], atol=2e6 / stiffness + 1e-7)


@pytest.mark.parametrize("inertia", [1e-5, 1e-2, 10.0])
@pytest.mark.parametrize("stiffness", [1.0, 1e3, 1e6, 1e10])
def test_however_stiff_the_gear_energy_does_not_grow(stiffness, inertia):
    joints, bank = Joints(inertia), bank_of(stiffness=stiffness, damping=0.0)
    kicked(bank, joints, 1.0)
    before = joints.kinetic
    for _ in range(300):
        joints.advance(bank.act(REST, joints.q, joints.v))
        bank.settle(joints.q, joints.v)
        now = joints.kinetic + bank.energy
        assert now <= before * (1.0 + 1e-9)
        before = now


def test_supply_is_kinetic_energy_and_loss_and_what_is_stored(rng):
    wanted = 60.0 * rng.standard_normal(300)
    limits = {"torque_limit": 40.0, "speed_limit": 6.0, "corner_speed": 3.0}
    joints, bank = Joints(0.05, 2.0), bank_of(**limits)
    start = joints.kinetic + 0.5 * J * 4.0
    run(bank, joints, lambda t: torque(wanted[round(t / 0.002)]), 300)
    np.testing.assert_allclose(bank.electrical_work, joints.kinetic + bank.energy - start + bank.loss, rtol=1e-11)
    assert bank.loss > 0.0


@pytest.mark.parametrize("speed", [1.0, -1.0])
def test_the_motor_keeps_to_its_torque_and_its_top_speed(speed):
    limits = {"torque_limit": 40.0, "speed_limit": 6.0, "corner_speed": 3.0}
    stalled, bank = Held(1.0), bank_of(**limits)
    run(bank, stalled, torque(speed * 500.0), 1000)
    np.testing.assert_allclose(stalled.torque, speed * 40.0, rtol=1e-9)
    joints, bank = Joints(0.05), bank_of(**limits)
    run(bank, joints, torque(speed * 500.0), 1000)
    np.testing.assert_allclose(joints.v, speed * 6.0, rtol=1e-6)


def test_a_light_rotor_on_a_steep_line_does_not_swing():
    limits = {"torque_limit": 400.0, "speed_limit": 6.0, "corner_speed": 5.9}
    joints, bank = Joints(1e-4), bank_of(rotor_inertia=1e-9, **limits)
    speeds = run(bank, joints, torque(500.0), 300)["v"]
    np.testing.assert_allclose(speeds[-50:], 6.0, rtol=0.01)  # a little more from the spring that lets go
    np.testing.assert_allclose(np.diff(speeds[-50:], axis=0), 0.0, atol=1e-9)


def test_an_impact_does_not_lift_the_motor_over_its_torque_limit():
    joints, bank = Joints(0.1), bank_of(torque_limit=5.0, stiffness=1e6)
    held = Command(position=np.zeros(1), kp=np.full(1, 100.0), kd=np.full(1, 20.0))
    run(bank, joints, held, 5)
    bank.act(held, joints.q, joints.v)
    before = bank.electrical_work
    bank.settle(joints.q + 0.016, joints.v + 8.0)  # the joint is hit within the step
    turned = 0.5 * rotor(bank)  # mean speed times dt, from rest
    np.testing.assert_allclose((bank.electrical_work - before) / turned, -5.0, rtol=1e-9)


def test_the_motor_holds_its_own_angle_and_the_joint_sags_behind_it():
    joints, bank = Joints(0.2), bank_of()
    kp, load = 500.0, -12.0
    command = Command(position=np.array([0.4]), kp=np.array([kp]), kd=np.array([60.0]))
    run(bank, joints, command, 4000, load=load)
    np.testing.assert_allclose(rotor(bank), 0.4 + load / kp, rtol=1e-6)
    np.testing.assert_allclose(joints.q, 0.4 + load / kp + load / K, rtol=1e-6)


@pytest.mark.parametrize("kp", [1e3, 1e5, 1e8])
@pytest.mark.parametrize("inertia", [1e-4, 1e-1, 10.0])
def test_motor_side_gains_are_stable_however_high(kp, inertia):
    command = Command(position=np.array([0.4]), kp=np.array([kp]), kd=np.array([0.05 * kp]))
    joints, bank = Joints(inertia, 1.0), bank_of(damping=30.0)
    run(bank, joints, command, 2500)
    np.testing.assert_allclose(joints.q, 0.4, atol=1e-3)
