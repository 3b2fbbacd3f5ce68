"""Solvers: they take functions, vectors and matrices, and never see a robot. One sub-package for each kind.

`HierarchySolver`: strict hierarchies of linear equations and inequalities. `explain`: why constraints cannot hold
together. `DyadicPlan`, `dyadic_solve`: wishes and rules with weights, sparse and dense. `ode`: initial value problems.
`staged`: nonlinear programs of optimal control.
"""

from surefoot.solvers.dyadic import DyadicPlan, DyadicSolution, Index, OperationCounts, dyadic_solve, gauss_counts
from surefoot.solvers.explain import Explanation, Group, Member, Relaxation, UnsolvedError, explain
from surefoot.solvers.hierarchy import ActiveSetError, HierarchySolution, HierarchySolver, Level, Tolerances
from surefoot.solvers.one_core import on_one_core

__all__ = [
    "ActiveSetError",
    "DyadicPlan",
    "DyadicSolution",
    "Explanation",
    "Group",
    "HierarchySolution",
    "HierarchySolver",
    "Index",
    "Level",
    "Member",
    "OperationCounts",
    "Relaxation",
    "Tolerances",
    "UnsolvedError",
    "dyadic_solve",
    "explain",
    "gauss_counts",
    "on_one_core",
]
