"""Dynamics of trees: forces, accelerations, mass matrices, momentum, energy.

Plain functions over `surefoot.ops` of a `Tree`, q, v and a, for one state; `surefoot.compiler` makes kernels of them.
"""

from surefoot.dynamics.aba import ABA, aba
from surefoot.dynamics.constrained_acceleration import constrained_acceleration
from surefoot.dynamics.constrained_equations import (
    Baumgarte,
    ConstrainedEquations,
    ConstrainedMotion,
    constrained_equations,
)
from surefoot.dynamics.constraint_methods import ELIMINATIONS, METHODS
from surefoot.dynamics.constraint_projection import close, closed_state, project_velocity
from surefoot.dynamics.constraint_rank import contradictions
from surefoot.dynamics.constraints import Constraints, constraints_of, contact, own_constraints
from surefoot.dynamics.crba import COMPOSITE, composite_bodies, mass_matrix
from surefoot.dynamics.distance import Distance, distance
from surefoot.dynamics.driven_equations import Actuation, DrivenEquations, actuation, driven_equations
from surefoot.dynamics.end_link_forms import (
    FreeDirections,
    LimbCoordinates,
    constraint_forces,
    free_directions,
    limb_coordinates,
)
from surefoot.dynamics.energy import kinetic_energy, potential_energy
from surefoot.dynamics.forward import (
    ForwardMethod,
    forward_dynamics,
    inverse_mass_matrix,
    require_invertible,
    singular_joints,
)
from surefoot.dynamics.forward_operator import OperatorResult, fdop, forward_operator
from surefoot.dynamics.impact import Impact, impact, impact_jump
from surefoot.dynamics.impact_mass import Blow, blow, cop_jump, equivalent_mass, gear_augmentation
from surefoot.dynamics.impact_pushing import ImpactLaw, pushing_impact
from surefoot.dynamics.internal_forces import (
    ForceParts,
    InternalForces,
    internal_force_basis,
    internal_forces,
    split_forces,
)
from surefoot.dynamics.inverse_constrained import InverseMotion, inverse_dynamics_constrained
from surefoot.dynamics.inverse_operator import Weight, idop, inverse_operator
from surefoot.dynamics.loop_graph import LoopGraph, Subsystem, loop_graph
from surefoot.dynamics.minimal_coordinates import minimal_acceleration, minimal_forward, minimal_function
from surefoot.dynamics.momentum import (
    BaseCoupling,
    base_coupling,
    centroidal_inertia,
    centroidal_momentum,
    centroidal_momentum_bias,
    centroidal_momentum_matrix,
)
from surefoot.dynamics.newton_euler import assembled_equations, assembled_mass_matrix
from surefoot.dynamics.partial_linearisation import collocated, non_collocated, partial_linearisation
from surefoot.dynamics.quasi_velocities import QuasiVelocityForm, quasi_velocity_form, quasi_velocity_transform
from surefoot.dynamics.reaction_null_space import (
    angular_reaction_null_space,
    centroidal_transform,
    generalized_jacobian,
    mixed_transform,
    reaction_null_space,
)
from surefoot.dynamics.reduced_forms import (
    JointSpaceForm,
    LagrangeDAlembert,
    SplitEquations,
    joint_space_form,
    lagrange_dalembert,
    split_equations,
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
    "ELIMINATIONS",
    "METHODS",
    "RNEA",
    "Actuation",
    "BaseCoupling",
    "Baumgarte",
    "Blow",
    "ConstrainedEquations",
    "ConstrainedMotion",
    "Constraints",
    "Distance",
    "DrivenEquations",
    "ForceParts",
    "ForwardMethod",
    "FreeDirections",
    "Impact",
    "ImpactLaw",
    "InternalForces",
    "InverseMotion",
    "JointSpaceForm",
    "LagrangeDAlembert",
    "LimbCoordinates",
    "LoopGraph",
    "OperatorResult",
    "QuasiVelocityForm",
    "SplitEquations",
    "Subsystem",
    "Weight",
    "aba",
    "actuation",
    "angular_reaction_null_space",
    "assembled_equations",
    "assembled_mass_matrix",
    "base_coupling",
    "blow",
    "centroidal_inertia",
    "centroidal_momentum",
    "centroidal_momentum_bias",
    "centroidal_momentum_matrix",
    "centroidal_transform",
    "close",
    "closed_state",
    "collocated",
    "composite_bodies",
    "constrained_acceleration",
    "constrained_equations",
    "constraint_forces",
    "constraints_of",
    "contact",
    "contradictions",
    "cop_jump",
    "distance",
    "driven_equations",
    "equivalent_mass",
    "fdop",
    "forward_dynamics",
    "forward_operator",
    "free_directions",
    "gear_augmentation",
    "generalized_jacobian",
    "gravity_terms",
    "idop",
    "impact",
    "impact_jump",
    "inertial_parameters",
    "internal_force_basis",
    "internal_forces",
    "inverse_dynamics_constrained",
    "inverse_mass_matrix",
    "inverse_operator",
    "joint_space_form",
    "joint_torque_regressor",
    "kinetic_energy",
    "kinetic_energy_regressor",
    "lagrange_dalembert",
    "limb_coordinates",
    "loop_graph",
    "mass_matrix",
    "minimal_acceleration",
    "minimal_forward",
    "minimal_function",
    "mixed_transform",
    "non_collocated",
    "nonlinear_terms",
    "own_constraints",
    "partial_linearisation",
    "potential_energy",
    "potential_energy_regressor",
    "project_velocity",
    "pushing_impact",
    "quasi_velocity_form",
    "quasi_velocity_transform",
    "reaction_null_space",
    "require_invertible",
    "rnea",
    "singular_joints",
    "split_equations",
    "split_forces",
]
