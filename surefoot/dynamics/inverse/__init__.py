"""Inverse dynamics of underactuated robots, and the operators FdOP and IdOP."""

from surefoot.dynamics.inverse.constrained import InverseMotion, inverse_dynamics_constrained
from surefoot.dynamics.inverse.driven_equations import Actuation, DrivenEquations, actuation, driven_equations
from surefoot.dynamics.inverse.forward_operator import OperatorResult, fdop, forward_operator
from surefoot.dynamics.inverse.internal_forces import (
    ForceParts,
    InternalForces,
    internal_force_basis,
    internal_forces,
    split_forces,
)
from surefoot.dynamics.inverse.operator import Weight, idop, inverse_operator
from surefoot.dynamics.inverse.partial_linearisation import collocated, non_collocated, partial_linearisation

__all__ = [
    "Actuation",
    "DrivenEquations",
    "ForceParts",
    "InternalForces",
    "InverseMotion",
    "OperatorResult",
    "Weight",
    "actuation",
    "collocated",
    "driven_equations",
    "fdop",
    "forward_operator",
    "idop",
    "internal_force_basis",
    "internal_forces",
    "inverse_dynamics_constrained",
    "inverse_operator",
    "non_collocated",
    "partial_linearisation",
    "split_forces",
]
