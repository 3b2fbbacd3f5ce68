"""Strict hierarchies of linear equations and inequalities."""

from surefoot.solvers.hierarchy.problem import Level, StackedHierarchy
from surefoot.solvers.hierarchy.solver import HierarchySolution, HierarchySolver
from surefoot.solvers.hierarchy.workspace import ActiveSetError, Optimum, Tolerances

__all__ = [
    "ActiveSetError",
    "HierarchySolution",
    "HierarchySolver",
    "Level",
    "Optimum",
    "StackedHierarchy",
    "Tolerances",
]
