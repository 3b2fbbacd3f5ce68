"""The redundant-coordinate formalism of Busenhart 1994: bodies and hinges as a graph, everything as weighted rows.

Every body and every freedom of every hinge has coordinates of its own. Hinges are chains of links; positions,
velocities, and accelerations with forces obey systems A z + b = 0 (`equations`), and a node finds the z that fits
laws and wishes best by their weights (`nodes`): forward and inverse dynamics, projections, stops and contacts.

    model = load_model("cart-pole")
    run = simulate(model, posed(model, {"tilt": 0.1}), None, duration=2.0, dt=0.01)
"""

from surefoot.redundant.equations import State, dynamics_system, hinge_residuals, position_system, velocity_system
from surefoot.redundant.from_robot import inputs_of, joint_accelerations, model_of, state_of
from surefoot.redundant.model import (
    Action,
    Actuator,
    Ball,
    Body,
    Contact,
    Freedom,
    Hinge,
    Link,
    Model,
    load_model,
    model_names,
    save_model,
)
from surefoot.redundant.nodes import Dynamics, dynamics_node, forward_dynamics, inverse_dynamics, pattern
from surefoot.redundant.poses import posed
from surefoot.redundant.simulate import Simulated, Stepper, simulate

__all__ = [
    "Action",
    "Actuator",
    "Ball",
    "Body",
    "Contact",
    "Dynamics",
    "Freedom",
    "Hinge",
    "Link",
    "Model",
    "Simulated",
    "State",
    "Stepper",
    "dynamics_node",
    "dynamics_system",
    "forward_dynamics",
    "hinge_residuals",
    "inputs_of",
    "inverse_dynamics",
    "joint_accelerations",
    "load_model",
    "model_names",
    "model_of",
    "pattern",
    "posed",
    "position_system",
    "save_model",
    "simulate",
    "state_of",
    "velocity_system",
]
