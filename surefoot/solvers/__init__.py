"""Solvers: they take functions, vectors and matrices, and never see a robot. One sub-package for each kind.

`HierarchySolver`: strict hierarchies of linear equations and inequalities. `explain`: why constraints cannot hold
together. `ode`: initial value problems.
"""

from surefoot.solvers.explain import explain
from surefoot.solvers.explain_groups import Group
from surefoot.solvers.explain_result import Explanation, Member, Relaxation
from surefoot.solvers.hierarchy import ActiveSetError, HierarchySolution, HierarchySolver, Level, Tolerances

__all__ = [
    "ActiveSetError",
    "Explanation",
    "Group",
    "HierarchySolution",
    "HierarchySolver",
    "Level",
    "Member",
    "Relaxation",
    "Tolerances",
    "explain",
]
