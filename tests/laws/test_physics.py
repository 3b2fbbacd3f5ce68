"""Laws that hold in every engine: no place, direction or time is special, and nothing comes from nothing."""

from __future__ import annotations

from functools import cache

import numpy as np
import pinocchio as pin
import pytest

from surefoot.control import JointPd
from surefoot.motion import Command, State, World
from surefoot.robot import Robot
from surefoot.robot.loading import load
from surefoot.sim import Push, Settings, Simulation, simulate

BOTH = pytest.mark.parametrize("engine", ["mujoco", "native"])
WORKS = ("drives", "contacts", "damping", "pushes")


@cache
def hexapod() -> Robot:
    return load("hexapod")


class Off:
    def __init__(self, robot: Robot) -> None:
        self._nothing = np.zeros(robot.nu)

    def command(self, t, state):
        return Command(torque=self._nothing)


def crooked(t: float = 0.0, place: pin.SE3 | None = None) -> State:
    """A hexapod somewhat above the ground, not level, that moves; elsewhere and turned if told."""
    robot, rng = hexapod(), np.random.default_rng(8)
    step = 0.05 * rng.standard_normal(robot.nv)
    q = pin.integrate(robot.model, np.array(robot.home), step)
    q[2] += 0.02 - min(corner[2] for corners in robot.contact_corners(q).values() for corner in corners)
    if place is not None:
        q[:7] = pin.SE3ToXYZQUAT(place * pin.XYZQUATToSE3(q[:7]))
    return State(t, q, 0.1 * rng.standard_normal(robot.nv))


def dropped(engine: str, initial: State, events=(), duration: float = 0.3):
    robot = hexapod()
    settings = Settings(duration, 0.001, 0.005, engine=engine, after_fall=duration)
    return Simulation(robot, JointPd(robot), World(), settings, events, initial).run()


@BOTH
def test_no_place_and_no_direction_is_special(engine):
    """Elsewhere, turned about the vertical, and pushed in the turned direction: the same motion."""
    turn = pin.exp3(np.array([0.0, 0.0, 2.0]))
    place = pin.SE3(turn, np.array([3.0, -2.0, 0.0]))
    force = np.array([4.0, 1.0, 0.5])

    def push(f):
        return [Push(0.05, 0.1, "body", np.concatenate([f, np.zeros(3)]))]

    here = dropped(engine, crooked(), push(force))
    there = dropped(engine, crooked(place=place), push(turn @ force))
    for k in (-1, len(here) // 2):
        moved = np.array(here["q"][k])
        moved[:7] = pin.SE3ToXYZQUAT(place * pin.XYZQUATToSE3(moved[:7]))
        assert np.abs(pin.difference(hexapod().model, moved, np.array(there["q"][k]))).max() < 1e-6
        np.testing.assert_allclose(here["v"][k], there["v"][k], atol=1e-5)
    assert np.abs(here["contact.left_front.wrench"]).max() > 1.0


@BOTH
def test_no_time_is_special(engine):
    """A run that begins at another time is the same run; its events are told by the same clock."""
    wrench = np.array([4.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    now = dropped(engine, crooked(), [Push(0.05, 0.1, "body", wrench)], 0.2)
    later = dropped(engine, crooked(t=64.0), [Push(64.05, 0.1, "body", wrench)], 0.2)
    np.testing.assert_allclose(later.time - 64.0, now.time, atol=1e-9)
    np.testing.assert_allclose(later["q"], now["q"], atol=1e-9)
    np.testing.assert_array_equal(later["push.force"], now["push.force"])
    assert now["push.force"].any()


@BOTH
def test_energy_and_momentum_are_accounted_for(engine):
    wrench = np.array([4.0, 2.0, 0.0, 0.0, 0.0, 0.1])
    log = dropped(engine, crooked(), [Push(0.05, 0.1, "body", wrench)], 0.5)
    gained = log["energy.total"] - log["energy.total"][0]
    work = sum(log[f"energy.{name}"] - log[f"energy.{name}"][0] for name in WORKS)
    np.testing.assert_allclose(gained - work, log["energy.residual"], atol=1e-9)
    turned_over = np.abs(log["energy.contacts"]).max() + np.abs(log["energy.drives"]).max()
    assert np.abs(log["energy.residual"]).max() < 0.01 * turned_over
    assert np.abs(log["momentum.residual"]).max() < 2e-3 * hexapod().mass
    assert log["energy.pushes"][-1] != 0.0


def test_springs_of_elastic_joints_are_accounted_for():
    """MuJoCo's springs act with the position that they will have at the end of the step: that counts as damping."""
    robot = load("humanoid:elastic-ankle")
    high = np.array(robot.home)
    high[2] += 0.05
    settings = Settings(0.16, 0.001, 0.002, after_fall=1.0)
    log = Simulation(robot, JointPd(robot), World(), settings, [], State.of(robot, high)).run()
    assert log["energy.damping"][-1] < -0.1
    assert np.abs(log["energy.residual"]).max() < 1e-4 * np.abs(log["energy.contacts"]).max()


@BOTH
def test_a_limp_robot_never_gains_energy(engine):
    robot = hexapod()
    settings = Settings(0.6, 0.001, 0.005, engine=engine, after_fall=1.0)
    log = Simulation(robot, Off(robot), World(), settings, initial=crooked()).run()
    energy = log["energy.total"]
    assert np.abs(log["energy.drives"]).max() == 0.0
    assert energy[-1] < energy[0] - 0.1
    rises = np.maximum(np.diff(energy), 0.0).sum()  # MuJoCo does not count what soft contacts and stops store
    assert rises < (0.05 if engine == "mujoco" else 1e-3) * (energy[0] - energy[-1])
    assert energy.max() <= energy[0] + 1e-6


@BOTH
def test_a_symmetric_robot_falls_symmetrically(engine):
    robot = hexapod()
    high = np.array(robot.home)
    high[2] += 0.02
    log = simulate(robot, JointPd(robot), World(), 0.4, engine=engine, dt=0.001, control_dt=0.005,
                   initial=State.of(robot, high))  # fmt: skip
    force = {name: log[f"contact.{name}.wrench"][:, 2] for name in robot.contacts}
    for row in ("front", "middle", "rear"):
        np.testing.assert_allclose(force[f"left_{row}"], force[f"right_{row}"], atol=1e-3)
    assert np.abs(log["q"][:, 1]).max() < 1e-6
