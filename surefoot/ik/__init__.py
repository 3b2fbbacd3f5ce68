"""Inverse kinematics: positions at once, velocities in control loops, redundancy, avoidance, prediction, analysis."""

from surefoot.ik.explain import explain_posture, explain_step
from surefoot.ik.position import TOLERANCES, BatchResult, IkResult, PositionSolver, newton, solve, solve_batch
from surefoot.ik.stepper import Stepper, StepResult, stopping_acceleration_bounds, stopping_velocity_bounds

__all__ = [
    "TOLERANCES",
    "BatchResult",
    "IkResult",
    "PositionSolver",
    "StepResult",
    "Stepper",
    "explain_posture",
    "explain_step",
    "newton",
    "solve",
    "solve_batch",
    "stopping_acceleration_bounds",
    "stopping_velocity_bounds",
]
