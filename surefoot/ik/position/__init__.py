"""Postures that fulfil tasks: compiled searches inside the limits, one by one or in batches."""

from surefoot.ik.position.free_motion import FreeMotion, free_motion
from surefoot.ik.position.newton import newton
from surefoot.ik.position.result import BatchResult, IkResult
from surefoot.ik.position.solver import TOLERANCES, PositionSolver, solve, solve_batch

__all__ = [
    "TOLERANCES",
    "BatchResult",
    "FreeMotion",
    "IkResult",
    "PositionSolver",
    "free_motion",
    "newton",
    "solve",
    "solve_batch",
]
