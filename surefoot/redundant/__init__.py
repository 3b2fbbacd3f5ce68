"""The redundant-coordinate formalism of Busenhart 1994: bodies and hinges as a graph, everything as weighted rows.

Every body and every freedom of every hinge has coordinates of its own. Hinges are chains of links; positions,
velocities, and accelerations with forces obey systems A z + b = 0 (`constraints`), and a node finds the z that fits
laws and wishes best by their weights (`node`): forward and inverse dynamics, projections, stops and contacts.

    model = load_model("cart-pole")
    run = simulate(model, posed(model, {"tilt": 0.1}), None, duration=2.0, dt=0.01)
"""

from surefoot.redundant.boundaries import Boundaries, boundary_test, free_boundaries
from surefoot.redundant.constraints import System, dynamics_system, hinge_residuals, position_system, velocity_system
from surefoot.redundant.dynamics import Dynamics, dynamics_node, forward_dynamics, inverse_dynamics
from surefoot.redundant.energy import kinetic_energy, potential_energy
from surefoot.redundant.from_robot import inputs_of, joint_accelerations, model_of, state_of
from surefoot.redundant.model import (
    Action,
    Actuator,
    Ball,
    Body,
    Contact,
    Freedom,
    Hinge,
    Layout,
    Link,
    Model,
    load_model,
    model_names,
    save_model,
)
from surefoot.redundant.node import minimise, pattern
from surefoot.redundant.poses import posed
from surefoot.redundant.projection import closed, plastic_impact, project_positions, project_velocities
from surefoot.redundant.simulate import Simulated, Stepper, simulate
from surefoot.redundant.state import State, coordinates

__all__ = [
    "Action",
    "Actuator",
    "Ball",
    "Body",
    "Boundaries",
    "Contact",
    "Dynamics",
    "Freedom",
    "Hinge",
    "Layout",
    "Link",
    "Model",
    "Simulated",
    "State",
    "Stepper",
    "System",
    "boundary_test",
    "closed",
    "coordinates",
    "dynamics_node",
    "dynamics_system",
    "forward_dynamics",
    "free_boundaries",
    "hinge_residuals",
    "inputs_of",
    "inverse_dynamics",
    "joint_accelerations",
    "kinetic_energy",
    "load_model",
    "minimise",
    "model_names",
    "model_of",
    "pattern",
    "plastic_impact",
    "posed",
    "position_system",
    "potential_energy",
    "project_positions",
    "project_velocities",
    "save_model",
    "simulate",
    "state_of",
    "velocity_system",
]
