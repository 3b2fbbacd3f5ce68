import numpy as np
import pytest

from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.dynamics.inverse.internal_forces import internal_force_basis, internal_forces, split_forces
from surefoot.errors import ShapeError
from tests.dynamics.driven_examples import case, equations_of, random_equations
from tests.dynamics.examples import assert_same


@pytest.mark.parametrize("name", ["talos", "g1", "anymal", "limbed"])
def test_they_do_not_move_the_robot(name):
    """With the torques that take them up, accelerations stay and contact forces change by just these."""
    robot, q, v, constraints = case(name)
    found = internal_forces(robot, q, constraints)
    m = len(constraints.rows)
    assert found.held.shape == (m, m - 6)
    assert found.unfelt.shape == (m, 0)
    share = np.linspace(-1.0, 1.0, m - 6)
    tau = np.random.default_rng(1).standard_normal(robot.nu)
    before = fdop(robot, q, v, tau, constraints)
    after = fdop(robot, q, v, tau + 10.0 * found.torques @ share, constraints)
    assert_same(after.a, before.a, 1e-9)
    assert_same(after.multipliers - before.multipliers, 10.0 * found.held @ share, 1e-8)


def test_their_sum_at_the_base_is_nothing():
    """Two flat feet: the wrenches of both, taken to one point, cancel."""
    robot, q, _, constraints = case("limbed")
    held = internal_forces(robot, q, constraints).held
    places = robot.placements(q)
    total = np.zeros((6, held.shape[1]))
    for k, tip in enumerate(("tip0", "tip1")):
        T = places[tip]
        force, moment = T[:3, :3] @ held[6 * k : 6 * k + 3], T[:3, :3] @ held[6 * k + 3 : 6 * k + 6]
        total[:3] += force
        total[3:] += moment + np.cross(T[:3, 3], force, axis=0)
    assert_same(total, np.zeros_like(total), 1e-11)


def test_forces_are_split():
    robot, q, _, _ = case("limbed")
    parts = (contact(robot, q, "tip0"), contact(robot, q, "tip1"), contact(robot, q, "tip1", "point", "again"))
    constraints = constraints_of(robot, parts)
    J = constraints.jacobian(robot.tree, q)
    forces = np.random.default_rng(2).standard_normal(15)
    found = split_forces(robot, q, constraints, forces)
    assert_same(found.resultant + found.held + found.unfelt, forces)
    assert_same(J.T @ found.unfelt, np.zeros(robot.nv), 1e-11)
    assert_same(J[:, :6].T @ found.held, np.zeros(6), 1e-11)
    assert_same(J[:, :6].T @ found.resultant, J[:, :6].T @ forces, 1e-11)
    products = [found.resultant @ found.held, found.resultant @ found.unfelt, found.held @ found.unfelt]
    assert_same(products, np.zeros(3), 1e-11)
    assert np.linalg.norm(found.unfelt) > 0.1
    assert internal_forces(robot, q, constraints).unfelt.shape == (15, 3)


def test_bases_are_orthonormal_and_whole():
    equations = random_equations(12, 8, 6, seed=3)
    J = np.vstack([equations.J, equations.J[:2]])
    found = internal_force_basis(J, equations.driven)
    basis = np.hstack([found.held, found.unfelt])
    assert basis.shape == (8, 4)
    assert_same(basis.T @ basis, np.eye(4))
    assert_same(J[:, equations.passive].T @ basis, np.zeros((4, 4)), 1e-11)
    assert_same(found.torques, -J[:, equations.driven].T @ found.held)


def test_fully_driven_robots_can_take_up_everything():
    equations = random_equations(7, 7, 3, seed=4)
    assert internal_force_basis(equations.J, equations.driven).held.shape == (3, 3)


def test_a_single_foot_has_none():
    robot, q, v, _ = case("limbed")
    foot = constraints_of(robot, [contact(robot, q, "tip0")])
    found = internal_forces(robot, q, foot)
    assert found.held.shape == (6, 0)
    assert equations_of(robot, q, v, foot).J.shape == (6, robot.nv)
    with pytest.raises(ShapeError, match="multipliers"):
        split_forces(robot, q, foot, np.zeros(5))
