from dataclasses import replace

import numpy as np
import pytest

from surefoot.dynamics import inertial_parameters, joint_torque_regressor, kinetic_energy, potential_energy, rnea
from surefoot.dynamics.tree import kinetic_energy_regressor, potential_energy_regressor
from tests.dynamics.examples import armed, assert_same, followers, state, traced, two_roots

ROBOTS = [armed(), armed("fixed"), two_roots(), followers("reduce")]
by_name = {"ids": lambda robot: f"{robot.name} {robot.base}"}


@pytest.mark.parametrize("robot", ROBOTS, **by_name)
def test_dynamics_are_linear_in_the_parameters(robot):
    q, v, a = state(robot, 1)
    tree, parameters = robot.tree, inertial_parameters(robot.tree)
    armature = tree.armature
    torque = joint_torque_regressor(tree, q, v, a) @ parameters
    assert_same(torque + armature * a, rnea(tree, q, v, a))
    energy = kinetic_energy_regressor(tree, q, v) @ parameters
    assert_same(energy + 0.5 * armature @ (v * v), kinetic_energy(tree, q, v))
    assert_same(potential_energy_regressor(tree, q) @ parameters, potential_energy(tree, q))


def test_regressors_do_not_depend_on_the_inertias(rng):
    """They hold for any parameters: those of another robot of the same shape."""
    robot = armed()
    q, v, a = state(robot, 2)
    n = robot.tree.n
    other = replace(
        robot.tree,
        masses=rng.uniform(1.0, 2.0, n),
        coms=rng.standard_normal((n, 3)),
        inertias=np.array([B @ B.T for B in rng.standard_normal((n, 3, 3))]),
    )
    assert (joint_torque_regressor(other, q, v, a) == joint_torque_regressor(robot.tree, q, v, a)).all()
    torque = joint_torque_regressor(robot.tree, q, v, a) @ inertial_parameters(other)
    assert_same(torque + other.armature * a, rnea(other, q, v, a))


def test_a_trace_gives_the_same_numbers():
    robot = two_roots()
    q, v, a = state(robot, 3)
    found = traced(lambda *x: joint_torque_regressor(robot.tree, *x), q, v, a)
    assert_same(found, joint_torque_regressor(robot.tree, q, v, a))
    found = traced(lambda *x: kinetic_energy_regressor(robot.tree, *x), q, v)
    assert_same(found, kinetic_energy_regressor(robot.tree, q, v))
    found = traced(lambda q: potential_energy_regressor(robot.tree, q), q)
    assert_same(found, potential_energy_regressor(robot.tree, q))
