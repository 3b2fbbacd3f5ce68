"""Dyadic reduction: weighted wishes and rules, sparse and dense."""

from surefoot.solvers.dyadic.counts import OperationCounts, gauss_counts
from surefoot.solvers.dyadic.plan import DyadicPlan
from surefoot.solvers.dyadic.solve import DyadicSolution, Index, dyadic_solve

__all__ = ["DyadicPlan", "DyadicSolution", "Index", "OperationCounts", "dyadic_solve", "gauss_counts"]
