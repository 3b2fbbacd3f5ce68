"""`solve_staged`: one call for all solvers of staged programs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from surefoot.errors import NotSupportedError, one_of
from surefoot.solvers.one_core import on_one_core
from surefoot.solvers.staged.certificate import kkt_residual, violated_rows
from surefoot.solvers.staged.fatrop import solve_fatrop
from surefoot.solvers.staged.ipopt import solve_ipopt
from surefoot.solvers.staged.problem import StagedProblem
from surefoot.solvers.staged.riccati import solve_riccati
from surefoot.solvers.staged.solution import Progress, SolverOptions, StagedSolution
from surefoot.solvers.staged.sqp import solve_sqp

_Solve = Callable[[StagedProblem, SolverOptions, Progress | None, StagedSolution | None], StagedSolution]
SOLVERS: dict[str, _Solve] = {
    "fatrop": solve_fatrop,
    "ipopt": solve_ipopt,
    "riccati": solve_riccati,
    "sqp": solve_sqp,
}


def require_solver(solver: str, options: SolverOptions | None) -> None:
    """Refuse a solver that does not exist, and options that are none."""
    if not isinstance(solver, str) or solver not in SOLVERS:
        raise one_of("solver", str(solver), SOLVERS)
    if not isinstance(options, SolverOptions | None):
        raise NotSupportedError(f"options of a solver are SolverOptions(…), got {type(options).__name__}")


def solve_staged(
    problem: StagedProblem,
    solver: str = "riccati",
    options: SolverOptions | None = None,
    progress: Progress | None = None,
    warm: StagedSolution | None = None,
) -> StagedSolution:
    """Solve a staged program.

    Args:
        problem: Sizes, bounds, first guess and functions.
        solver: "riccati", or "fatrop" or "ipopt", which need CasADi, or "sqp" (BFGS) for small programs.
        options: Limits and settings.
        progress: Called with every iteration; a true answer stops the solver.
        warm: Earlier solution of a program of the same sizes to start from, in primal and dual variables.

    Returns:
        The solution, or the best iterate and the reason why the solver ended.
    """
    require_solver(solver, options)
    with on_one_core():
        found = SOLVERS[solver](problem, options or SolverOptions(), progress, warm)
        residual = kkt_residual(problem, found.w, found.multipliers)
        names = () if found.success else violated_rows(problem, problem.functions.values(found.w), 1e-6)
        return replace(found, kkt_residual=residual, violated=names)
