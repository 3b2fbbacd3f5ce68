import numpy as np
import pytest

from surefoot.dynamics import forward_dynamics
from surefoot.dynamics.inverse.forward_operator import fdop, forward_operator, without_redundant_rows
from surefoot.errors import ModelError
from tests.dynamics.driven_examples import CASES, SIZES, case, equations_of, kkt, random_equations
from tests.dynamics.examples import assert_same, robot_named, traced


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_against_the_dense_system(size):
    equations = random_equations(*size)
    tau = np.random.default_rng(1).standard_normal(size[1])
    found, (a, multipliers) = forward_operator(equations, tau), kkt(equations, tau)
    assert_same(found.a, a, 1e-10)
    assert_same(found.multipliers, multipliers, 1e-9)


@pytest.mark.parametrize("name", CASES)
def test_robots(name):
    robot, q, v, constraints = case(name)
    tau = np.random.default_rng(2).standard_normal(robot.nu)
    found, (a, multipliers) = fdop(robot, q, v, tau, constraints), kkt(equations_of(robot, q, v, constraints), tau)
    assert_same(found.a, a, 1e-10)
    assert_same(found.multipliers, multipliers, 1e-8)


def test_without_constraints():
    robot, q, v, _ = case("g1")
    tau = np.random.default_rng(3).standard_normal(robot.nu)
    forces = np.zeros(robot.nv)
    forces[robot.driven] = tau
    assert_same(fdop(robot, q, v, tau).a, forward_dynamics(robot.tree, q, v, forces), 1e-10)


def test_the_printed_contact_sign_is_wrong():
    """Koch, erratum of (2.23a): +Jᵀ λ on the left of M a + N = tau - … would pull where the ground pushes."""
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    tau = np.zeros(robot.nu)
    found = fdop(robot, q, v, tau, constraints)
    wrong = np.linalg.solve(equations.M, -equations.h - equations.J.T @ found.multipliers)
    assert np.abs(equations.J @ wrong + equations.drift).max() > 0.1


def test_redundant_rows():
    equations = random_equations(12, 8, 3, seed=4)
    mix = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, -2.0, 0.5]])
    more = equations._replace(J=mix @ equations.J, drift=mix @ equations.drift)
    rows = tuple("abcd")
    reduced, basis = without_redundant_rows(more, rows)
    assert reduced.J.shape == (3, 12)
    assert basis.redundant == (3,)
    tau = np.arange(8.0)
    found, once = forward_operator(reduced, tau), forward_operator(equations, tau)
    multipliers = basis.multipliers(found.multipliers)
    assert_same(found.a, once.a, 1e-10)
    assert_same(more.J.T @ multipliers, equations.J.T @ once.multipliers, 1e-10)
    assert_same(multipliers, kkt(more, tau)[1], 1e-9)
    with pytest.raises(ModelError, match="`d`"):
        without_redundant_rows(more._replace(drift=more.drift + np.array([0.0, 0.0, 0.0, 1.0])), rows)


def test_traced():
    equations = random_equations(5, 3, 2, seed=5)
    tau = np.array([0.1, -0.2, 0.3])

    def acceleration(M, h, J, drift, tau):
        return forward_operator(equations._replace(M=M, h=h, J=J, drift=drift), tau).a

    found = traced(acceleration, *equations[:4], tau)
    assert_same(found, forward_operator(equations, tau).a, 1e-11)


def test_postures_without_inertia_are_named():
    """iCub's home: its head is a point mass above two axes that are in line."""
    robot = robot_named("icub")
    with pytest.raises(ModelError, match="`neck_roll`, `neck_yaw`"):
        fdop(robot, robot.home, np.zeros(robot.nv), np.zeros(robot.nu), [])
