import numpy as np
import pytest

from surefoot.dynamics.algebra.rank import null_basis
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.forms.reduced import joint_space_form, lagrange_dalembert, split_equations
from surefoot.dynamics.inverse.driven_equations import DrivenEquations
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.errors import ModelError
from tests.dynamics.driven_examples import case, equations_of, held, kkt, limbed, random_equations
from tests.dynamics.examples import assert_same, robot_named


def split(equations):
    return split_equations(*equations[:4], equations.passive)


def feet(joints, kind="flat", seed=1):
    """A robot with two limbs that are held, and its equations."""
    robot = limbed(joints)
    q, v, constraints = held(robot, {"tip0": kind, "tip1": kind}, seed)
    return robot, q, v, constraints, equations_of(robot, q, v, constraints)


def with_equations(robot, q, v, constraints):
    return robot, q, v, constraints, equations_of(robot, q, v, constraints)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("joints", "kind"), [(6, "flat"), (7, "flat"), (4, "point"), (5, "point")])
def test_joint_space(joints, kind, seed):
    robot, q, v, constraints, equations = feet(joints, kind, seed)
    form, tau = joint_space_form(split(equations)), np.random.default_rng(seed).standard_normal(robot.nu)
    a, multipliers = kkt(equations, tau)
    assert_same(form.joints(tau, a[:6]), a[6:], 1e-9)
    assert_same(form.multipliers(tau, a[:6]), multipliers, 1e-9)
    found = form.solve(tau)
    assert_same(np.concatenate([found.base, found.joints]), a, 1e-10)
    assert_same(found.multipliers, multipliers, 1e-9)
    assert_same(np.concatenate([found.base, found.joints]), fdop(robot, q, v, tau, constraints).a, 1e-10)


@pytest.mark.parametrize("name", ["talos", "g1", "anymal"])
def test_joint_space_of_robots(name):
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    tau = np.random.default_rng(2).standard_normal(robot.nu)
    forces = equations.forces(tau)[6:]
    found = joint_space_form(split_equations(*equations[:4], robot.base_rows)).solve(forces)
    assert_same(np.concatenate([found.base, found.joints]), kkt(equations, tau)[0], 1e-9)


def test_mobility_is_only_semidefinite():
    """What not to get: (4.209) is said to be positive definite; its rank is n - m."""
    *_, equations = feet(7)
    values = np.linalg.eigvalsh(joint_space_form(split(equations)).mobility)
    assert np.sum(values > 1e-9 * values[-1]) == 2
    assert values[0] > -1e-9 * values[-1]


@pytest.mark.parametrize("name", ["limbed", "anymal"])
def test_lagrange_dalembert_without_redundancy(name):
    """Limbs of six joints on flat feet; legs of three joints on points."""
    robot, _, v, _, equations = feet(6) if name == "limbed" else with_equations(*case(name))
    form = lagrange_dalembert(split(equations))
    tau = np.random.default_rng(3).standard_normal(robot.nu)
    a, _ = kkt(equations, tau)
    assert_same(form.base(tau), a[:6], 1e-9)
    assert_same(form.joints(form.base(tau)), a[6:], 1e-9)
    assert_same(form.A @ v[:6], v[6:], 1e-9)  # θ' = A V for a velocity that meets the constraints
    assert_same(form.inertia, form.inertia.T, 1e-12)
    assert np.linalg.eigvalsh(form.inertia)[0] > 0.0


def test_lagrange_dalembert_loses_redundant_joints():
    """It is the motion of a robot whose redundant joints are held as well, not that of the robot."""
    robot, *_, equations = feet(7)
    parts = split(equations)
    form, tau = lagrange_dalembert(parts), np.random.default_rng(4).standard_normal(robot.nu)
    extra = np.hstack([np.zeros((2, 6)), null_basis(parts.J).T])
    locked = equations._replace(J=np.vstack([equations.J, extra]), drift=np.concatenate([equations.drift, np.zeros(2)]))
    assert_same(form.base(tau), kkt(locked, tau)[0][:6], 1e-9)
    assert np.abs(form.base(tau) - kkt(equations, tau)[0][:6]).max() > 1e-3


def test_lagrange_dalembert_torques():
    """(4.241) with the sign of A; the internal part of contact forces changes torques, not the motion."""
    *_, equations = feet(6)
    form, wish = lagrange_dalembert(split(equations)), np.arange(1.0, 7.0)
    tau = form.torques(wish)
    assert_same(form.base(tau), wish, 1e-9)
    assert_same(kkt(equations, tau)[0][:6], wish, 1e-9)
    pressed = form.torques(wish, np.arange(12.0))
    assert np.abs(pressed - tau).max() > 0.1
    assert_same(form.base(pressed), wish, 1e-9)
    assert np.abs(form.base(-tau) - wish).max() > 0.1  # what not to get: the sign as printed


def test_printed_lagrange_dalembert_is_wrong():
    """What not to get: (4.214)–(4.216), with θ' = +J# Cᵀ V and without what H does."""
    robot, _, v, _, equations = feet(6)
    parts = split(equations)
    tau = np.random.default_rng(5).standard_normal(robot.nu)
    inverse = np.linalg.pinv(parts.J)
    A = inverse @ parts.C.T
    assert np.abs(A @ v[:6] - v[6:]).max() > 0.1
    inertia = parts.M_B + A.T @ parts.M_joints @ A
    bias = parts.h_base + A.T @ (parts.h_joints + parts.M_joints @ (inverse @ parts.drift))
    printed = np.linalg.solve(inertia, A.T @ tau - bias)
    right = kkt(equations, tau)[0][:6]
    assert np.abs(printed - right).max() > 0.1
    unsigned = np.linalg.solve(inertia, -A.T @ tau - parts.h_base + A.T @ parts.h_joints)  # the sign alone
    assert np.abs(unsigned - right).max() > 0.1


def test_held_object():
    """The base of the form may be an object that two arms hold: six rows of a body of its own."""
    arms, thing = random_equations(12, 12, 0, seed=6), random_equations(6, 0, 0, seed=7)
    M = np.block([[thing.M, np.zeros((6, 12))], [np.zeros((12, 6)), arms.M]])
    h = np.concatenate([thing.h, arms.h])
    rng = np.random.default_rng(8)
    J, drift = rng.standard_normal((12, 18)), rng.standard_normal(12)
    equations = DrivenEquations(M, h, J, drift, np.arange(6, 18))
    tau = rng.standard_normal(12)
    form = lagrange_dalembert(split_equations(M, h, J, drift, np.arange(6)))
    assert_same(form.base(tau), kkt(equations, tau)[0][:6], 1e-9)


def test_constraints_that_joints_cannot_follow():
    """A base that is held itself, and a foot that is held twice."""
    robot = limbed(6)
    q, v, on_base = held(robot, {"base": "flat"}, 1)
    with pytest.raises(ModelError, match="cannot move along") as caught:
        joint_space_form(split(equations_of(robot, q, v, on_base)))
    assert caught.value.evidence["rank of the joints' part of J"] == 0
    with pytest.raises(ModelError, match="cannot move along"):  # a foot on the axis of the last of three joints
        joint_space_form(split(feet(3, "point")[-1]))
    twice = constraints_of(robot, [contact(robot, q, "tip0"), contact(robot, q, "tip0", "point", "again")])
    with pytest.raises(ModelError, match="cannot move along"):
        lagrange_dalembert(split(equations_of(robot, q, v, twice)))


def test_splitting_keeps_the_order():
    robot = robot_named("g1")
    equations = random_equations(robot.nv, 3, 2)
    parts = split_equations(*equations[:4], robot.base_rows)
    assert_same(parts.H, equations.M[:6, 6:])
    assert_same(parts.C.T, equations.J[:, :6])
