"""Dynamics of open trees: inverse, forward, mass matrix, momentum, energy, regressor."""

from surefoot.dynamics.tree.aba import ABA, aba
from surefoot.dynamics.tree.crba import COMPOSITE, composite_bodies, crba
from surefoot.dynamics.tree.forward import (
    ForwardMethod,
    forward_dynamics,
    minverse,
    require_invertible,
    singular_joints,
)
from surefoot.dynamics.tree.momentum import (
    BaseCoupling,
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
    kinetic_energy,
    potential_energy,
)
from surefoot.dynamics.tree.newton_euler import assembled_equations, assembled_mass_matrix
from surefoot.dynamics.tree.regressor import (
    inertial_parameters,
    joint_torque_regressor,
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from surefoot.dynamics.tree.rnea import RNEA, generalized_gravity, nonlinear_effects, rnea

__all__ = [
    "ABA",
    "COMPOSITE",
    "RNEA",
    "BaseCoupling",
    "ForwardMethod",
    "aba",
    "assembled_equations",
    "assembled_mass_matrix",
    "base_coupling",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_bias",
    "centroidal_momentum_matrix",
    "composite_bodies",
    "crba",
    "forward_dynamics",
    "generalized_gravity",
    "inertial_parameters",
    "joint_torque_regressor",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "minverse",
    "nonlinear_effects",
    "potential_energy",
    "potential_energy_regressor",
    "require_invertible",
    "rnea",
    "singular_joints",
]
