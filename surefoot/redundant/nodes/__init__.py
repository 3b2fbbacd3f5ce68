"""Nodes, each the minimum of one weighted index: dynamics, projections of positions and velocities, plastic impacts."""

from surefoot.redundant.nodes.boundaries import Boundaries, boundary_test, free_boundaries, held_freedoms
from surefoot.redundant.nodes.dynamics import (
    Dynamics,
    checked_inputs,
    dynamics_node,
    forward_dynamics,
    inverse_dynamics,
)
from surefoot.redundant.nodes.index import Solver, minimise, pattern
from surefoot.redundant.nodes.projection import (
    WISH,
    close_hinges,
    plastic_impact,
    project_positions,
    project_velocities,
)

__all__ = [
    "WISH",
    "Boundaries",
    "Dynamics",
    "Solver",
    "boundary_test",
    "checked_inputs",
    "close_hinges",
    "dynamics_node",
    "forward_dynamics",
    "free_boundaries",
    "held_freedoms",
    "inverse_dynamics",
    "minimise",
    "pattern",
    "plastic_impact",
    "project_positions",
    "project_velocities",
]
