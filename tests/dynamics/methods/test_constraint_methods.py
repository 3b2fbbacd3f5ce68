"""Methods of elimination on matrices: the same answer, also where rows repeat; and printed forms that are wrong."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from surefoot.dynamics.algebra.rank import contradictions, row_basis
from surefoot.dynamics.constraints import ConstrainedEquations
from surefoot.dynamics.methods import ELIMINATIONS
from surefoot.errors import ModelError
from tests.dynamics.constraint_examples import exact, off, random_equations

METHODS = sorted(ELIMINATIONS)
SIZES = [(1, 1, 1), (5, 2, 2), (12, 6, 6), (12, 6, 12), (30, 11, 24), (8, 8, 8), (8, 8, 20)]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("size", SIZES)
def test_agrees_with_extended_precision(method, size):
    """n unknowns, rank, rows: also redundant rows, and constraints that leave no motion."""
    for seed in range(3):
        equations = random_equations(np.random.default_rng(seed), *size)
        rows = row_basis(equations.J).independent
        assert len(rows) == size[1]
        a, force = exact(equations, rows)
        found, multipliers = ELIMINATIONS[method](equations)
        assert off(found, a) < 1e-9
        assert off(equations.J.T @ multipliers, force) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_multipliers_are_the_least(method):
    equations = random_equations(np.random.default_rng(1), 10, 4, 9)
    a, multipliers = ELIMINATIONS[method](equations)
    force = equations.M @ a - equations.force
    assert off(multipliers, np.linalg.lstsq(equations.J.T, force, rcond=1e-10)[0]) < 1e-8


@pytest.mark.parametrize("method", METHODS)
def test_rows_that_say_nothing(method):
    """Zero rows, no rows, and rows of very different length."""
    equations = random_equations(np.random.default_rng(2), 7, 3, 3)
    J = np.vstack([np.zeros(7), equations.J[0], 1e3 * equations.J[1:], np.zeros(7)])
    padded = equations._replace(J=J, drift=np.r_[0.0, equations.drift[0], 1e3 * equations.drift[1:], 0.0])
    expected, _ = exact(equations, (0, 1, 2))
    a, multipliers = ELIMINATIONS[method](padded)
    assert off(a, expected) < 1e-9
    assert multipliers[0] == pytest.approx(0.0, abs=1e-12)
    free, none = ELIMINATIONS[method](equations._replace(J=np.zeros((0, 7)), drift=np.zeros(0)))
    assert none.shape == (0,)
    assert off(free, np.linalg.solve(equations.M, equations.force)) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_where_rows_contradict_each_other_all_come_as_near_as_can_be(method):
    """Least squares over the rows, then Gauss' principle."""
    equations = random_equations(np.random.default_rng(3), 9, 4, 8)
    equations = equations._replace(drift=equations.drift + np.random.default_rng(4).standard_normal(8))
    nearest = equations.J @ np.linalg.lstsq(equations.J, equations.drift, rcond=1e-10)[0]
    a, multipliers = ELIMINATIONS[method](equations)
    assert off(equations.J @ a, -nearest) < 1e-9
    assert off(equations.M @ a, equations.force + equations.J.T @ multipliers) < 1e-9


@pytest.mark.parametrize("method", METHODS)
def test_least_constraint(method):
    """Gauss: no other admissible acceleration is nearer to the free one, in the metric of M."""
    rng = np.random.default_rng(5)
    equations = random_equations(rng, 9, 4, 6)
    a, multipliers = ELIMINATIONS[method](equations)
    free = np.linalg.solve(equations.M, equations.force)
    null = np.linalg.svd(equations.J)[2][4:].T

    def constraint(a):
        return 0.5 * (a - free) @ equations.M @ (a - free)

    for size in (1e-3, 1.0, 1e3):
        other = a + null @ (size * rng.standard_normal(5))
        assert np.allclose(equations.J @ other, -equations.drift, atol=1e-9 * (1.0 + size))
        assert constraint(other) > constraint(a)
    assert abs(null.T @ (equations.J.T @ multipliers)).max() < 1e-9 * abs(multipliers).max()  # no work


@pytest.mark.parametrize("method", ["lagrange", "elimination", "maggi_svd", "maggi_qr"])
def test_inertia_is_needed_only_along_motions_that_are_left(method):
    """Two coordinates, one without inertia, tied to each other."""
    tied = ConstrainedEquations(np.diag([2.0, 0.0]), np.array([3.0, 1.0]), np.array([[1.0, -1.0]]), np.array([0.5]))
    a, multipliers = ELIMINATIONS[method](tied)  # a_1 = a_0 + 0.5, and 2 a_0 = 3 + 1
    assert np.allclose(a, [2.0, 2.5])
    assert np.allclose(multipliers, [1.0])


@pytest.mark.parametrize("method", METHODS)
def test_motion_without_inertia_is_refused(method):
    loose = ConstrainedEquations(np.diag([2.0, 0.0]), np.array([3.0, 1.0]), np.array([[1.0, 0.0]]), np.array([0.0]))
    with pytest.raises(ModelError, match="positive definite"):
        ELIMINATIONS[method](loose)


def test_rank_goes_by_the_order_of_rows():
    J = np.array([[1.0, 2.0, 0.0], [0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 5.0, 1e-13], [0.0, 0.0, 1e-3]])
    basis = row_basis(J)
    assert basis.independent == (0, 2, 4)
    assert basis.redundant == (1, 3)
    assert np.allclose(basis.K @ basis.Q, J, atol=1e-12)
    assert np.allclose(basis.Q @ basis.Q.T, np.eye(3), atol=1e-14)


def test_contradictions_are_named():
    J = np.array([[1.0, 2.0], [0.0, 1.0], [2.0, 4.0]])
    assert contradictions(J, [1.0, 7.0, 2.0], ("a", "b", "c")) == {}
    found = contradictions(J, [1.0, 7.0, 3.0], ("a", "b", "c"))
    assert sorted(found) == ["a", "c"]
    assert np.hypot(found["a"], found["c"]) == pytest.approx(1.0 / np.sqrt(5.0))


class TestPrintedFormsThatAreWrong:
    """Nenchev & Konno 2019 and Koch, as printed: what not to get."""

    equations = random_equations(np.random.default_rng(6), 9, 4, 4)
    a, multipliers = ELIMINATIONS["lagrange"](equations)

    def test_4_197_without_the_mass_matrix(self):
        M, force, J, drift = self.equations
        inverse = np.linalg.pinv(J)
        N = np.eye(9) - inverse @ J
        rate = -inverse @ drift  # Ṅ q̇
        left = N @ M + M @ (np.eye(9) - N)
        assert off(np.linalg.solve(left, N @ force + M @ rate), self.a) < 1e-7
        assert off(np.linalg.solve(left, N @ force + rate), self.a) > 1e-2

    def test_4_221_inverts_zero(self):
        """T̄ = M⁻¹ N*(J): J T̄ = 0, so that J T̄ Jᵀ has no inverse."""
        M, _, J, _ = self.equations
        inverse = np.linalg.inv(M)
        M_c = np.linalg.inv(J @ inverse @ J.T)
        T = inverse @ (np.eye(9) - J.T @ M_c @ J @ inverse)
        assert np.abs(J @ T).max() < 1e-7 * np.abs(J @ inverse).max()
        assert np.abs(J @ T @ J.T).max() < 1e-7 * np.abs(J @ inverse @ J.T).max()

    def test_4_239_has_the_other_sign(self):
        M, force, J, _ = self.equations
        Q, R = np.linalg.qr(J.T)
        printed = np.linalg.solve(R, Q.T @ (force - M @ self.a))
        assert off(-printed, self.multipliers) < 1e-7
        assert off(M @ self.a, force + J.T @ printed) > 1e-2

    def test_2_23a_lets_constraint_forces_work(self):
        """X⁻ᵀ for X of motions, and Jᵀ λ on the side of M a."""
        M, force, J, _ = self.equations
        assert off(M @ self.a + J.T @ self.multipliers, force) > 1e-2
        rng = np.random.default_rng(7)
        lever = np.cross(np.eye(3), rng.standard_normal(3))
        X = np.block([[np.eye(3), lever], [np.zeros((3, 3)), np.eye(3)]])
        body, wrench = rng.standard_normal((6, 9)), rng.standard_normal(6)
        v = np.linalg.svd(X @ body)[2][6:].T @ rng.standard_normal(3)
        assert abs(wrench @ (X @ body) @ v) < 1e-12
        select = np.diag([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])  # a point is held
        v = np.linalg.svd(select @ X @ body)[2][3:].T @ rng.standard_normal(6)
        assert abs(wrench @ (select @ X @ body) @ v) < 1e-12
        assert abs(wrench @ (select @ np.linalg.inv(X).T @ body) @ v) > 1e-2


def swing(alpha: float, method: str = "lagrange"):
    """Buschmann 2014, section 3.4.1: a point on a circle in Cartesian coordinates for 100 s, let go horizontally."""

    def rates(_, state):
        r, v = state[:2], state[2:]
        drift = np.array([v @ v + 2.0 * alpha * (r @ v) + alpha**2 * 0.5 * (r @ r - 1.0)])
        equations = ConstrainedEquations(np.eye(2), np.array([0.0, -9.81]), r[None], drift)
        return np.concatenate([v, ELIMINATIONS[method](equations)[0]])

    found = solve_ivp(rates, (0.0, 100.0), [1.0, 0.0, 0.0, 0.0], method="RK45", rtol=1e-6, atol=1e-6)
    return found.t, np.abs(np.linalg.norm(found.y[:2], axis=0) - 1.0), found.nfev


@pytest.mark.slow
@pytest.mark.parametrize(
    ("alpha", "worst", "evaluations"),
    [(0.0, 3.0e-2, 12044), (10.0, 2.6e-7, 22562), (100.0, 1.7e-8, 138296)],
)
def test_golden_drift_of_the_pendulum(alpha, worst, evaluations):
    t, gap, count = swing(alpha)
    assert gap.max() == pytest.approx(worst, rel=0.03)
    assert count == pytest.approx(evaluations, rel=0.01)
    if alpha == 0.0:  # grows with t²
        early, late = (gap[np.searchsorted(t, end) - 20 : np.searchsorted(t, end)].mean() for end in (50.0, 100.0))
        assert 1.7 < np.log2(late / early) < 2.3


def test_golden_drift_of_the_pendulum_with_gains():
    assert swing(1.0)[1].max() == pytest.approx(4.5e-6, rel=0.03)
