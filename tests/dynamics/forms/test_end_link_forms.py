import numpy as np
import pytest

from surefoot.dynamics.forms.end_link import constraint_forces, free_directions, limb_coordinates
from surefoot.dynamics.forms.reduced import split_equations
from surefoot.errors import ModelError, ShapeError
from surefoot.kinematics import relative_jacobian
from surefoot.kinematics.frames import WORLD, frame_of
from surefoot.kinematics.frames.path import relative_bias
from tests.dynamics.driven_examples import case, equations_of, held, kkt, limbed, random_equations
from tests.dynamics.examples import assert_same, robot_named


def turning_feet(seed):
    """A robot on two points, and the directions in which its feet are free to turn."""
    robot = limbed(6)
    q, v, constraints = held(robot, {"tip0": "point", "tip1": "point"}, seed)
    frames = [frame_of(robot, tip) for tip in ("tip0", "tip1")]
    J = np.vstack([relative_jacobian(robot.tree, WORLD, frame, q)[3:] for frame in frames])
    drift = np.concatenate([relative_bias(robot.tree, WORLD, frame, q, v)[3:] for frame in frames])
    return robot, equations_of(robot, q, v, constraints), J, drift


@pytest.mark.parametrize("seed", range(3))
def test_free_directions(seed):
    robot, equations, J_m, drift_m = turning_feet(seed)
    form = free_directions(*equations[:4], J_m, drift_m)
    tau = np.random.default_rng(seed).standard_normal(robot.nu)
    a, _ = kkt(equations, tau)
    expected = J_m @ a + drift_m
    assert_same(form.acceleration(equations.forces(tau)), expected, 1e-9)
    assert_same(form.inertia, form.inertia.T, 1e-9)
    assert_same(equations.J @ form.inverse, np.zeros((6, 6)), 1e-9)  # no push along the contacts
    assert_same(J_m @ form.inverse, np.eye(6), 1e-9)


def test_force_along_free_directions():
    """Q = J_mᵀ F + N*(J_m) Q_a gives the acceleration that F was asked for."""
    _, equations, J_m, drift_m = turning_feet(4)
    form, wish = free_directions(*equations[:4], J_m, drift_m), np.arange(1.0, 7.0)
    arbitrary = np.random.default_rng(4).standard_normal(len(equations.h))
    for given in (None, arbitrary):
        Q = J_m.T @ form.force(wish, given) + (0.0 if given is None else form.dual(given))
        full = equations._replace(driven=np.arange(len(Q)))
        a, _ = kkt(full, Q)
        assert_same(J_m @ a + drift_m, wish, 1e-9)


def test_printed_terms_of_free_directions_are_wrong():
    """What not to get: M̄_m in place of its inverse (4.227), J_m v in place of J̇_m v (4.225)."""
    robot, equations, J_m, drift_m = turning_feet(5)
    form = free_directions(*equations[:4], J_m, drift_m)
    tau = np.random.default_rng(5).standard_normal(robot.nu)
    a, _ = kkt(equations, tau)
    right = J_m @ a + drift_m
    assert np.abs(form.inertia @ (form.inverse.T @ equations.forces(tau) - form.bias) - right).max() > 0.1
    still = free_directions(*equations[:4], J_m, np.zeros(6))
    assert np.abs(still.acceleration(equations.forces(tau)) - right).max() > 1e-3


def test_directions_that_are_held_are_refused():
    _, equations, J_m, drift_m = turning_feet(6)
    with pytest.raises(ModelError, match="depend"):
        free_directions(*equations[:4], np.vstack([J_m, equations.J[:1]]), np.append(drift_m, 0.0))


@pytest.mark.parametrize("name", ["talos", "anymal", "limbed"])
def test_constraint_forces(name):
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    tau = np.random.default_rng(7).standard_normal(robot.nu)
    found = constraint_forces(*equations[:4], equations.forces(tau))
    assert_same(found, kkt(equations, tau)[1], 1e-8)
    giving = np.linspace(-1.0, 1.0, len(found))
    soft = constraint_forces(*equations[:4], equations.forces(tau), giving)
    moved = equations._replace(drift=equations.drift - giving)
    assert_same(soft, kkt(moved, tau)[1], 1e-8)


def test_printed_constraint_forces_do_not_exist():
    """What not to get: (4.224) divides by J T̄ Jᵀ, which is zero."""
    equations = random_equations(12, 8, 3)
    M, _, J, _, _ = equations
    MJ = np.linalg.solve(M, J.T)
    mobility = np.linalg.solve(M, np.eye(12) - J.T @ np.linalg.solve(J @ MJ, MJ.T))
    assert_same(J @ mobility, np.zeros((3, 12)), 1e-12)


def test_limb_coordinates():
    """Torques in all rows, contact forces in those of the end links only."""
    robot = limbed(6)
    q, v, constraints = held(robot, {"tip0": "flat", "tip1": "flat"}, 8)
    equations = equations_of(robot, q, v, constraints)
    parts = split_equations(*equations[:4], robot.base_rows)
    form, tau = limb_coordinates(parts), np.random.default_rng(8).standard_normal(12)
    a, multipliers = kkt(equations, tau)
    ends = equations.J @ a + equations.drift
    assert_same(ends, np.zeros(12), 1e-9)
    left = form.force(np.concatenate([a[:6], ends]), tau)
    assert_same(left[:6], np.zeros(6), 1e-8)
    assert_same(left[6:], multipliers, 1e-8)
    assert_same(form.torque_map[:6], -parts.C @ np.linalg.inv(parts.J).T, 1e-11)
    assert_same(form.inertia, form.inertia.T, 1e-11)


def test_limb_coordinates_of_a_moving_robot():
    """With feet that move freely, nothing is left for contacts."""
    robot = limbed(6)
    q, _, constraints = held(robot, {"tip0": "flat", "tip1": "flat"}, 9)
    v, rng = np.random.default_rng(9).standard_normal(robot.nv), np.random.default_rng(10)
    equations = equations_of(robot, q, v, constraints)
    tau = rng.standard_normal(12)
    a = np.linalg.solve(equations.M, equations.forces(tau) - equations.h)
    form = limb_coordinates(split_equations(*equations[:4], robot.base_rows))
    ends = equations.J @ a + equations.drift
    assert_same(form.force(np.concatenate([a[:6], ends]), tau), np.zeros(18), 1e-8)


def test_redundant_limbs_have_no_limb_coordinates():
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    with pytest.raises(ShapeError, match="as many"):
        limb_coordinates(split_equations(*equations[:4], robot.base_rows))
    straight = robot_named("anymal")
    assert straight.nu == 12
