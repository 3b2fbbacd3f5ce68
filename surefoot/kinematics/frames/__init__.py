"""Frames on bodies: placements, velocities, accelerations, Jacobians, derivatives."""

from surefoot.kinematics.frames.frame import (
    REFERENCES,
    WORLD,
    Frame,
    Reference,
    contact_frame,
    frame_of,
    require_reference,
)
from surefoot.kinematics.frames.frame_derivatives import (
    com_velocity_derivative,
    frame_acceleration_derivatives,
    frame_velocity_derivatives,
)
from surefoot.kinematics.frames.frames import (
    frame_acceleration,
    frame_bias_acceleration,
    frame_classical_acceleration,
    frame_placement,
    frame_velocity,
    relative_placement,
)
from surefoot.kinematics.frames.path import Path, chain, path_between, relative_bias

__all__ = [
    "REFERENCES",
    "WORLD",
    "Frame",
    "Path",
    "Reference",
    "chain",
    "com_velocity_derivative",
    "contact_frame",
    "frame_acceleration",
    "frame_acceleration_derivatives",
    "frame_bias_acceleration",
    "frame_classical_acceleration",
    "frame_of",
    "frame_placement",
    "frame_velocity",
    "frame_velocity_derivatives",
    "path_between",
    "relative_bias",
    "relative_placement",
    "require_reference",
]
