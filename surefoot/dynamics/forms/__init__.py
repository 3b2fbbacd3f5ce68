"""Forms of the equations of motion: reduced, quasi-velocities, reaction null space."""

from surefoot.dynamics.forms.quasi_velocities import QuasiVelocityForm, quasi_velocity_form, quasi_velocity_transform
from surefoot.dynamics.forms.reaction_null_space import (
    angular_reaction_null_space,
    centroidal_transform,
    generalized_jacobian,
    mixed_transform,
    reaction_null_space,
)
from surefoot.dynamics.forms.reduced import (
    JointSpaceForm,
    LagrangeDAlembert,
    SplitEquations,
    joint_space_form,
    lagrange_dalembert,
    split_equations,
)

__all__ = [
    "JointSpaceForm",
    "LagrangeDAlembert",
    "QuasiVelocityForm",
    "SplitEquations",
    "angular_reaction_null_space",
    "centroidal_transform",
    "generalized_jacobian",
    "joint_space_form",
    "lagrange_dalembert",
    "mixed_transform",
    "quasi_velocity_form",
    "quasi_velocity_transform",
    "reaction_null_space",
    "split_equations",
]
