"""Primal–dual interior point for staged programs: filter line search, and Riccati sweeps for its Newton systems."""

from surefoot.solvers.staged.riccati.method import solve_riccati
from surefoot.solvers.staged.riccati.realtime import RealTime, RealTimePoint, RealTimeStep

__all__ = ["RealTime", "RealTimePoint", "RealTimeStep", "solve_riccati"]
