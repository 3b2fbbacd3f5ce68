import numpy as np
import pytest

from surefoot.dynamics import base_coupling, centroidal_inertia, centroidal_momentum, crba, generalized_gravity, rnea
from surefoot.dynamics.forms.quasi_velocities import (
    locked_inertia_rate,
    quasi_velocity_drift,
    quasi_velocity_form,
    quasi_velocity_transform,
)
from surefoot.dynamics.inverse.driven_equations import DrivenEquations
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.kinematics import com_velocity
from tests.dynamics.driven_examples import case, equations_of, kkt, limbed
from tests.dynamics.examples import armed, assert_same, moved, robot_named, state, traced, two_roots

KINDS = ("base", "mixed", "centroidal")
ROBOTS = [limbed(4), armed(), robot_named("g1")]
STEP = 1e-5


def rate(robot, function, q, v):
    """Central difference along v."""
    return (function(moved(robot, q, v, STEP)) - function(moved(robot, q, v, -STEP))) / (2.0 * STEP)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_drift_is_the_rate_of_the_transform(robot, kind):
    q, v, _ = state(robot, 1)
    expected = rate(robot, lambda x: quasi_velocity_transform(robot.tree, x, kind), q, v) @ v
    assert_same(quasi_velocity_drift(robot.tree, q, v, kind), expected, 1e-7)


@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_rate_of_the_locked_inertia(robot):
    q, v, _ = state(robot, 2)
    expected = rate(robot, lambda x: centroidal_inertia(robot.tree, x)[3:, 3:], q, v)
    found = locked_inertia_rate(robot.tree, q, v)
    assert_same(found, expected, 1e-7)
    assert_same(found, found.T, 1e-11)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("robot", ROBOTS, ids=lambda robot: robot.name)
def test_the_motion_is_the_same(robot, kind):
    """M_u u' + h_u = T⁻ᵀ Q for u' = T a + Ṫ v; powers and kinetic energies agree."""
    q, v, a = state(robot, 3)
    form, Q = quasi_velocity_form(robot.tree, q, v, kind), rnea(robot.tree, q, v, a)
    u, changed = form.T @ v, form.T @ a + form.drift
    assert_same(form.inverse @ form.T, np.eye(robot.nv), 1e-11)
    assert_same(form.M @ changed + form.h, form.forces(Q), 1e-10)
    assert_same(form.acceleration(changed), a, 1e-10)
    assert_same(u @ form.forces(Q), v @ Q, 1e-10)
    assert_same(u @ form.M @ u, v @ crba(robot.tree, q) @ v, 1e-10)


def test_what_the_rows_say():
    """Nenchev & Konno 2019, (4.158), (4.160): the centre of mass feels gravity alone, ω_C feels İ_C ω_C alone."""
    robot = limbed(4)
    q, v, _ = state(robot, 4)
    weight = -robot.mass * np.asarray(robot.tree.gravity)
    mixed, central = (quasi_velocity_form(robot.tree, q, v, kind) for kind in ("mixed", "centroidal"))
    assert_same((mixed.T @ v)[:3], com_velocity(robot.tree, q, v))
    assert_same(mixed.h[:3], weight, 1e-11)
    assert_same(central.h[:3], weight, 1e-11)
    omega = (central.T @ v)[3:6]
    assert_same(central.h[3:6], locked_inertia_rate(robot.tree, q, v) @ omega, 1e-10)
    coupling = base_coupling(robot.tree, q)
    H = rate(robot, lambda x: base_coupling(robot.tree, x).H_C, q, v)
    expected = locked_inertia_rate(robot.tree, q, v) @ (coupling.R @ v[3:6]) + H @ v[6:]
    assert_same(mixed.h[3:6], expected, 1e-7)  # c_mM = İ_C ω_B + Ḣ_C θ'
    resting = quasi_velocity_form(robot.tree, q, np.zeros(robot.nv), "centroidal")
    assert_same(resting.h[3:], np.zeros(robot.nv - 3), 1e-11)
    assert_same(resting.h, resting.forces(generalized_gravity(robot.tree, q)), 1e-11)


def test_momentum_changes_by_external_wrenches_only():
    """In the centroidal form, torques do not appear in the first six rows."""
    robot = limbed(4)
    q, v, _ = state(robot, 5)
    form = quasi_velocity_form(robot.tree, q, v, "centroidal")
    torques = np.concatenate([np.zeros(6), np.arange(1.0, 9.0)])
    assert_same(form.forces(torques), torques, 1e-11)
    L = centroidal_inertia(robot.tree, q) @ (form.T @ v)[:6]
    assert_same(L, centroidal_momentum(robot.tree, q, v), 1e-11)


def test_constraints_in_other_velocities():
    """The constrained motion is the same; J_cC = J_cB - C_cCᵀ J_θ (what not to get: (4.161) without the transpose)."""
    robot, q, v, constraints = case("limbed")
    equations = equations_of(robot, q, v, constraints)
    tau = np.random.default_rng(6).standard_normal(robot.nu)
    a, multipliers = kkt(equations, tau)
    for kind in KINDS:
        form = quasi_velocity_form(robot.tree, q, v, kind)
        J, drift = form.constraints(equations.J, equations.drift)
        changed = DrivenEquations(form.M, form.h, J, drift, equations.driven)
        found, forces = kkt(changed, tau)  # T⁻ᵀ Sᵀ τ = Sᵀ τ
        assert_same(form.acceleration(found), a, 1e-9)
        assert_same(forces, multipliers, 1e-8)
    coupling, C = base_coupling(robot.tree, q), J[:, :6].T
    J_theta = np.vstack([coupling.J_CB, coupling.J_omega])
    assert_same(J[:, 6:], equations.J[:, 6:] - C.T @ J_theta, 1e-10)
    single = slice(0, 6)  # of one foot, where C is square and can be used either way
    wrong = equations.J[single, 6:] - C[:, single] @ J_theta
    assert np.abs(wrong - J[single, 6:]).max() > 0.1


def test_printed_mass_matrix_is_no_congruence():
    """What not to get: T_MBᵀ M_B T_BM of (4.135), and c_M of (4.136) with T_MBᵀ."""
    robot = limbed(4)
    q, v, _ = state(robot, 7)
    base, mixed = (quasi_velocity_form(robot.tree, q, v, kind) for kind in ("base", "mixed"))
    T_MB = mixed.T @ base.inverse
    T_BM = np.linalg.inv(T_MB)
    assert_same(T_BM.T @ base.M @ T_BM, mixed.M, 1e-10)
    printed = T_MB.T @ base.M @ T_BM
    assert np.abs(printed - printed.T).max() > 0.1
    drift = rate(robot, lambda x: _base_to_mixed(robot, x), q, v)
    right = T_BM.T @ (base.h + base.M @ (drift @ (mixed.T @ v)))
    assert_same(right, mixed.h, 1e-6)
    assert np.abs(T_MB.T @ (base.h + base.M @ (drift @ (base.T @ v))) - mixed.h).max() > 0.1


def _base_to_mixed(robot, q):
    base, mixed = (quasi_velocity_transform(robot.tree, q, kind) for kind in ("base", "mixed"))
    return base @ np.linalg.inv(mixed)


@pytest.mark.parametrize("kind", KINDS)
def test_traced(kind):
    robot = limbed(3, 1)
    q, v, _ = state(robot, 8)
    found = quasi_velocity_form(robot.tree, q, v, kind)
    assert_same(traced(lambda q, v: quasi_velocity_form(robot.tree, q, v, kind).h, q, v), found.h, 1e-11)
    assert_same(traced(lambda q, v: quasi_velocity_form(robot.tree, q, v, kind).M, q, v), found.M, 1e-11)


def test_wrong_arguments():
    robot = two_roots()
    q, v, _ = state(robot, 9)
    with pytest.raises(NotSupportedError):
        quasi_velocity_form(robot.tree, q, v, "mixed")
    floating = limbed(3, 1)
    q, v, _ = state(floating, 9)
    with pytest.raises(UnknownNameError):
        quasi_velocity_form(floating.tree, q, v, "central")
