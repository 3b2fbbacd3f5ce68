"""Inverse kinematics: positions at once, velocities in control loops, redundancy, avoidance, prediction, analysis."""

from surefoot.ik.position_solver import TOLERANCES, PositionSolver, solve, solve_batch
from surefoot.ik.result import BatchResult, IkResult

__all__ = [
    "TOLERANCES",
    "BatchResult",
    "IkResult",
    "PositionSolver",
    "solve",
    "solve_batch",
]
