"""Nonlinear programs with the structure of optimal control: a chain of stages with a border of global variables."""

from __future__ import annotations

from surefoot.solvers.staged.certificate import kkt_residual
from surefoot.solvers.staged.conflict import explain_conflict
from surefoot.solvers.staged.flat import Entries, FlatFunctions
from surefoot.solvers.staged.problem import Derivatives, Patterns, Sizes, StagedFunctions, StagedProblem, Values
from surefoot.solvers.staged.riccati import RealTime, RealTimePoint, RealTimeStep
from surefoot.solvers.staged.solution import (
    Gains,
    Iteration,
    Multipliers,
    Outcome,
    Progress,
    Seconds,
    SolverOptions,
    StagedSolution,
)
from surefoot.solvers.staged.solve import SOLVERS, require_solver, solve_staged

__all__ = [
    "SOLVERS",
    "Derivatives",
    "Entries",
    "FlatFunctions",
    "Gains",
    "Iteration",
    "Multipliers",
    "Outcome",
    "Patterns",
    "Progress",
    "RealTime",
    "RealTimePoint",
    "RealTimeStep",
    "Seconds",
    "Sizes",
    "SolverOptions",
    "StagedFunctions",
    "StagedProblem",
    "StagedSolution",
    "Values",
    "explain_conflict",
    "kkt_residual",
    "require_solver",
    "solve_staged",
]
