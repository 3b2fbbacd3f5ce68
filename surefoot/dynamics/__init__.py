"""Dynamics of trees: forces, accelerations, mass matrices, momentum, energy.

Plain functions over `surefoot.ops` of a `Tree`, q, v and a, for one state; `surefoot.compiler` makes kernels of them.
"""

from surefoot.dynamics.aba import ABA, aba
from surefoot.dynamics.crba import COMPOSITE, composite_bodies, mass_matrix
from surefoot.dynamics.energy import kinetic_energy, potential_energy
from surefoot.dynamics.forward import (
    ForwardMethod,
    forward_dynamics,
    inverse_mass_matrix,
    require_invertible,
    singular_joints,
)
from surefoot.dynamics.momentum import (
    BaseCoupling,
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
)
from surefoot.dynamics.newton_euler import assembled_equations, assembled_mass_matrix
from surefoot.dynamics.reaction_null_space import (
    angular_reaction_null_space,
    centroidal_transform,
    generalized_jacobian,
    mixed_transform,
    reaction_null_space,
)
from surefoot.dynamics.regressor import (
    inertial_parameters,
    joint_torque_regressor,
    kinetic_energy_regressor,
    potential_energy_regressor,
)
from surefoot.dynamics.rnea import RNEA, gravity_terms, nonlinear_terms, rnea

__all__ = [
    "ABA",
    "COMPOSITE",
    "RNEA",
    "BaseCoupling",
    "ForwardMethod",
    "aba",
    "angular_reaction_null_space",
    "assembled_equations",
    "assembled_mass_matrix",
    "base_coupling",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_bias",
    "centroidal_momentum_matrix",
    "centroidal_transform",
    "composite_bodies",
    "forward_dynamics",
    "generalized_jacobian",
    "gravity_terms",
    "inertial_parameters",
    "inverse_mass_matrix",
    "joint_torque_regressor",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "mass_matrix",
    "mixed_transform",
    "nonlinear_terms",
    "potential_energy",
    "potential_energy_regressor",
    "reaction_null_space",
    "require_invertible",
    "rnea",
    "singular_joints",
]
