"""Walks over the tree that all recursive algorithms share."""

from surefoot.kinematics.recursion.bodies import (
    Body,
    bodies,
    joint_motion,
    joint_placement,
    joint_subspace,
    snapped,
    to_parent,
)
from surefoot.kinematics.recursion.motion import ACCELERATIONS, TWISTS, PerBody, accelerate, acceleration_matrix, move
from surefoot.kinematics.recursion.recursion import Fields, Recursion, Step, Sweep, dof_rows, run, world_at_rest

__all__ = [
    "ACCELERATIONS",
    "TWISTS",
    "Body",
    "Fields",
    "PerBody",
    "Recursion",
    "Step",
    "Sweep",
    "accelerate",
    "acceleration_matrix",
    "bodies",
    "dof_rows",
    "joint_motion",
    "joint_placement",
    "joint_subspace",
    "move",
    "run",
    "snapped",
    "to_parent",
    "world_at_rest",
]
