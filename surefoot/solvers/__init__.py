"""Solvers: they take functions, vectors and matrices, and never see a robot. One sub-package for each kind.

`HierarchySolver`: strict hierarchies of linear equations and inequalities. `ode`: initial value problems.
"""

from surefoot.solvers.hierarchy import ActiveSetError, HierarchySolution, HierarchySolver, Level, Tolerances

__all__ = ["ActiveSetError", "HierarchySolution", "HierarchySolver", "Level", "Tolerances"]
