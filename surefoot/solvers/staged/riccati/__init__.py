"""Primal–dual interior point for staged programs: filter line search, and Riccati sweeps for its Newton systems."""

from surefoot.solvers.staged.riccati.method import solve_riccati

__all__ = ["solve_riccati"]
