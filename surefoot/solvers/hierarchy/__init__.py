"""Strict hierarchies of linear equations and inequalities."""

from surefoot.solvers.hierarchy.problem import Level, StackedHierarchy
from surefoot.solvers.hierarchy.solver import HierarchySolution, HierarchySolver
from surefoot.solvers.hierarchy.workspace import OUTCOMES, ActiveSetError, Limits, Optimum, Tolerances, Workspace

__all__ = [
    "OUTCOMES",
    "ActiveSetError",
    "HierarchySolution",
    "HierarchySolver",
    "Level",
    "Limits",
    "Optimum",
    "StackedHierarchy",
    "Tolerances",
    "Workspace",
]
