import casadi
import numpy as np
import pytest

from surefoot import ops
from surefoot.errors import ModelError
from surefoot.kinematics import body_placements, com, com_bias, com_jacobian, com_velocity, total_mass
from surefoot.robot import Joint, Link, Robot
from tests.kinematics.examples import assert_same, full_configuration, moved, robot_named, state, widened


@pytest.mark.parametrize("name", ["every joint", "biped", "g1", "tiago"])
def test_mean_of_the_bodies(name):
    robot = robot_named(name)
    q, _, _ = state(robot, 1)
    centres = [p + R @ c for (R, p), c in zip(body_placements(robot.tree, q), robot.tree.coms, strict=True)]
    assert_same(com(robot.tree, q), robot.tree.masses @ np.array(centres) / robot.mass)
    assert_same(total_mass(robot.tree), robot.mass)


@pytest.mark.parametrize("name", ["every joint", "talos"])
def test_rates(name):
    robot, step = robot_named(name), 1e-5
    q, v, _ = state(robot, 2)
    behind, ahead = (moved(robot, q, v, t) for t in (-step, step))
    rate = (com(robot.tree, ahead) - com(robot.tree, behind)) / (2 * step)
    assert_same(com_velocity(robot.tree, q, v), rate, 1e-8)
    assert_same(com_jacobian(robot.tree, q) @ v, rate, 1e-8)
    bias = (com_jacobian(robot.tree, ahead) - com_jacobian(robot.tree, behind)) @ v / (2 * step)
    assert_same(com_bias(robot.tree, q, v), bias, 1e-7)


def test_motion_does_not_know_where_the_root_is():
    robot = robot_named("talos")
    q, v, _ = state(robot, 3)
    far = q + np.array([1e6, -3e6, 2e6, *np.zeros(robot.nq - 3)])
    assert np.array_equal(com_jacobian(robot.tree, q), com_jacobian(robot.tree, far))
    assert np.array_equal(com_velocity(robot.tree, q, v), com_velocity(robot.tree, far, v))
    assert np.array_equal(com_bias(robot.tree, q, v), com_bias(robot.tree, far, v))


def test_base_moves_the_centre_of_mass_as_a_whole():
    robot = robot_named("g1")
    q, _, _ = state(robot, 4)
    R, _ = body_placements(robot.tree, q)[0]
    assert np.array_equal(com_jacobian(robot.tree, q)[:, :3], R)


@pytest.mark.parametrize("name", ["followers", "baxter", "romeo"])
def test_followers_count_as_in_the_whole_robot(name):
    robot, full = robot_named(name, "reduce"), robot_named(name)
    q, v, _ = state(robot, 5)
    Q, G = full_configuration(robot, full, q), widened(robot, full)
    assert_same(com(robot.tree, q), com(full.tree, Q))
    assert_same(com_jacobian(robot.tree, q), com_jacobian(full.tree, Q) @ G)
    assert_same(com_velocity(robot.tree, q, v), com_velocity(full.tree, Q, G @ v))
    assert_same(com_bias(robot.tree, q, v), com_bias(full.tree, Q, G @ v))


def test_two_robots_in_one_tree():
    arms = [Link(f"l{k}", None, Joint(f"j{k}", "prismatic"), mass=float(k + 1)) for k in range(2)]
    robot = Robot.from_tree("two sliders", arms, drives=())
    assert_same(com(robot.tree, np.array([3.0, 6.0])), [0.0, 0.0, 5.0])
    assert_same(com_jacobian(robot.tree, np.zeros(2)), [[0.0, 0.0], [0.0, 0.0], [1 / 3, 2 / 3]])


def test_no_mass():
    robot = Robot.from_tree("ghost", [Link("a", None, Joint("j", "revolute"))], drives=())
    with pytest.raises(ModelError, match="without mass"):
        com(robot.tree, np.zeros(1))


def test_symbols_give_the_numbers():
    robot = robot_named("every joint")
    q, v, _ = state(robot, 6)

    def quantities(q, v):
        tree = robot.tree
        return [com(tree, q), com_jacobian(tree, q), com_velocity(tree, q, v), com_bias(tree, q, v)]

    Q, V = ops.symbols("q", robot.nq), ops.symbols("v", robot.nv)
    found = ops.function("f", [Q, V], quantities(Q, V))(q, v)
    for traced, number in zip(found, quantities(q, v), strict=True):
        assert_same(np.array(traced).reshape(number.shape), number)


@pytest.mark.parametrize(("name", "limit"), [("g1", 1700), ("talos", 1650)])
def test_traced_size(name, limit):
    robot = robot_named(name)
    Q = ops.symbols("q", robot.nq)
    outputs = [ops.to_sx(com(robot.tree, Q)), ops.to_sx(com_jacobian(robot.tree, Q))]
    assert casadi.Function("f", [ops.to_sx(Q)], casadi.cse(outputs)).n_instructions() <= limit
