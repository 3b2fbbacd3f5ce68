"""All solvers of staged programs against known optima, and against each other."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.solvers.staged import SOLVERS, Iteration, SolverOptions, solve_staged
from tests.solvers.staged.problems import random_program, regulator, swing_up

EACH = pytest.mark.parametrize("solver", sorted(SOLVERS))
TIGHT = SolverOptions(tolerance=1e-9)


@EACH
def test_regulator_is_the_riccati_recursion(solver: str) -> None:
    problem, (A, B, Q, R, x0) = regulator()
    found = solve_staged(problem, solver, TIGHT)
    P, x, u = Q, x0, []
    gains = []
    for _ in range(problem.sizes.stages - 1):
        gains.insert(0, -np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A))
        P = Q + A.T @ P @ (A + B @ gains[0])
    for K in gains:
        u.append(K @ x)
        x = A @ x + B @ u[-1]
    assert found.success, found.message
    assert found.cost == pytest.approx(0.5 * x0 @ P @ x0, rel=1e-9)
    np.testing.assert_allclose(found.w[problem.sizes.starts[:-2] + 2], np.ravel(u), atol=1e-7)
    np.testing.assert_allclose(found.multipliers.bounds[:2], -P @ x0, atol=1e-6)  # of the fixed x_0
    if found.gains is not None:
        np.testing.assert_allclose(found.gains.feedback[:-1], gains, atol=1e-7)
        steady = scipy.linalg.solve_discrete_are(A, B, Q, R)
        assert np.linalg.norm(steady - P) < np.linalg.norm(steady - Q)


@EACH
@pytest.mark.parametrize("seed", range(12))
def test_random_convex_programs(solver: str, seed: int) -> None:
    """A point of a convex program with KKT residual zero is its optimum."""
    found = solve_staged(random_program(seed), solver, SolverOptions(tolerance=1e-8))
    assert found.success, found.message
    assert found.kkt_residual < 1e-6


@EACH
def test_swing_up_with_free_time(solver: str) -> None:
    """All solvers find the same motion: bang-bang with the duration in p."""
    found = solve_staged(swing_up(), solver, SolverOptions(tolerance=1e-7))
    assert found.success, found.message
    assert found.kkt_residual < 1e-6
    assert found.w[-1] == pytest.approx(2.38781, abs=1e-4)


@EACH
def test_progress_can_stop_and_limits_are_named(solver: str) -> None:
    lines: list[Iteration] = []

    def stop_early(line: Iteration) -> bool:
        lines.append(line)
        return line.number >= 3

    stopped = solve_staged(swing_up(12), solver, progress=stop_early)
    limited = solve_staged(swing_up(12), solver, SolverOptions(max_iterations=2))
    assert (stopped.success, stopped.outcome, lines[-1].number) == (False, "interrupted", 3)
    assert (limited.success, limited.outcome, limited.iterations) == (False, "iteration limit", 2)
    assert np.isfinite(stopped.w).all()


def test_unknown_solver_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean `ipopt`"):
        solve_staged(random_program(0), "ipop")


def test_missing_casadi_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "casadi", None)
    with pytest.raises(NotSupportedError, match="needs CasADi"):
        solve_staged(random_program(0), "ipopt")
