"""All solvers of staged programs against known optima, and against each other."""

from __future__ import annotations

import dataclasses
import signal
import sys
from collections.abc import Callable

import numpy as np
import pytest
import scipy.linalg

from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.solvers.staged import SOLVERS, Iteration, SolverOptions, StagedProblem, explain_conflict, solve_staged
from surefoot.solvers.staged.certificate import kkt_residual
from surefoot.solvers.staged.fatrop_library import libraries
from surefoot.solvers.staged.riccati.barrier import Errors
from tests.solvers.staged.problems import periodic, random_program, redundant, regulator, swing_up, too_far

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


CASES = [(solver, seed) for solver in ("ipopt", "riccati") for seed in range(12)]
CASES += [("fatrop", seed) for seed in (0, 1, 3, 6, 8, 10)]


@pytest.mark.parametrize(("solver", "seed"), CASES)
def test_random_convex_programs(solver: str, seed: int) -> None:
    """A point of a convex program with KKT residual zero is its optimum.

    FATROP's factorisation regards some of these Hessians as indefinite once μ is small, and then creeps: it gets the
    others only, and a looser tolerance.
    """
    tolerance = 1e-4 if solver == "fatrop" else 1e-8
    found = solve_staged(random_program(seed), solver, SolverOptions(tolerance=tolerance))
    assert found.success, found.message
    assert found.kkt_residual < 100.0 * tolerance


@pytest.mark.parametrize(
    "solver", ["riccati", *(pytest.param(name, marks=pytest.mark.slow) for name in ("fatrop", "ipopt", "sqp"))]
)
def test_swing_up_with_free_time(solver: str) -> None:
    """All solvers find the same motion: bang-bang with the duration in p.

    FATROP's restoration and SQP fail from the straight line, so they start from the motion with a little more torque.
    """
    needy = solver in ("fatrop", "sqp")
    near = solve_staged(swing_up(force=10.1), "riccati", SolverOptions(tolerance=1e-3)) if needy else None
    found = solve_staged(swing_up(), solver, SolverOptions(tolerance=1e-7), warm=near)
    assert found.success, found.message
    assert found.kkt_residual < 1e-6
    assert found.w[-1] == pytest.approx(2.39125, abs=1e-4)


@EACH
def test_periodic_motion(solver: str) -> None:
    """End rows tie x_N to x_0; the stiffness p is free. BFGS updates end at a looser tolerance."""
    problem, loose = periodic(), solver == "sqp"
    found = solve_staged(problem, solver, SolverOptions(tolerance=1e-5) if loose else TIGHT)
    assert found.success, found.message
    assert found.kkt_residual < (1e-5 if loose else 1e-7)
    assert found.cost == pytest.approx(0.0135038626, abs=1e-8)
    np.testing.assert_allclose(found.w[problem.sizes.starts[-2] :][:2], found.w[:2], atol=1e-8)


@pytest.mark.parametrize("solver", ["ipopt", "riccati"])
def test_redundant_equations(solver: str) -> None:
    """Equations that repeat each other, as of two flat feet, need no care of the user's. FATROP does not converge."""
    found = solve_staged(redundant(), solver)
    assert found.success, found.message
    assert found.cost == pytest.approx(1.5657002, abs=1e-5)


def test_infeasible_program_names_its_conflict() -> None:
    """The best that a force of 1 can do in 2 s is 1 m of 10; the goal is missed by the rest, and nothing else is."""
    problem = too_far()
    found = solve_staged(problem, "riccati")
    assert found.outcome == "infeasible"
    assert found.violated == ("goal position of stage 8",)
    last = found.w[problem.sizes.starts[-2] :]
    np.testing.assert_allclose(last[:2], [1.0, 0.0], atol=1e-5)
    conflict = explain_conflict(problem, found.w)
    names = {member.name for member in conflict.conflict}
    assert names == {"dynamics", "fixed variables", "force limit", "goal position"}  # 10 m are too far at any speed
    relaxed = {member.name: member.alone for member in conflict.conflict}["goal position"]
    assert relaxed is not None
    assert relaxed.amount == pytest.approx(9.0, abs=1e-3)


@pytest.mark.parametrize("make", [periodic, lambda: swing_up(12), redundant], ids=["periodic", "swing-up", "redundant"])
def test_warm_start_saves_iterations(make: Callable[[], StagedProblem]) -> None:
    """From its own solution, a program is solved in a few steps."""
    cold = solve_staged(make(), "riccati")
    again = solve_staged(make(), "riccati", warm=cold)
    assert again.success
    assert again.iterations <= min(6, cold.iterations)
    assert again.cost == pytest.approx(cold.cost, abs=1e-5)


def test_multipliers_are_sensitivities() -> None:
    """−λ is the change of the optimal cost with a bound that is moved."""
    problem = random_program(4)
    found = solve_staged(problem, "riccati", TIGHT)
    row = int(np.argmax(np.abs(found.multipliers.rows)))
    assert abs(found.multipliers.rows[row]) > 1e-2
    by = 1e-4
    ends = {"row_upper": problem.row_upper.copy(), "row_lower": problem.row_lower.copy()}
    for end in ends.values():
        end[row] += by
    moved = solve_staged(dataclasses.replace(problem, **ends), "riccati", TIGHT)
    assert (moved.cost - found.cost) / by == pytest.approx(-found.multipliers.rows[row], rel=1e-2)


@pytest.mark.parametrize("make", [redundant, swing_up], ids=["equations", "bounds"])
def test_gains_are_the_change_of_the_optimal_control(make: Callable[..., StagedProblem]) -> None:
    """Another start x_0 + d changes the optimal u_0 by K_0 d; p is held, so the duration must be fixed."""
    problem = make()
    if problem.sizes.parameters:
        ends = {"lower": problem.lower.copy(), "upper": problem.upper.copy()}
        ends["lower"][-1] = ends["upper"][-1] = 3.0
        problem = dataclasses.replace(problem, **ends)
    nx, nu, options = problem.sizes.states[0], problem.sizes.controls[0], SolverOptions(tolerance=1e-9)
    found = solve_staged(problem, "riccati", options)
    assert found.gains is not None
    for direction in np.eye(nx)[nx // 2 :]:  # velocities
        controls = []
        for by in (1e-5, -1e-5):
            start = problem.lower.copy()
            start[:nx] += by * direction
            upper = problem.upper.copy()
            upper[:nx] = start[:nx]
            moved = dataclasses.replace(problem, lower=start, upper=upper)
            controls.append(solve_staged(moved, "riccati", options, warm=found).w[nx : nx + nu])
        change = (controls[0] - controls[1]) / 2e-5
        np.testing.assert_allclose(
            found.gains.feedback[0] @ direction, change, atol=1e-3 * max(1.0, np.abs(change).max())
        )


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


@pytest.mark.parametrize("solver", sorted(SOLVERS))
def test_solvers_read_no_files_of_the_working_folder(solver: str, tmp_path, monkeypatch) -> None:
    """IPOPT would obey an `ipopt.opt` there, which can load a library and overwrite any file."""
    written = tmp_path / "written"
    for name in ("ipopt.opt", "fatrop.opt", "HiGHS.options"):
        (tmp_path / name).write_text(f"output_file {written}\nfile_print_level 5\n")
    monkeypatch.chdir(tmp_path)
    assert solve_staged(regulator()[0], solver, TIGHT).success
    assert not written.exists()


def test_unknown_solver_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="did you mean `ipopt`"):
        solve_staged(random_program(0), "ipop")


@pytest.mark.parametrize("solver", ["ipopt", "fatrop"])
def test_missing_casadi_is_named(monkeypatch: pytest.MonkeyPatch, solver: str) -> None:
    monkeypatch.setitem(sys.modules, "casadi", None)
    libraries.cache_clear()
    with pytest.raises(NotSupportedError, match="needs CasADi"):
        solve_staged(random_program(0), solver)


@EACH
def test_errors_inside_functions_come_out(solver: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error in a callback crosses native code as it is."""
    problem = random_program(0)

    def broken(*_: object) -> None:
        raise ArithmeticError("broken")

    monkeypatch.setattr(problem.functions, "derivatives" if solver == "sqp" else "hessian", broken)
    with pytest.raises(ArithmeticError, match="broken"):
        solve_staged(problem, solver)


@EACH
def test_ctrl_c_returns_the_best_iterate(solver: str) -> None:
    def interrupt(line: Iteration) -> None:
        if line.number == 2:
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    found = solve_staged(swing_up(12), solver, progress=interrupt)
    assert found.outcome == "interrupted"
    assert found.iterations <= 6
    assert signal.getsignal(signal.SIGINT) is before


def test_nan_is_not_optimal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's `max` passes over a NaN that is not the first: constraints that are NaN are not satisfied."""
    problem, _ = regulator()
    found = solve_staged(problem, "riccati", TIGHT)
    assert kkt_residual(problem, found.w, found.multipliers) < 1e-8
    good = problem.functions.values(found.w)
    bad = dataclasses.replace(good, gaps=np.full_like(good.gaps, np.nan))
    monkeypatch.setattr(type(problem.functions), "values", lambda self, w: bad)
    assert not kkt_residual(problem, found.w, found.multipliers) < 1e300
    for errors in (Errors(np.nan, 0.0, 0.0), Errors(0.0, np.nan, 0.0), Errors(0.0, 0.0, np.nan)):
        assert not errors.worst <= 1.0
