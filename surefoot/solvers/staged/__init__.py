"""Nonlinear programs with the structure of optimal control: a chain of stages with a border of global variables."""

from __future__ import annotations

from surefoot.solvers.staged.problem import Derivatives, Sizes, StagedFunctions, StagedProblem, Values

__all__ = ["Derivatives", "Sizes", "StagedFunctions", "StagedProblem", "Values"]
