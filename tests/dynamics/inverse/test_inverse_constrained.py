import numpy as np
import pytest

from surefoot.dynamics import rnea
from surefoot.dynamics.algebra.rank import null_basis, rank_of
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.inverse.constrained import (
    inverse_dynamics_constrained,
    joint_space_inverse,
    projected_force,
    projection_inverse,
    qr_inverse,
    weighted_inverse,
)
from surefoot.dynamics.inverse.forward_operator import fdop
from surefoot.errors import NotSupportedError, ShapeError, UnknownNameError
from tests.dynamics.driven_examples import SIZES, case, equations_of, kkt, random_equations
from tests.dynamics.examples import assert_same, robot_named

METHODS = ("weighted", "qr", "joint_space")
STANDING = ("talos", "g1", "limbed")


def met(equations, seed):
    """An acceleration that meets the constraints."""
    a = np.random.default_rng(seed).standard_normal(len(equations.h))
    return a - np.linalg.pinv(equations.J, rcond=1e-10) @ (equations.J @ a + equations.drift)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", STANDING)
def test_torques_give_the_motion(name, method):
    """V_rᵀ Sᵀ has full row rank on two flat feet: any consistent acceleration can be had, exactly."""
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    V_r = null_basis(equations.J)
    assert rank_of(V_r[robot.driven]) == V_r.shape[1]
    a = met(equations, 1)
    found = inverse_dynamics_constrained(robot, q, v, a, constraints, method)
    assert found.residual < 1e-9 * np.abs(equations.M @ a).max()
    assert found.violation < 1e-9
    assert_same(fdop(robot, q, v, found.tau, constraints).a, a, 1e-9)
    assert_same(rnea(robot.tree, q, v, a), equations.forces(found.tau) + found.constraint_force, 1e-9)


@pytest.mark.parametrize("size", [(12, 8, 6), (36, 30, 12), (36, 30, 6)], ids=str)
def test_random_equations(size):
    equations = random_equations(*size)
    a = met(equations, 2)
    for function in (weighted_inverse, qr_inverse, joint_space_inverse):
        found = function(equations, a)
        assert found.residual < 1e-9
        assert_same(kkt(equations, found.tau)[0], a, 1e-9)


def test_weighted_is_the_least():
    """Any other torques that give the motion cost more, and τ₀ is approached."""
    equations = random_equations(12, 10, 5, seed=3)
    a, rng = met(equations, 3), np.random.default_rng(3)
    W = np.diag(rng.uniform(0.5, 2.0, 10)) + 0.1
    wish = rng.standard_normal(10)
    found = weighted_inverse(equations, a, W, wish)
    free = null_basis(null_basis(equations.J)[equations.driven].T)
    assert free.shape[1] == 10 - 7
    assert_same(free.T @ W @ (found.tau - wish), np.zeros(3), 1e-9)
    assert_same(qr_inverse(equations, a, W, wish).tau, found.tau, 1e-9)
    plain = weighted_inverse(equations, a).tau
    assert_same(free.T @ plain, np.zeros(3), 1e-9)
    assert np.linalg.norm(plain) < np.linalg.norm(found.tau)


def test_the_printed_null_term():
    """(4.238): V† V_rᵀ (M a + h) + (E - V† V_rᵀ Sᵀ) τ_a, with V† = W^(-1/2) (V_rᵀ Sᵀ W^(-1/2))⁺."""
    equations = random_equations(12, 10, 5, seed=4)
    a, rng = met(equations, 4), np.random.default_rng(4)
    w, wish = rng.uniform(0.5, 2.0, 10), rng.standard_normal(10)
    VS = null_basis(equations.J)[equations.driven].T
    dagger = np.diag(w**-0.5) @ np.linalg.pinv(VS @ np.diag(w**-0.5))
    wanted = null_basis(equations.J).T @ (equations.M @ a + equations.h)
    expected = dagger @ wanted + (np.eye(10) - dagger @ VS) @ wish
    assert_same(weighted_inverse(equations, a, w, wish).tau, expected, 1e-9)


def test_joint_space_has_the_least_contact_forces():
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    a, J, passive = met(equations, 5), equations.J, equations.passive
    found = joint_space_inverse(equations, a)
    internal = null_basis(J[:, passive].T)
    assert internal.shape[1] == 6
    assert_same(internal.T @ found.multipliers, np.zeros(6), 1e-9)
    wish = internal @ np.arange(1.0, 7.0)
    pressed = joint_space_inverse(equations, a, preferred=wish)
    assert_same(pressed.multipliers - found.multipliers, wish, 1e-9)
    assert_same(kkt(equations, pressed.tau)[0], a, 1e-9)


def test_equation_4_244():
    """τ = (E - Jᵀ J^(-M)ᵀ) M_θ θ" + Hᵀ V' + Jᵀ F̄_a + h_θ is true for F̄_a = M_c J θ" - λ, and not for F̄_a = -λ."""
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    a = met(equations, 6)
    found = joint_space_inverse(equations, a)
    M, H, J = equations.M[6:, 6:], equations.M[:6, 6:], equations.J[:, 6:]
    M_c = np.linalg.inv(J @ np.linalg.solve(M, J.T))

    def torques(arbitrary):
        projected = M @ a[6:] - J.T @ (M_c @ (J @ a[6:]))
        return projected + H.T @ a[:6] + J.T @ arbitrary + equations.h[6:]

    assert_same(torques(M_c @ (J @ a[6:]) - found.multipliers), found.tau, 1e-8)
    assert np.abs(torques(-found.multipliers) - found.tau).max() > 0.1


def test_projection_and_its_condition():
    """What not to get: the driven rows of (4.236) do not give the motion; with the Q_a of torques that do, they do."""
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    a = met(equations, 7)
    Q = projected_force(equations, a)
    assert np.abs(kkt(equations, Q[robot.driven])[0] - a).max() > 0.1
    with pytest.raises(NotSupportedError, match="without drive") as caught:
        inverse_dynamics_constrained(robot, q, v, a, constraints, "projection")
    assert caught.value.evidence["largest force at a passive degree of freedom [N m, N]"] == np.abs(Q[:6]).max()
    good = weighted_inverse(equations, a)
    unconstrained = equations.forces(good.tau) - equations.h
    found = inverse_dynamics_constrained(robot, q, v, a, constraints, "projection", preferred=unconstrained)
    assert_same(found.tau, good.tau, 1e-8)
    assert_same(found.multipliers, good.multipliers, 1e-8)
    assert found.residual < 1e-8


def test_projection_serves_fully_driven_robots():
    equations = random_equations(7, 7, 2, seed=8)
    a = met(equations, 8)
    found = projection_inverse(equations, a)
    assert found.residual < 1e-10
    assert_same(kkt(equations, found.tau)[0], a, 1e-10)


def test_the_multiplier_of_4_239_is_minus_that_of_the_book():
    """R⁻¹ Q_cᵀ (M a + h - Sᵀ τ) is the force on the robot; the book's λ = -F̄ᶜ would hold in M a + h = Sᵀ τ - Jᵀ λ."""
    equations = random_equations(12, 8, 6, seed=9)
    a = met(equations, 9)
    found = qr_inverse(equations, a)
    left = equations.M @ a + equations.h - equations.forces(found.tau)
    Q, R = np.linalg.qr(equations.J.T)
    printed = np.linalg.solve(R, Q.T @ left)
    assert_same(printed, found.multipliers, 1e-10)
    assert_same(left - equations.J.T @ printed, np.zeros(12), 1e-9)
    assert np.abs(left + equations.J.T @ printed).max() > 0.1


def test_rounding_is_no_support():
    """A contact along the pole holds the cart and leaves the pole free: nothing carries it, no force is invented."""
    robot = robot_named("cartpole")
    q, v = np.array([0.1, 0.4]), np.zeros(2)
    along = constraints_of(robot, [contact(robot, q, "tip", "normal")])
    equations = equations_of(robot, q, v, along)
    assert 0.0 < abs(equations.J[0, 1]) < 1e-15  # the pole's part of J: rounding
    a = np.array([-equations.drift[0] / equations.J[0, 0], 1.0])
    for method in METHODS:
        found = inverse_dynamics_constrained(robot, q, v, a, along, method)
        assert found.residual > 1e-2
        assert np.abs(found.multipliers).max() < 1e3


@pytest.mark.parametrize("name", ["anymal", "cartpole"])
def test_motions_that_no_torques_give_are_told(name):
    """A cart-pole whose tip slides at one height has one motion and one drive; without contact, too many motions."""
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    a = met(equations, 10)
    found = inverse_dynamics_constrained(robot, q, v, a, constraints)
    assert found.residual < 1e-8
    free = inverse_dynamics_constrained(robot, q, v, a)
    assert free.residual > 1e-2
    assert np.abs(fdop(robot, q, v, free.tau).a - a).max() > 1e-3
    off = inverse_dynamics_constrained(robot, q, v, a + 1.0, constraints)
    assert off.violation > 1e-2


def test_hyperstatic_contacts():
    robot, q, v, _ = case("limbed")
    parts = (contact(robot, q, "tip0"), contact(robot, q, "tip1"), contact(robot, q, "tip0", "flat", "again"))
    twice = constraints_of(robot, parts)
    equations = equations_of(robot, q, v, twice)
    a = met(equations, 11)
    results = [inverse_dynamics_constrained(robot, q, v, a, twice, method) for method in METHODS]
    for found in results:
        assert found.residual < 1e-8
        assert_same(fdop(robot, q, v, found.tau, twice).a, a, 1e-8)
    assert_same(results[0].tau, results[1].tau, 1e-9)
    assert_same(results[0].constraint_force, results[1].constraint_force, 1e-9)
    assert_same(results[0].multipliers[:6], results[0].multipliers[12:], 1e-8)
    with pytest.raises(NotSupportedError, match="independent"):
        inverse_dynamics_constrained(robot, q, v, a, twice, "projection")


def test_without_constraints_it_is_inverse_dynamics():
    robot = robot_named("arm4")
    q, v, a = np.array([0.1, 0.2, 0.3, 0.4]), np.ones(4), np.arange(4.0)
    for method in (*METHODS, "projection"):
        found = inverse_dynamics_constrained(robot, q, v, a, method=method)
        assert_same(found.tau, rnea(robot.tree, q, v, a)[robot.driven], 1e-11)


def test_wrong_arguments():
    robot, q, v, constraints = case("limbed")
    a = np.zeros(robot.nv)
    with pytest.raises(UnknownNameError):
        inverse_dynamics_constrained(robot, q, v, a, constraints, "least")
    with pytest.raises(ShapeError, match="weights"):
        inverse_dynamics_constrained(robot, q, v, a, constraints, weights=np.ones(3))
    with pytest.raises(ShapeError, match="positive"):
        inverse_dynamics_constrained(robot, q, v, a, constraints, weights=np.zeros(robot.nu))
    with pytest.raises(ShapeError, match="`a`"):
        inverse_dynamics_constrained(robot, q, v, a[1:], constraints)
    with pytest.raises(NotSupportedError, match="weights"):
        inverse_dynamics_constrained(robot, q, v, a, constraints, "projection", weights=np.ones(robot.nu))


def test_sizes_of_the_operators():
    """4/1/2 and 12/8/3 are not fully actuated: least squares, and the residual says so."""
    for size in SIZES[:2]:
        equations = random_equations(*size)
        found = weighted_inverse(equations, met(equations, 12))
        assert found.residual > 1e-3
        assert not np.isnan(found.tau).any()
