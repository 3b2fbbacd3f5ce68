import numpy as np
import pinocchio as pin
from numpy.testing import assert_allclose

from surefoot.robot import Joint, Link, Robot
from surefoot.robot.loading import load
from surefoot.sim.mujoco.inertia import LEAST, lifted_inertia, massless_joints, with_points


def one_body(mass, inertia):
    link = Link("b", "a", Joint("j", "revolute"), mass=mass, com=np.array([0.1, 0.2, 0.3]), inertia=np.array(inertia))
    return Robot.from_tree("r", [Link("a"), link]).tree


def test_real_bodies_stay_as_they_are():
    tree = load("talos").tree
    for i in range(tree.n):
        found = lifted_inertia(tree, i)
        assert not found.lifted
        assert_allclose(np.linalg.det(found.axes), 1.0)
        assert_allclose(found.axes @ np.diag(found.moments) @ found.axes.T, tree.inertias[i], atol=1e-14)
        assert found.mass == tree.masses[i]


def test_tiny_numbers_are_lifted():
    found = lifted_inertia(one_body(1e-12, np.diag([1e-12, 0.0, 1e-15])), 0)
    assert found.lifted
    assert found.mass == LEAST
    assert_allclose(found.moments, LEAST)


def test_triangle_inequality_is_restored_with_the_largest_kept():
    found = lifted_inertia(one_body(1.0, np.diag([0.1, 0.2, 1.0])), 0)
    a, b, c = np.sort(found.moments)
    assert found.lifted
    assert a + b >= c
    assert_allclose([a, b, c], [0.45, 0.55, 1.0], rtol=1e-9)


def test_flat_plate_is_not_called_lifted():
    found = lifted_inertia(one_body(1.0, np.diag([0.1, 0.2, 0.3])), 0)
    assert not found.lifted
    assert_allclose(np.sort(found.moments), [0.1, 0.2, 0.3], rtol=1e-9)


def test_massless_joints_are_those_without_mass_beyond_them():
    links = [Link("a"), Link("b", "a", Joint("j1", "revolute")), Link("c", "b", Joint("j2", "revolute"), mass=1.0,
             inertia=np.eye(3)), Link("d", "c", Joint("j3", "revolute"))]  # fmt: skip
    tree = Robot.from_tree("r", links).tree
    assert [tree.joint_names[i] for i in massless_joints(tree)] == ["j3"]


def test_points_on_a_body_against_pinocchio():
    body = lifted_inertia(one_body(2.0, [[0.3, 0.02, 0.01], [0.02, 0.4, -0.03], [0.01, -0.03, 0.5]]), 0)
    masses, positions = np.array([0.5, 1.5]), np.array([[0.3, -0.2, 0.1], [-0.4, 0.5, 0.2]])
    wanted = pin.Inertia(body.mass, body.com, body.axes @ np.diag(body.moments) @ body.axes.T)
    for mass, position in zip(masses, positions, strict=True):
        wanted += pin.Inertia(mass, position, np.zeros((3, 3)))
    found = with_points(body, masses, positions)
    assert_allclose(found.mass, wanted.mass)
    assert_allclose(found.com, wanted.lever, atol=1e-14)
    assert_allclose(found.axes @ np.diag(found.moments) @ found.axes.T, wanted.inertia, atol=1e-13)
    assert_allclose(np.linalg.det(found.axes), 1.0)
    assert with_points(body, np.zeros(2), positions) is body
