"""The account of energy and momentum against closed forms and its own order."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import ellipk

from surefoot.geometry import Box
from surefoot.motion import GroundPlane, MovableObject, State, World
from surefoot.robot import Joint, Link, Loop, Robot, placement
from surefoot.robot.loading import load

from ..examples import block, every_joint, pendulum
from ..mujoco_runs import Run

NOWHERE = World(ground=(), gravity=np.zeros(3))


def test_falling_block():
    robot = block()
    high = State.of(robot, [0.0, 0.0, 20.0, 0.0, 0.0, 0.0, 1.0])
    run = Run(robot, World(ground=()), 1.0, initial=high)
    assert_allclose(run["energy_residual"], 0.0, atol=1e-9)
    assert_allclose(run["momentum_residual"], 0.0, atol=1e-10)
    height = run["q"][:, 2] - run["q"][0, 2]
    assert_allclose(height, -0.5 * 9.81 * run["t"] ** 2, atol=0.5 * 9.81 * 0.002 * 1.001)
    assert_allclose(run["v"][-1, 2], -9.81, rtol=1e-12)


def test_pendulum_keeps_its_energy_and_period():
    length, amplitude = 0.8, 1.2
    period = 4.0 * np.sqrt(length / 9.81) * ellipk(np.sin(0.5 * amplitude) ** 2)
    run = Run(pendulum(length=length), None, 2.2 * period, initial=State.of(pendulum(), [amplitude]))
    assert np.abs(run["energy_residual"]).max() < 2e-4
    down = np.flatnonzero((run["q"][:-1, 0] > 0.0) & (run["q"][1:, 0] <= 0.0))
    assert_allclose(np.diff(run["t"][down]), period, atol=3e-3)


@pytest.mark.parametrize("drive", [{"torque": 0.7}, {"position": 0.5, "kp": 30.0, "kd": 0.8}])
def test_residual_falls_with_the_square_of_the_step(drive):
    worst = []
    for dt in (0.004, 0.002):
        run = Run(pendulum(damping=0.2), None, 1.0, dt, State.of(pendulum(), [1.0], [2.0]), **drive)
        worst.append(np.abs(run["energy_residual"]).max())
        assert np.abs(run["drives"]).max() > 0.1
        assert run["damping"][-1] < -0.01
    assert 3.5 < worst[0] / worst[1] < 4.5


def test_work_of_a_torque_and_of_damping():
    """A torque on a pendulum without gravity: W = τ Δq; damping takes ∫ d v² dt."""
    run = Run(pendulum(damping=0.3), NOWHERE, 1.0, 0.001, torque=0.5)
    turned = run["q"][-1, 0] - run["q"][0, 0]
    assert_allclose(run["drives"][-1], 0.5 * turned, rtol=3e-3)
    assert_allclose(run["damping"][-1], -0.3 * np.trapezoid(run["v"][:, 0] ** 2, run["t"]), rtol=3e-3)


def test_push_on_a_floating_block():
    def push(engine, t):
        engine.release()
        if 0.1 <= t < 0.3 - 1e-9:
            engine.push("box", [4.0, 1.0, 0.0, 0.0, 0.0, 0.02])

    run = Run(block(), NOWHERE, 0.5, before=push)
    assert_allclose(run["momentum_residual"], 0.0, atol=1e-12)
    assert np.abs(run["energy_residual"]).max() < 1e-6
    assert_allclose(run["pushes"][-1], 0.5 * 17.0 * 0.2**2 / 2.0 + 0.5 * 0.004**2 / (0.2**2 / 3.0), rtol=0.02)


def test_sliding_block_loses_what_friction_takes():
    """On a slope of 20° with µ = 0.2 a block slides with g (sin − µ cos); friction takes µ m g cos · way."""
    slope, mu = np.deg2rad(20.0), 0.2
    normal = np.array([np.sin(slope), 0.0, np.cos(slope)])
    robot = block(mass=2.0, edge=0.2)
    turn = np.array([0.0, np.sin(0.5 * slope), 0.0, np.cos(0.5 * slope)])
    start = State.of(robot, np.concatenate([0.0999 * normal, turn]))
    run = Run(robot, World(ground=(GroundPlane(normal=normal),), friction=mu), 0.6, initial=start)
    down = np.array([np.cos(slope), 0.0, -np.sin(slope)])
    way = (run["q"][-1, :3] - run["q"][0, :3]) @ down
    assert_allclose(way, 0.5 * 9.81 * (np.sin(slope) - mu * np.cos(slope)) * 0.6**2, rtol=0.02)
    assert_allclose(run["contacts"][-1], -mu * 2.0 * 9.81 * np.cos(slope) * way, rtol=0.03)
    assert np.abs(run["energy_residual"]).max() < 2e-3
    assert np.abs(run["momentum_residual"]).max() < 1e-9


def test_tumbling_chain_of_every_joint():
    """No forces but gravity: momentum is m g t, energy stays, both to second order in the step."""
    robot = every_joint()
    rng = np.random.default_rng(2)
    start = State.of(robot, robot.neutral, 0.5 * rng.standard_normal(robot.nv))
    worst = []
    for dt in (0.002, 0.001):
        run = Run(robot, World(ground=()), 0.4, dt, start)
        worst.append(np.abs(run["momentum_residual"]).max())
        scale = np.ptp(run["energy"]) + 0.5 * robot.mass
        assert np.abs(run["energy_residual"]).max() < 0.02 * scale
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
    worst = [np.abs(Run(robot, World(ground=()), 0.5, dt)["momentum_residual"]).max() for dt in (0.002, 0.001)]
    assert worst[0] < 0.01 * robot.mass * 9.81 * 0.5
    assert worst[1] < 0.6 * worst[0]


@pytest.mark.parametrize("losses", [{"damping": 2.0}, {"friction": 1.5}, {"armature": 3.0}])
def test_losses_of_the_base_are_forces_from_outside(losses):
    robot = Robot.from_tree("falling", hanging(**losses), "floating", drives=(), contacts=())
    run = Run(robot, World(ground=()), 0.4, initial=State.of(robot, v=[0.5, 0.2, 0, 0, 0, 0, 0]))
    free_fall = 9.81 * 0.4
    assert abs(run["v"][-1, 2]) < 0.9 * free_fall
    assert np.abs(run["momentum_residual"]).max() < 2e-3 * robot.mass * free_fall


def test_momentum_in_the_plane_of_a_planar_robot():
    robot = load("biped")
    run = Run(robot, World(), 0.3, 0.001)
    assert np.abs(run["momentum_residual"]).max() < 1e-2 * robot.mass * 9.81 * 0.3
    assert np.abs(run["momentum_residual"][:, [0, 2]]).max() > 0.0
    assert_allclose(run["momentum_residual"][:, 1], 0.0, atol=1e-12)


def test_fixed_robots_have_no_account_of_momentum():
    assert np.isnan(Run(pendulum(), None, 0.01)["momentum_residual"]).all()


def test_payload_does_not_count_as_gained():
    """A payload that is put on a moving block and taken away again leaves both residuals as they were."""

    def load_it(engine, t):
        if abs(t - 0.1) < 1e-9 or abs(t - 0.2) < 1e-9:
            before, mass = engine.balance, 1.5 if t < 0.15 else 0.0
            engine.set_payload("box", mass, [0.1, 0.05, 0.1])
            after = engine.balance
            assert abs(after.energy - before.energy) > 0.5
            assert_allclose(after.energy_residual, before.energy_residual, atol=1e-9)
            assert_allclose(after.momentum_residual, before.momentum_residual, atol=1e-9)

    start = State.of(block(), [0.0, 0.0, 5.0, 0.0, 0.0, 0.0, 1.0], [1.0, 0.5, 0.0, 0.3, -0.2, 0.4])
    run = Run(block(), World(ground=()), 0.3, initial=start, before=load_it)
    assert np.abs(run["energy_residual"]).max() < 2e-3
    assert np.abs(run["momentum_residual"]).max() < 1e-3


def test_objects_are_in_the_account():
    """A block slides into a crate: what it loses the crate gets, friction takes the rest."""
    crate = MovableObject("crate", Box((0.2, 0.2, 0.2)), 1.0, placement((0.25, 0.0, 0.0999)))
    start = State.of(block(), v=[1.0, 0.0, 0.0, 0.0, 0.0, 0.0])
    run = Run(block(), World(friction=0.1, objects=(crate,)), 0.3, initial=start)
    assert run.engine.object_state("crate")[0][0, 3] > 0.3
    assert np.abs(run["momentum_residual"]).max() < 1e-8
    assert np.abs(run["energy_residual"]).max() < 5e-3
    assert_allclose(run["energy"][0] - run["energy"][-1], -run["contacts"][-1], rtol=0.02)
