import numpy as np
import pinocchio as pin
import pytest

from surefoot.dynamics import crba, forward_dynamics, generalized_gravity, kinetic_energy, potential_energy
from tests.dynamics.examples import (
    armed,
    assert_same,
    followers,
    moved,
    robot_named,
    state,
    traced,
    two_roots,
    wrenches,
)

ROBOTS = [armed(), armed("planar"), armed("fixed"), two_roots(), robot_named("g1")]
by_name = {"ids": lambda robot: f"{robot.name} {robot.base}"}


@pytest.mark.parametrize("robot", ROBOTS, **by_name)
def test_power_balance(robot):
    """d(T + U)/dt = tau · v + Σ F_i · V_i: along the motion, by central differences."""
    q, v, tau = state(robot, 1)
    tree, F, step = robot.tree, wrenches(robot, 1), 1e-6
    a = forward_dynamics(tree, q, v, tau, F)

    def energy(time: float) -> float:
        there = moved(robot, q, v + 0.5 * time * a, time)
        return kinetic_energy(tree, there, v + time * a) + potential_energy(tree, there)

    data = robot.model.createData()
    pin.forwardKinematics(robot.model, data, q, v)
    power = tau @ v + sum(twist.vector @ f for twist, f in zip(list(data.v)[1:], F, strict=True))
    rate = (energy(step) - energy(-step)) / (2.0 * step)
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6 * max(1.0, np.abs(a).max()))


@pytest.mark.parametrize("robot", ROBOTS, **by_name)
def test_gravity_terms_are_the_gradient_of_the_potential(robot):
    q, _, _ = state(robot, 2)
    step = 1e-6
    ways = np.eye(robot.nv)
    slope = [
        (
            potential_energy(robot.tree, moved(robot, q, way, step))
            - potential_energy(robot.tree, moved(robot, q, way, -step))
        )
        / (2.0 * step)
        for way in ways[:12]
    ]
    assert_same(generalized_gravity(robot.tree, q)[:12], slope, 1e-7)


@pytest.mark.parametrize("robot", [armed(), followers("reduce"), two_roots()], **by_name)
def test_kinetic_energy_is_that_of_the_mass_matrix(robot):
    q, v, _ = state(robot, 3)
    assert_same(kinetic_energy(robot.tree, q, v), 0.5 * v @ crba(robot.tree, q) @ v)


def test_traces():
    robot = armed()
    q, v, _ = state(robot, 4)
    assert_same(traced(lambda *x: kinetic_energy(robot.tree, *x), q, v), kinetic_energy(robot.tree, q, v))
    assert_same(traced(lambda q: potential_energy(robot.tree, q), q), potential_energy(robot.tree, q))
