"""The bank of drives: kinds together, accounts, refusals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from surefoot.errors import NotSupportedError, ShapeError
from surefoot.motion import Command
from surefoot.sim.drives.drives import DriveBank
from tests.sim.drive_examples import GEAR, MOTOR, SERVO, Joints, robot_of, run, torque

CURVE = {"torque_limit": 10.0, "speed_limit": 5.0, "corner_speed": 3.0}
FIVE = [{"torque_limit": 8.0}, CURVE, MOTOR, {**GEAR, **CURVE}, SERVO]
KINDS = ["torque", "torque_speed", "dc_motor", "elastic", "servo"]
INERTIA = np.array([0.02, 0.05, 0.03, 0.1, 1e-3])


def busy(seed: int, steps: int, n: int) -> list[Command]:
    """Commands that jump every few steps, many of them beyond the limits."""
    rng = np.random.default_rng(seed)
    out = []
    for _ in range(steps // 10 + 1):
        gains = {"kp": 10.0 ** rng.uniform(0, 4, n), "kd": 10.0 ** rng.uniform(-1, 1, n)}
        move = {"position": rng.standard_normal(n), "velocity": 3.0 * rng.standard_normal(n)}
        out += [Command(torque=20.0 * rng.standard_normal(n), **move, **gains)] * 10
    return out


def only(command: Command, entries: list[int]) -> Command:
    return Command(**{name: getattr(command, name)[entries] for name in ("torque", "position", "velocity", "kp", "kd")})


def mixed(order: list[int], kind: str = "revolute") -> tuple[DriveBank, Joints]:
    robot = robot_of(*(FIVE[k] for k in order), kind=kind)
    bank = DriveBank(robot, {f"j{i}": KINDS[k] for i, k in enumerate(order)})
    return bank, Joints(INERTIA[order], n=len(order))


def test_kinds_together_do_what_each_does_alone():
    order, commands = [3, 0, 4, 2, 1, 0, 3], busy(1, 200, 7)
    bank, joints = mixed(order)
    together = run(bank, joints, lambda t: commands[round(t / 0.002)], 200)
    alone = []
    for i, k in enumerate(order):
        one, plant = mixed([k])
        found = run(one, plant, lambda t, i=i: only(commands[round(t / 0.002)], [i]), 200)
        for name, values in found.items():
            np.testing.assert_array_equal(values[:, 0], together[name][:, i])
        alone.append((one.energy, one.loss, one.electrical_work))
        for name, values in one.readings().items():
            np.testing.assert_array_equal(values[0], bank.readings()[name][i])
    np.testing.assert_allclose([bank.energy, bank.loss, bank.electrical_work], np.sum(alone, axis=0), rtol=1e-12)


@pytest.mark.parametrize("seed", range(5))
def test_supply_is_work_and_loss_and_stored_energy_whatever_is_commanded(seed):
    commands = busy(seed, 300, 5)
    bank, joints = mixed([0, 1, 2, 3, 4])
    run(bank, joints, lambda t: commands[round(t / 0.002)], 300)
    total = joints.work.sum() + bank.loss + bank.energy
    np.testing.assert_allclose(bank.electrical_work, total, rtol=1e-11)
    np.testing.assert_allclose(joints.work.sum(), joints.kinetic, rtol=1e-9)


def test_the_same_commands_give_the_same_bits_also_after_a_reset():
    commands = busy(3, 100, 5)
    first, joints = mixed([0, 1, 2, 3, 4])
    histories = [run(first, joints, lambda t: commands[round(t / 0.002)], 100)]
    accounts = [(first.energy, first.loss, first.electrical_work)]
    for bank in (first, mixed([0, 1, 2, 3, 4])[0]):
        histories.append(run(bank, Joints(INERTIA, n=5), lambda t: commands[round(t / 0.002)], 100))
        accounts.append((bank.energy, bank.loss, bank.electrical_work))
    for other in histories[1:]:
        for name in other:
            np.testing.assert_array_equal(other[name], histories[0][name])
    assert accounts[0] == accounts[1] == accounts[2]


def test_jumps_by_a_full_turn_change_nothing_for_a_wheel():
    commands = busy(4, 300, 5)
    bank, joints = mixed([0, 1, 2, 3, 4], kind="continuous")
    plain, straight = mixed([0, 1, 2, 3, 4], kind="continuous")
    for one, plant in ((bank, joints), (plain, straight)):
        plant.q, plant.v = np.full(5, 3.1), np.array([4.0, -3.0, 5.0, 2.0, 1.0])
        one.reset(plant.q, plant.v)
    turns = set()
    for command in commands:
        command = replace(command, position=command.position + 3.1)
        turn = 2.0 * np.pi * np.round(joints.q / (2.0 * np.pi))
        given = bank.act(command, joints.q - turn, joints.v)
        given.position = given.position + turn
        turns.add(tuple(turn))
        joints.advance(given)
        straight.advance(plain.act(command, straight.q, straight.v))
    assert all(len({row[k] for row in turns}) > 1 for k in range(5)), "every joint jumps"
    np.testing.assert_allclose(joints.q, straight.q, rtol=1e-7)
    np.testing.assert_allclose(bank.electrical_work, plain.electrical_work, rtol=1e-7)


def test_an_ideal_drive_passes_the_command_on():
    command = busy(6, 1, 2)[0]
    given = DriveBank(robot_of({"torque_limit": 3.0}, {})).act(command, np.zeros(2), np.zeros(2))
    for name in ("torque", "position", "kp", "velocity", "kd"):
        np.testing.assert_array_equal(getattr(given, name), getattr(command, name))
    np.testing.assert_array_equal(given.upper, [3.0, np.inf])
    np.testing.assert_array_equal(given.lower, [-3.0, -np.inf])


def test_readings_are_nan_where_a_drive_has_none():
    bank, joints = mixed([0, 1, 2, 3, 4])
    run(bank, joints, busy(2, 1, 5)[0], 5)
    known = {name: np.isfinite(values).tolist() for name, values in bank.readings().items()}
    assert known == {
        "current": [False, False, True, False, False],
        "voltage": [False, False, True, False, False],
        "electrical_power": [True] * 5,
        "motor_angle": [False, False, True, True, False],
        "servo_reference": [False, False, False, False, True],
    }


def test_a_ball_joint_has_one_entry_for_each_axis():
    robot = robot_of({"torque_limit": 2.0}, CURVE, kind="spherical")
    bank = DriveBank(robot)
    assert dict(bank.kinds) == {"j0": "torque", "j1": "torque_speed"}
    given = bank.act(Command(torque=np.ones(6)), np.zeros(6), np.array([0.0, 1.0, 9.0, 0.0, 4.0, -9.0]))
    np.testing.assert_allclose(given.upper, [2.0, 2.0, 2.0, 10.0, 5.0, 10.0])


def test_settling_twice_counts_once():
    bank, joints = mixed([0, 1, 2, 3, 4])
    run(bank, joints, busy(2, 1, 5)[0], 5)
    before = bank.electrical_work, bank.loss, bank.energy
    bank.settle(joints.q, joints.v)
    assert (bank.electrical_work, bank.loss, bank.energy) == before


def test_a_robot_without_drives_has_an_empty_bank():
    bank = DriveBank(robot_of({}).replace(drives=()))
    bank.settle([], [])
    assert (bank.energy, bank.loss, bank.electrical_work) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    ("position", "velocity"),
    [
        (np.zeros(2), np.zeros(1)),
        (np.zeros((1, 1)), np.zeros(1)),
        ([np.nan], [0.0]),
        ([np.inf], [0.0]),
        ([0.0], [np.nan]),
    ],
)
def test_states_that_do_not_fit_are_refused(position, velocity):
    bank = DriveBank(robot_of({}))
    for call in (bank.reset, bank.settle, lambda q, v: bank.act(torque(1.0), q, v)):
        with pytest.raises(ShapeError, match="of the drives"):
            call(position, velocity)


def test_commands_that_do_not_fit_are_refused():
    with pytest.raises(ShapeError, match="2 entries, `joints` needs 1"):
        DriveBank(robot_of({})).act(torque(1.0, 2.0), [0.0], [0.0])
    with pytest.raises(ShapeError, match="not finite"):
        torque(np.nan)


@pytest.mark.parametrize("dt", [0.0, -1.0, np.nan, np.inf])
def test_a_step_that_is_none_is_refused(dt):
    with pytest.raises(ShapeError, match="step"):
        DriveBank(robot_of({}), dt=dt)


def test_motors_and_servos_turn_one_axis():
    with pytest.raises(NotSupportedError, match="`j0` is spherical"):
        DriveBank(robot_of(SERVO, kind="spherical"), "servo")
