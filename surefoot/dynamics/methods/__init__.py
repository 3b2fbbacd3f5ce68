"""Accelerations and forces under constraints, by methods that agree."""

from surefoot.dynamics.methods.acceleration import constrained_acceleration
from surefoot.dynamics.methods.elimination import ELIMINATIONS, METHODS, ScaledEquations, scaled_equations
from surefoot.dynamics.methods.forward import Held, anchor_values, anchored, constrained_forward
from surefoot.dynamics.methods.forward_derivatives import constrained_derivatives
from surefoot.dynamics.methods.recursion import HeldState, by_iteration, by_recursion

__all__ = [
    "ELIMINATIONS",
    "METHODS",
    "Held",
    "HeldState",
    "ScaledEquations",
    "anchor_values",
    "anchored",
    "by_iteration",
    "by_recursion",
    "constrained_acceleration",
    "constrained_derivatives",
    "constrained_forward",
    "scaled_equations",
]
