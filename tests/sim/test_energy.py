"""The account of energy and momentum against closed forms and its own order."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipk

from surefoot.motion import Command, GroundPlane, State, World
from surefoot.robot import Joint, Link, Loop, Robot, placement
from surefoot.robot.load import load
from surefoot.sim import Push, simulate

from .examples import block, every_joint, pendulum


class Torque:
    """A constant torque."""

    def __init__(self, values):
        self.values = np.asarray(values, dtype=float)

    def command(self, t, state):
        return Command(torque=self.values)


class Spring:
    """Springs and dampers to a position."""

    def __init__(self, position, kp, kd):
        self.parts = [np.array([x]) for x in (position, kp, kd)]

    def command(self, t, state):
        return Command(position=self.parts[0], kp=self.parts[1], kd=self.parts[2])


def test_falling_block():
    robot = block()
    high = State.of(robot, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 1.0])
    log = simulate(robot, Torque([]), World(ground=()), 1.0, initial=high)
    assert_allclose(log["energy.residual"], 0.0, atol=1e-9)
    assert_allclose(log["momentum.residual"], 0.0, atol=1e-10)
    height = log["q"][:, 2] - log["q"][0, 2]
    assert_allclose(height, -0.5 * 9.81 * log.time**2, atol=0.5 * 9.81 * 0.002 * 1.001)
    assert_allclose(log["v"][-1, 2], -9.81, rtol=1e-12)


def test_pendulum_keeps_its_energy_and_period():
    length, amplitude = 0.8, 1.2
    period = 4.0 * np.sqrt(length / 9.81) * ellipk(np.sin(0.5 * amplitude) ** 2)
    log = simulate(pendulum(length=length), Torque([0.0]), None, 2.2 * period,
                   initial=State.of(pendulum(), [amplitude]))  # fmt: skip
    assert np.abs(log["energy.residual"]).max() < 2e-4
    down = np.flatnonzero((log["q"][:-1, 0] > 0.0) & (log["q"][1:, 0] <= 0.0))
    assert_allclose(np.diff(log.time[down]), period, atol=3e-3)


@pytest.mark.parametrize("controller", [Torque([0.7]), Spring(0.5, 30.0, 0.8)])
def test_residual_falls_with_the_square_of_the_step(controller):
    worst = []
    for dt in (0.004, 0.002):
        log = simulate(pendulum(damping=0.2), controller, None, 1.0, dt=dt, control_dt=dt,
                       initial=State.of(pendulum(), [1.0], [2.0]))  # fmt: skip
        worst.append(np.abs(log["energy.residual"]).max())
        assert np.abs(log["energy.drives"]).max() > 0.1
        assert log["energy.damping"][-1] < -0.01
    assert 3.5 < worst[0] / worst[1] < 4.5


def test_work_of_a_torque_and_of_damping():
    """A torque on a pendulum without gravity: W = τ Δq; damping takes ∫ d v² dt."""
    robot = pendulum(damping=0.3)
    log = simulate(robot, Torque([0.5]), World(ground=(), gravity=np.zeros(3)), 1.0, dt=0.001, control_dt=0.001)
    turned = log["q"][-1, 0] - log["q"][0, 0]
    assert_allclose(log["energy.drives"][-1], 0.5 * turned, rtol=3e-3)
    assert_allclose(log["energy.damping"][-1], -0.3 * np.trapezoid(log["v"][:, 0] ** 2, log.time), rtol=3e-3)


def test_push_on_a_floating_block():
    push = Push(0.1, 0.2, "box", np.array([4.0, 1.0, 0.0, 0.0, 0.0, 0.02]))
    log = simulate(block(), Torque([]), World(ground=(), gravity=np.zeros(3)), 0.5, pushes=[push])
    assert_allclose(log["momentum.residual"], 0.0, atol=1e-12)
    assert np.abs(log["energy.residual"]).max() < 1e-6
    assert_allclose(log["energy.pushes"][-1], 0.5 * 17.0 * 0.2**2 / 2.0 + 0.5 * 0.004**2 / (0.2**2 / 3.0), rtol=0.02)


def test_sliding_block_loses_what_friction_takes():
    """On a slope of 20° with µ = 0.2 a block slides with g (sin − µ cos); friction takes µ m g cos · way."""
    slope, mu = np.deg2rad(20.0), 0.2
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    robot = block(mass=2.0, edge=0.2)
    turn = np.array([0.0, np.sin(0.5 * slope), 0.0, np.cos(0.5 * slope)])
    start = State.of(robot, np.concatenate([0.0999 * normal, turn]))
    log = simulate(robot, Torque([]), World(ground=(GroundPlane(normal=normal),), friction=mu), 0.6, initial=start)
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    way = (log["q"][-1, :3] - log["q"][0, :3]) @ down
    assert_allclose(way, 0.5 * 9.81 * (np.sin(slope) - mu * np.cos(slope)) * 0.6**2, rtol=0.02)
    assert_allclose(log["energy.contacts"][-1], -mu * 2.0 * 9.81 * np.cos(slope) * way, rtol=0.03)
    assert np.abs(log["energy.residual"]).max() < 2e-3
    assert np.abs(log["momentum.residual"]).max() < 1e-9


def test_tumbling_chain_of_every_joint():
    """No forces but gravity: momentum is m g t, energy stays, both to second order in the step."""
    robot = every_joint()
    rng = np.random.default_rng(2)
    start = State.of(robot, robot.neutral, 0.5 * rng.standard_normal(robot.nv))
    worst = []
    for dt in (0.002, 0.001):
        log = simulate(robot, Torque([]), World(ground=()), 0.4, dt=dt, control_dt=dt, initial=start)
        worst.append(np.abs(log["momentum.residual"]).max())
        scale = np.ptp(log["energy.total"]) + 0.5 * robot.mass
        assert np.abs(log["energy.residual"]).max() < 0.02 * scale
    assert worst[1] < 0.6 * worst[0]


def hanging(damping=0.0, friction=0.0, armature=0.0):
    """A floating link with a second one on a hinge, the first tied to the world at a point."""
    free = Joint("root", "free", damping=damping, friction=friction, armature=armature)
    inertia = 0.02 * np.eye(3)
    first = Link("first", None, free, mass=1.0, com=np.array([0.0, 0.1, -0.2]), inertia=inertia)
    hinge = Joint("hinge", "revolute", placement((0.0, 0.0, -0.4)), axis=(1.0, 0.0, 0.0))
    second = Link("second", "first", hinge, mass=0.5, com=np.array([0.0, 0.0, -0.2]), inertia=inertia)
    return [first, second]


def test_ties_to_the_world_are_forces_from_outside():
    """A double pendulum whose pivot is a closed chain: the tie carries about the weight."""
    tie = Loop("pivot", "first", "universe", directions=(True, True, True, False, False, False))
    robot = Robot.from_tree("hanging", hanging(), "floating", loops=(tie,), drives=(), contacts=())
    worst = []
    for dt in (0.002, 0.001):
        log = simulate(robot, Torque([]), World(ground=()), 0.5, dt=dt, control_dt=dt)
        worst.append(np.abs(log["momentum.residual"]).max())
    assert worst[0] < 0.01 * robot.mass * 9.81 * 0.5
    assert worst[1] < 0.6 * worst[0]


@pytest.mark.parametrize("losses", [{"damping": 2.0}, {"friction": 1.5}, {"armature": 3.0}])
def test_losses_of_the_base_are_forces_from_outside(losses):
    robot = Robot.from_tree("falling", hanging(**losses), "floating", drives=(), contacts=())
    log = simulate(robot, Torque([]), World(ground=()), 0.4, initial=State.of(robot, v=[0.5, 0.2, 0, 0, 0, 0, 0]))
    free_fall = 9.81 * 0.4
    assert abs(log["v"][-1, 2]) < 0.9 * free_fall
    assert np.abs(log["momentum.residual"]).max() < 2e-3 * robot.mass * free_fall


def test_momentum_in_the_plane_of_a_planar_robot():
    robot = load("biped")
    log = simulate(robot, Torque(np.zeros(robot.nu)), World(), 0.3, dt=0.001, control_dt=0.001)
    assert np.abs(log["momentum.residual"]).max() < 1e-2 * robot.mass * 9.81 * 0.3
    assert np.abs(log["momentum.residual"][:, [0, 2]]).max() > 0.0
    assert_allclose(log["momentum.residual"][:, 1], 0.0, atol=1e-12)
