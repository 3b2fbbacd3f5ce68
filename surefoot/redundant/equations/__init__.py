"""Redundant states, chains of links, and the constraint equations A z + b = 0."""

from surefoot.redundant.equations.chains import chains, link_spinors, tail_spinors
from surefoot.redundant.equations.constraints import (
    System,
    dynamics_system,
    hinge_residuals,
    kinetic_energy,
    position_system,
    potential_energy,
    velocity_residual,
    velocity_system,
)
from surefoot.redundant.equations.state import (
    State,
    coordinate_rate,
    coordinates,
    displace,
    flat,
    matrices,
    normalise,
    of_flat,
    rest_state,
    velocity_vector,
)

__all__ = [
    "State",
    "System",
    "chains",
    "coordinate_rate",
    "coordinates",
    "displace",
    "dynamics_system",
    "flat",
    "hinge_residuals",
    "kinetic_energy",
    "link_spinors",
    "matrices",
    "normalise",
    "of_flat",
    "position_system",
    "potential_energy",
    "rest_state",
    "tail_spinors",
    "velocity_residual",
    "velocity_system",
    "velocity_vector",
]
