"""Dynamics of trees: forces, accelerations, mass matrices, momentum, energy.

Plain functions over `surefoot.ops` of a `Tree`, q, v and a, for one state; `surefoot.compiler` makes kernels of them.
"""

import importlib
from typing import Any

from surefoot.dynamics.constraints import (
    Baumgarte,
    ConstrainedMotion,
    Constraints,
    close,
    closed_state,
    constraints_of,
    contact,
    distance,
    own_constraints,
    project_velocity,
)
from surefoot.dynamics.methods import METHODS, constrained_acceleration
from surefoot.dynamics.tree import (
    BaseCoupling,
    ForwardMethod,
    aba,
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    crba,
    forward_dynamics,
    generalized_gravity,
    inertial_parameters,
    joint_torque_regressor,
    kinetic_energy,
    minverse,
    nonlinear_effects,
    potential_energy,
    rnea,
)

__all__ = [
    "METHODS",
    "BaseCoupling",
    "Baumgarte",
    "ConstrainedMotion",
    "Constraints",
    "ForwardMethod",
    "aba",
    "base_coupling",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_bias",
    "centroidal_momentum_matrix",
    "close",
    "closed_state",
    "constrained_acceleration",
    "constraints_of",
    "contact",
    "crba",
    "distance",
    "forward_dynamics",
    "generalized_gravity",
    "inertial_parameters",
    "joint_torque_regressor",
    "kinetic_energy",
    "minverse",
    "nonlinear_effects",
    "own_constraints",
    "potential_energy",
    "project_velocity",
    "rnea",
]

_ON_DEMAND = ("forms", "impacts", "inverse", "loops")


def __getattr__(name: str) -> Any:
    """Further sub-packages, loaded when they are first used."""
    if name in _ON_DEMAND:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module `{__name__}` has no attribute `{name}`")
