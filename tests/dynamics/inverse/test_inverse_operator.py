import numpy as np
import pytest

import surefoot as sf
from surefoot import ops
from surefoot.dynamics.constraints.constraints import constraints_of, contact
from surefoot.dynamics.constraints.equations import Baumgarte
from surefoot.dynamics.inverse.driven_equations import actuation, driven_equations
from surefoot.dynamics.inverse.forward_operator import fdop, forward_operator
from surefoot.dynamics.inverse.operator import Weight, idop, inverse_operator, weight_matrix
from surefoot.errors import ModelError, ShapeError, UnknownNameError
from tests.dynamics.driven_examples import CASES, SIZES, case, equations_of, kkt, limbed, random_equations
from tests.dynamics.examples import assert_same, robot_named

SOLVERS = ("null_space", "schur")


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_what_is_found_is_physical(size, solver):
    """Koch, section 5.2: FD(tau_ID) = a_ID and contacts exact, for any desired accelerations."""
    equations = random_equations(*size)
    desired = np.random.default_rng(1).standard_normal(size[1])
    found = inverse_operator(equations, desired, solver=solver)
    a, multipliers = kkt(equations, found.tau)
    assert_same(found.a, a, 1e-10)
    assert_same(found.multipliers, multipliers, 1e-9)
    assert_same(equations.J @ found.a, -equations.drift, 1e-11)
    again = forward_operator(equations, found.tau)
    assert_same(again.a, found.a, 1e-10)
    assert_same(again.multipliers, found.multipliers, 1e-9)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_it_is_the_optimum(size, solver):
    """The gradient of (5.26) lies in the range of Jᵀ."""
    equations = random_equations(*size, seed=2)
    M, h, J, _, driven = equations
    desired = np.random.default_rng(2).standard_normal(size[1])
    found = inverse_operator(equations, desired, Weight("mass", 0.7), solver)
    K = 0.7 * M[np.ix_(driven, driven)]
    gradient = M @ found.a + h
    gradient[driven] -= K @ (desired - found.a[driven])
    assert_same(gradient, J.T @ found.multipliers, 1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("size", SIZES, ids=str)
def test_round_trip(size, solver):
    equations = random_equations(*size, seed=3)
    tau = np.random.default_rng(3).standard_normal(size[1])
    K = weight_matrix(equations, Weight("mass", 2.0))
    desired = forward_operator(equations, tau).a[equations.driven] + np.linalg.solve(K, tau)
    assert_same(inverse_operator(equations, desired, K, solver).tau, tau, 1e-9)


@pytest.mark.parametrize("weight", [Weight(), Weight("mass", 5.0), Weight("flat", 500.0)], ids=str)
def test_solvers_agree(weight):
    equations = random_equations(36, 30, 12, seed=4)
    desired = np.random.default_rng(4).standard_normal(30)
    one, other = (inverse_operator(equations, desired, weight, solver) for solver in SOLVERS)
    for x, y in zip(one, other, strict=True):
        assert_same(x, y, 1e-9)


def test_large_weights_reach_what_can_be_reached():
    """Fully actuated and not overdetermined: the desired accelerations are met in the limit."""
    equations = random_equations(12, 8, 4, seed=5)
    assert actuation(equations.J, equations.driven).full
    desired = np.random.default_rng(5).standard_normal(8)
    errors = [
        np.abs(inverse_operator(equations, desired, Weight("mass", alpha)).a[equations.driven] - desired).max()
        for alpha in (1.0, 1e3, 1e6)
    ]
    assert errors[0] > 1e-2
    assert errors[2] < 2e-3 * errors[1]  # as 1/α


def test_printed_signs_are_wrong():
    """What not to get: (5.36) with +γ, (5.41) as printed, and (5.27) with [S, S] in its last row and Sᵀ above."""
    nv, nu, m = 12, 8, 3
    equations = random_equations(nv, nu, m, seed=6)
    M, h, J, drift, driven = equations
    S, P = np.eye(nv)[driven], np.eye(nv)[equations.passive]
    desired = np.random.default_rng(6).standard_normal(nu)
    found = inverse_operator(equations, desired)
    K = S @ M @ S.T
    F = np.block([[S @ M @ S.T + K, S @ M @ P.T, S @ J.T], [P @ M @ S.T, P @ M @ P.T, P @ J.T]])
    F = np.vstack([F, np.block([J @ S.T, J @ P.T, np.zeros((m, m))])])
    right = [K @ desired - S @ h, -P @ h]
    corrected, printed = (np.linalg.solve(F, np.concatenate([*right, sign * drift])) for sign in (-1.0, 1.0))
    assert_same(S.T @ corrected[:nu] + P.T @ corrected[nu:nv], found.a, 1e-10)
    assert_same(-corrected[nv:], found.multipliers, 1e-9)
    assert np.abs(J @ (S.T @ printed[:nu] + P.T @ printed[nu:nv]) + drift).max() > 0.1

    L = np.linalg.cholesky(S @ M @ S.T + K)
    U, V = np.linalg.solve(L, S @ M @ P.T), np.linalg.solve(L, S @ J.T)
    r = np.linalg.solve(L, S @ h - K @ desired)
    A, C, B = U.T @ U - P @ M @ P.T, U.T @ V + P @ J.T, -V.T @ V
    a, b = -U.T @ r + P @ h, -V.T @ r + drift
    minus_lambda = np.linalg.solve(C.T @ np.linalg.solve(A, C) + B, C.T @ np.linalg.solve(A, a) + b)
    assert np.abs(-minus_lambda - found.multipliers).max() > 0.1

    def by_27(last):
        Z = np.zeros
        rows = [
            [M, Z((nv, nv)), J.T, S.T],
            [Z((nv, nv)), S.T @ K @ S, Z((nv, m)), S.T * (1.0 if last > 0 else -1.0)],
            [J, Z((m, nv)), Z((m, m)), Z((m, nu))],
            [S, last * S, Z((nu, m)), Z((nu, nu))],
        ]
        right = np.concatenate([-h, S.T @ K @ desired, -drift, np.zeros(nu)])
        return np.linalg.lstsq(np.block(rows), right, rcond=None)[0]

    good, bad = by_27(-1.0), by_27(1.0)
    assert_same(good[:nv], found.a, 1e-9)
    assert_same(-good[2 * nv + m :], found.tau, 1e-9)
    assert np.abs(bad[:nv] - found.a).max() > 0.1
    assert_same(bad[:nv], inverse_operator(equations, -desired).a, 1e-9)  # as printed: for the opposite wish


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", CASES)
def test_robots(name, solver):
    robot, q, v, constraints = case(name)
    equations = equations_of(robot, q, v, constraints)
    desired = np.random.default_rng(7).standard_normal(robot.nu)
    found = idop(robot, q, v, desired, constraints, solver)
    forward = fdop(robot, q, v, found.tau, constraints)
    assert_same(forward.a, found.a, 1e-10)
    assert_same(forward.multipliers, found.multipliers, 1e-8)
    a, _ = kkt(equations, found.tau)
    assert_same(found.a, a, 1e-9)
    scale = max(1.0, np.abs(found.a).max())
    assert np.abs(equations.J @ found.a + equations.drift).max() < 1e-10 * scale
    K = weight_matrix(equations, Weight())
    again = idop(robot, q, v, forward.a[robot.driven] + np.linalg.solve(K, found.tau), constraints, solver)
    assert_same(again.tau, found.tau, 1e-8)


def test_full_actuation():
    """A floating robot on one flat foot is, on one point it is not; a free one never."""
    robot, q, _, constraints = case("limbed")
    J = constraints.jacobian(robot.tree, q)
    assert actuation(J, robot.driven) == (6, 6)
    assert actuation(J[:6], robot.driven).full
    assert not actuation(J[:3], robot.driven).full
    assert actuation(np.zeros((0, robot.nv)), robot.driven) == (0, 6)
    assert actuation(np.zeros((0, 3)), np.arange(3)).full


def test_underactuated_robots_are_served():
    """On one point: not fully actuated, the classical inverse dynamics does not exist, IdOP does."""
    robot, q, v, _ = case("limbed")
    point = constraints_of(robot, [contact(robot, q, "tip0", "point")])
    found = idop(robot, q, v, np.ones(robot.nu), point)
    assert_same(fdop(robot, q, v, found.tau, point).a, found.a, 1e-10)
    free = idop(robot, q, v, np.ones(robot.nu))
    assert_same(fdop(robot, q, v, free.tau).a, free.a, 1e-10)
    assert free.multipliers.shape == (0,)


def test_hyperstatic_contacts():
    """The same foot held twice: the same motion, the least forces."""
    robot, q, v, constraints = case("limbed")
    parts = (contact(robot, q, "tip0"), contact(robot, q, "tip1"), contact(robot, q, "tip0", "point", "again"))
    twice = constraints_of(robot, parts)
    desired = np.linspace(-1.0, 1.0, robot.nu)
    for solver in SOLVERS:
        once, more = (idop(robot, q, v, desired, item, solver) for item in (constraints, twice))
        assert_same(more.a, once.a, 1e-9)
        assert_same(more.tau, once.tau, 1e-9)
        assert_same(more.multipliers[:3], more.multipliers[12:], 1e-8)
        assert_same(more.multipliers[:3] + more.multipliers[12:], once.multipliers[:3], 1e-8)


def test_contradicting_constraints_are_named():
    """One foot, held in two places: pulled to both."""
    robot, q, v, _ = case("limbed")
    away = np.array(q)
    away[0] += 0.1
    parts = (contact(robot, q, "tip0"), contact(robot, away, "tip0", "point", "again"))
    assert np.isfinite(idop(robot, q, v, np.zeros(robot.nu), parts).a).all()
    with pytest.raises(ModelError, match="contradict"):
        idop(robot, q, v, np.zeros(robot.nu), parts, baumgarte=Baumgarte(1.0, 1.0))


def test_flat_weights_are_checked():
    robot, q, v, constraints = case("limbed")
    desired = np.zeros(robot.nu)
    with pytest.raises(ModelError, match="too small") as caught:
        idop(robot, q, v, desired, constraints, "schur", weight=Weight("flat", 1e-6))
    enough = caught.value.evidence["α of Weight('flat', α) that suffices"]
    for solver in SOLVERS:
        found = idop(robot, q, v, desired, constraints, solver, weight=Weight("flat", enough))
        assert_same(fdop(robot, q, v, found.tau, constraints).a, found.a, 1e-8)
    equations = equations_of(robot, q, v, constraints)
    H = equations.M[np.ix_(robot.driven, robot.driven)] + weight_matrix(equations, Weight("flat", 2.5))
    assert_same(H, 2.5 * np.eye(robot.nu))


def test_wrong_arguments():
    robot, q, v, constraints = case("limbed")
    with pytest.raises(ShapeError, match="desired"):
        idop(robot, q, v, np.zeros(robot.nu + 1), constraints)
    with pytest.raises(ShapeError, match="weight"):
        idop(robot, q, v, np.zeros(robot.nu), constraints, weight=np.eye(3))
    with pytest.raises(ShapeError, match="not finite"):
        fdop(robot, q, v, np.full(robot.nu, np.nan), constraints)
    with pytest.raises(UnknownNameError):
        idop(robot, q, v, np.zeros(robot.nu), constraints, "schurr")
    with pytest.raises(UnknownNameError):
        idop(robot, q, v, np.zeros(robot.nu), constraints, relaxation="forces")


@pytest.mark.parametrize("solver", SOLVERS)
def test_compiled(solver):
    """The text that runs on numbers is the text that becomes a kernel, here over a batch."""
    robot = robot_named("cartpole")
    q, v = np.array([0.3, 0.7]), np.array([0.4, -1.1])
    constraints = constraints_of(robot, [contact(robot, q, "tip", "normal")])

    def operator(tree, q, v, desired):
        return inverse_operator(driven_equations(tree, constraints, robot.driven, q, v), desired, solver=solver)

    kernel = sf.compile(robot, functions={"operator": (operator, {"desired": (1,)})})
    rng = np.random.default_rng(8)
    Q, V, D = q + 0.1 * rng.standard_normal((5, 2)), v + rng.standard_normal((5, 2)), rng.standard_normal((5, 1))
    a, tau, multipliers = kernel.operator(Q, V, D)
    for k in range(5):
        found = operator(robot.tree, Q[k], V[k], D[k])
        assert_same(a[k], found.a, 1e-10)
        assert_same(tau[k], found.tau, 1e-10)
        assert_same(multipliers[k], found.multipliers, 1e-10)


@pytest.mark.parametrize("solver", SOLVERS)
def test_traced_with_exact_derivatives(solver):
    """On a floating robot with one foot; derivatives along the desired accelerations are those of the linear map."""
    robot = limbed(3, 1)
    q, v = np.array(robot.home), np.zeros(robot.nv)
    constraints = constraints_of(robot, [contact(robot, q, "tip0", "point")])
    q[0] += 0.1
    equations = driven_equations(robot.tree, constraints, robot.driven, q, v)
    symbols = ops.symbols("y", robot.nu)
    matrices = [ops.symbols(name, np.shape(value)) for name, value in zip("MhJd", equations[:4], strict=True)]
    traced = inverse_operator(equations._replace(M=matrices[0], h=matrices[1], J=matrices[2], drift=matrices[3]),
                              symbols, solver=solver)  # fmt: skip
    direction = np.linspace(1.0, 2.0, robot.nu)
    rate = ops.rate(traced.tau, symbols, direction)
    values = [*equations[:4], np.linspace(-1.0, 1.0, robot.nu)]
    out = ops.function("f", [*matrices, symbols], [traced.a, traced.tau, rate])(*values)
    found = inverse_operator(equations, values[-1], solver=solver)
    assert_same(np.array(out[0]).ravel(), found.a, 1e-10)
    assert_same(np.array(out[1]).ravel(), found.tau, 1e-10)
    step = inverse_operator(equations, values[-1] + direction, solver=solver).tau - found.tau
    assert_same(np.array(out[2]).ravel(), step, 1e-10)


@pytest.mark.parametrize("solver", ["null_space", "schur"])
@pytest.mark.parametrize("size", [(7, 4, 7), (27, 25, 27), (36, 17, 36), (36, 30, 30)], ids=str)
def test_ill_conditioned_equations_lead_back_too(size, solver):
    """Inertias of very different size, and constraints that leave nothing: FD(tau) is a, contacts are met."""
    rng = np.random.default_rng(size)
    A = rng.standard_normal((size[0],) * 2) * 10.0 ** rng.uniform(-1.0, 1.0, size[0])[:, None]
    equations = random_equations(*size)._replace(M=A @ A.T + 0.01 * np.diag(np.diag(A @ A.T)))
    found = inverse_operator(equations, rng.standard_normal(size[1]), Weight(), solver)
    back = forward_operator(equations, found.tau)
    assert np.abs(found.a - back.a).max() < 1e-10 * max(1.0, np.abs(found.a).max())
    assert np.abs(equations.J @ found.a + equations.drift).max() < 1e-11 * max(1.0, np.abs(found.a).max())


def test_an_unknown_kind_of_weight_is_refused():
    with pytest.raises(UnknownNameError, match="heavy"):
        inverse_operator(random_equations(4, 1, 2), np.zeros(1), Weight("heavy"))
