import numpy as np
import pinocchio as pin
import pytest

from surefoot import ops
from surefoot.dynamics import crba, forward_dynamics, rnea
from surefoot.dynamics.algebra.cholesky import ancestors_of_dofs
from surefoot.dynamics.derivatives.derivatives import aba_derivatives, rnea_derivatives
from surefoot.errors import ModelError
from surefoot.robot.loading import load
from tests.dynamics.examples import (
    armed,
    assert_same,
    followers,
    full_configuration,
    moved,
    operations,
    robot_named,
    state,
    traced,
    two_roots,
    widened,
    wrenches,
)
from tests.whole_zoo import WHOLE_ZOO

SINGULAR = {"romeo", "bravo7_gripper", "falcon_bravo7_gripper", "bluevolta_bravo7_gripper"}  # massless fingers
ALL_KINDS = [armed(), armed("planar"), armed("fixed"), two_roots()]
EPS = np.finfo(float).eps


def by_differences(robot, function, q, step=1e-6):
    """∂ function(q) in the tangent space, by central differences."""
    rows = np.eye(robot.nv)
    columns = [function(moved(robot, q, row, step)) - function(moved(robot, q, row, -step)) for row in rows]
    return np.stack(columns, axis=-1) / (2.0 * step)


def by_vector(function, x, step=1e-6):
    columns = [function(x + step * row) - function(x - step * row) for row in np.eye(len(x))]
    return np.stack(columns, axis=-1) / (2.0 * step)


def check_inverse(robot, seed):
    """Derivatives of inverse dynamics with wrenches on all bodies; the condition of the mass matrix is returned."""
    (q, v, a), F = state(robot, seed), wrenches(robot, seed)
    theirs = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    data = robot.model.createData()  # owns what the next line returns
    expected = pin.computeRNEADerivatives(robot.model, data, q, v, a, theirs)
    for ours, reference in zip(rnea_derivatives(robot.tree, q, v, a, F), expected, strict=True):
        assert_same(ours, reference)
    return np.linalg.cond(expected[2])


def check_forward(robot, seed, condition):
    (q, v, tau), F = state(robot, seed), wrenches(robot, seed)
    theirs = [pin.Force.Zero(), *(pin.Force(f) for f in F)]
    data = robot.model.createData()  # owns what the next line returns
    da_dq, da_dv, upper = pin.computeABADerivatives(robot.model, data, q, v, tau, theirs)
    expected = da_dq, da_dv, np.triu(upper) + np.triu(upper, 1).T
    for ours, reference in zip(aba_derivatives(robot.tree, q, v, tau, F), expected, strict=True):
        assert_same(ours, reference, 20.0 * EPS * condition)


@pytest.mark.parametrize("name", WHOLE_ZOO)
@pytest.mark.parametrize(
    "seeds", [range(1), pytest.param(range(1, 5), marks=pytest.mark.slow)], ids=["few states", "more states"]
)
def test_whole_zoo_against_pinocchio(name, seeds):
    robot = load(name)
    for seed in seeds:
        condition = check_inverse(robot, seed)
        if name not in SINGULAR and seed < 3:
            check_forward(robot, seed, condition)


@pytest.mark.parametrize("name", ["romeo", "bravo7_gripper"])
def test_singular_mass_matrices_are_refused(name):
    robot = robot_named(name)
    with pytest.raises(ModelError, match="singular"):
        aba_derivatives(robot.tree, *state(robot, 0))


@pytest.mark.parametrize("robot", ALL_KINDS, ids=lambda robot: robot.name)
def test_all_joint_kinds_by_finite_differences(robot):
    tree, (q, v, a), F = robot.tree, state(robot, 7), wrenches(robot, 7)
    dtau_dq, dtau_dv, M = rnea_derivatives(tree, q, v, a, F)
    assert_same(dtau_dq, by_differences(robot, lambda x: rnea(tree, x, v, a, F), q), 1e-7)
    assert_same(dtau_dv, by_vector(lambda x: rnea(tree, q, x, a, F), v), 1e-7)
    assert_same(M, by_vector(lambda x: rnea(tree, q, v, x, F), a), 1e-7)
    assert_same(M, crba(tree, q), 1e-14)
    assert (M == M.T).all()


@pytest.mark.parametrize("robot", ALL_KINDS, ids=lambda robot: robot.name)
def test_forward_derivatives_by_finite_differences(robot):
    tree, (q, v, tau), F = robot.tree, state(robot, 8), wrenches(robot, 8)
    da_dq, da_dv, inverse = aba_derivatives(tree, q, v, tau, F)
    tolerance = 1e-9 * np.linalg.cond(crba(tree, q))
    assert_same(da_dq, by_differences(robot, lambda x: forward_dynamics(tree, x, v, tau, F), q), tolerance)
    assert_same(da_dv, by_vector(lambda x: forward_dynamics(tree, q, x, tau, F), v), tolerance)
    assert_same(inverse, by_vector(lambda x: forward_dynamics(tree, q, v, x, F), tau), tolerance)
    assert (inverse == inverse.T).all()


@pytest.mark.parametrize("robot", [*ALL_KINDS, robot_named("g1")], ids=lambda robot: robot.name)
def test_forward_and_inverse_derivatives_belong_together(robot):
    """M ∂a/∂x = -∂τ/∂x where τ gives a."""
    tree, (q, v, a), F = robot.tree, state(robot, 9), wrenches(robot, 9)
    dtau_dq, dtau_dv, M = rnea_derivatives(tree, q, v, a, F)
    da_dq, da_dv, inverse = aba_derivatives(tree, q, v, rnea(tree, q, v, a, F), F)
    tolerance = 20.0 * EPS * np.linalg.cond(M)
    assert_same(M @ da_dq, -dtau_dq, tolerance)
    assert_same(M @ da_dv, -dtau_dv, tolerance)
    assert_same(M @ inverse, np.eye(robot.nv), tolerance)


@pytest.mark.parametrize("robot", [*ALL_KINDS, robot_named("talos")], ids=lambda robot: robot.name)
def test_velocity_forces_are_quadratic(robot):
    """Euler's theorem: ∂τ/∂v v is twice the forces of velocities."""
    q, v, a = state(robot, 10)
    tree = robot.tree
    _, dtau_dv, _ = rnea_derivatives(tree, q, v, a)
    assert_same(dtau_dv @ v, 2.0 * (rnea(tree, q, v, a) - rnea(tree, q, 0.0 * v, a)))


@pytest.mark.parametrize("name", ["panda", "kinova"])
def test_helmholtz(name):
    """The forces derive from a Lagrangian: symmetric potential part, ∂τ/∂v + its transpose is twice dM/dt."""
    robot = robot_named(name)
    tree, (q, v, a) = robot.tree, state(robot, 11)
    at_rest, _, _ = rnea_derivatives(tree, q, 0.0 * v, 0.0 * a)
    assert_same(at_rest, at_rest.T)
    _, dtau_dv, _ = rnea_derivatives(tree, q, v, a)
    step = 1e-6
    dM_dt = (crba(tree, moved(robot, q, v, step)) - crba(tree, moved(robot, q, v, -step))) / (2.0 * step)
    assert_same(dtau_dv + dtau_dv.T, 2.0 * dM_dt, 1e-7)


@pytest.mark.parametrize("name", ["followers", "baxter", "panda", "pr2", "tiago_pro"])
def test_followers_project(name):
    robot, whole = robot_named(name, "reduce"), robot_named(name)
    q, v, a = state(robot, 12)
    F = wrenches(robot, 12)
    G, q_full = widened(robot, whole), full_configuration(robot, whole, q)
    expected = rnea_derivatives(whole.tree, q_full, G @ v, G @ a, F)
    found = rnea_derivatives(robot.tree, q, v, a, F)
    for ours, theirs in zip(found, expected, strict=True):
        assert_same(ours, G.T @ theirs @ G)
    da_dq, da_dv, inverse = aba_derivatives(robot.tree, q, v, rnea(robot.tree, q, v, a, F), F)
    M = found[2]
    tolerance = 20.0 * EPS * np.linalg.cond(M)
    assert_same(da_dq, -np.linalg.solve(M, found[0]), tolerance)
    assert_same(da_dv, -np.linalg.solve(M, found[1]), tolerance)
    assert_same(inverse, np.linalg.inv(M), tolerance)


def test_followers_by_finite_differences():
    robot = followers("reduce")
    tree, (q, v, a) = robot.tree, state(robot, 13)
    dtau_dq, dtau_dv, _ = rnea_derivatives(tree, q, v, a)
    assert_same(dtau_dq, by_differences(robot, lambda x: rnea(tree, x, v, a), q), 1e-7)
    assert_same(dtau_dv, by_vector(lambda x: rnea(tree, q, x, a), v), 1e-7)


def check_trace(robot, function, tolerance):
    tree, values = robot.tree, (*state(robot, 14), wrenches(robot, 14))
    found = traced(lambda *x: ops.stack(function(tree, *x)).reshape(-1), *values)
    assert_same(found, np.stack(function(tree, *values)).reshape(-1), tolerance)


@pytest.mark.parametrize("robot", ALL_KINDS, ids=lambda robot: robot.name)
def test_a_trace_gives_the_same_numbers(robot):
    check_trace(robot, rnea_derivatives, 1e-13)


@pytest.mark.parametrize(
    "robot", [two_roots(), followers("reduce"), robot_named("panda")], ids=lambda robot: robot.name
)
def test_a_trace_of_forward_derivatives_gives_the_same_numbers(robot):
    check_trace(robot, aba_derivatives, 1e-11)


def test_zeros_are_exact():
    """Between branches, and for what a floating base cannot feel: where it is, and how fast it goes straight on."""
    robot = robot_named("g1")
    q, v, a = (ops.symbols(name, size) for name, size in (("q", robot.nq), ("v", robot.nv), ("a", robot.nv)))
    lines = [{k, *above} for k, above in enumerate(ancestors_of_dofs(robot.tree))]
    apart = np.array([[i not in lines[j] and j not in lines[i] for j in range(robot.nv)] for i in range(robot.nv)])
    dtau_dq, dtau_dv, M = rnea_derivatives(robot.tree, q, v, a)
    for found in (dtau_dq, dtau_dv, M):
        assert (found[apart] == 0.0).all()
    assert (dtau_dq[:, :3] == 0.0).all()
    da_dq, da_dv, _ = aba_derivatives(robot.tree, q, v, a)
    assert (da_dq[:, :3] == 0.0).all()
    assert (da_dq[3:, 3:6] == 0.0).all()
    assert (da_dv[3:, :3] == 0.0).all()


def test_nothing_depends_on_where_the_robot_stands():
    robot = robot_named("go1")
    q, v, a = state(robot, 15)
    far = q.copy()
    far[:3] += 1e6
    for near, away in zip(rnea_derivatives(robot.tree, q, v, a), rnea_derivatives(robot.tree, far, v, a), strict=True):
        assert (near == away).all()


@pytest.mark.parametrize(
    ("name", "function", "most"),
    [("g1", rnea_derivatives, 22_200), ("talos", rnea_derivatives, 22_500), ("go1", aba_derivatives, 16_300)],
)
def test_few_operations(name, function, most):
    robot = robot_named(name)
    assert operations(lambda *x: ops.stack(function(robot.tree, *x)), robot.nq, robot.nv, robot.nv) <= most
