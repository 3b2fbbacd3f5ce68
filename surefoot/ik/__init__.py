"""Inverse kinematics: positions at once, velocities in control loops, redundancy, avoidance, prediction, analysis."""

import importlib
from typing import Any

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

_ON_DEMAND = ("analysis", "avoidance", "contacts", "predictive", "redundancy", "singular", "textbook", "timing")


def __getattr__(name: str) -> Any:
    """Further sub-packages, loaded when they are first used."""
    if name in _ON_DEMAND:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
