import numpy as np
import pytest

from surefoot.dynamics import crba, rnea
from surefoot.dynamics.checked_arguments import checked_vector
from surefoot.dynamics.constraints import Baumgarte, held_constraints
from surefoot.dynamics.inverse.driven_equations import actuation, checked_equations
from surefoot.errors import ShapeError
from tests.dynamics.driven_examples import case
from tests.dynamics.examples import assert_same, followers


def test_equations_of_a_robot():
    robot, q, v, constraints = case("anymal")
    found = checked_equations(robot, q, v, constraints, Baumgarte())
    assert_same(found.M, crba(robot.tree, q))
    assert_same(found.h, rnea(robot.tree, q, v, np.zeros(robot.nv)))
    assert_same(found.J @ v, np.zeros(len(found.J)), 1e-11)
    assert sorted([*found.driven, *found.passive]) == list(range(robot.nv))
    tau = np.arange(float(robot.nu))
    assert_same(found.forces(tau)[robot.driven], tau)
    assert_same(found.forces(tau)[found.passive], np.zeros(6))


def test_pulling_back():
    robot, q, v, constraints = case("limbed")
    v = v + 1.0
    plain, pulled = (checked_equations(robot, q, v, constraints, gains) for gains in (Baumgarte(), Baumgarte(3.0, 2.0)))
    residual = constraints.residual(robot.tree, q)
    assert_same(pulled.drift - plain.drift, 6.0 * plain.J @ v + 4.0 * residual, 1e-11)


def test_actuation_counts_passive_joints():
    assert actuation(np.eye(3)[:1], [0, 1]) == (0, 1)
    assert actuation(np.array([[1.0, 0.0, 1e-17]]), [0, 1]) == (0, 1)  # rounding is no actuation
    assert actuation(np.eye(3)[2:], [0, 1]).full


def test_vectors_are_looked_at():
    with pytest.raises(ShapeError, match="shape"):
        checked_vector("x", np.zeros((2, 2)), 4)
    with pytest.raises(ShapeError, match="finite"):
        checked_vector("x", [1.0, np.inf], 2)


def test_own_constraints_hold_where_none_are_given():
    robot = followers("coupling")
    assert len(held_constraints(robot, None).rows) == 2
    assert held_constraints(robot, ()).rows == ()
