"""Kinematics of trees: placements, velocities, accelerations, Jacobians, centre of mass.

Plain functions over `surefoot.ops` of a `Tree`, q, v and a, for one state; `surefoot.compiler` makes kernels of them.
"""

from surefoot.kinematics.analytic import analytic_jacobian
from surefoot.kinematics.com import com, com_bias, com_jacobian, com_velocity, total_mass
from surefoot.kinematics.configuration import configuration_rate, integrate
from surefoot.kinematics.counts import OperationCounts, operation_counts
from surefoot.kinematics.fk import body_placements
from surefoot.kinematics.frame import REFERENCES, WORLD, Frame, Reference, contact_frame, frame_of
from surefoot.kinematics.frames import (
    frame_acceleration,
    frame_bias_acceleration,
    frame_classical_acceleration,
    frame_placement,
    frame_velocity,
    relative_placement,
)
from surefoot.kinematics.jacobian import frame_jacobian, relative_jacobian
from surefoot.kinematics.sparse_jacobians import BodyJacobian, body_jacobians

__all__ = [
    "REFERENCES",
    "WORLD",
    "BodyJacobian",
    "Frame",
    "OperationCounts",
    "Reference",
    "analytic_jacobian",
    "body_jacobians",
    "body_placements",
    "com",
    "com_bias",
    "com_jacobian",
    "com_velocity",
    "configuration_rate",
    "contact_frame",
    "frame_acceleration",
    "frame_bias_acceleration",
    "frame_classical_acceleration",
    "frame_jacobian",
    "frame_of",
    "frame_placement",
    "frame_velocity",
    "integrate",
    "operation_counts",
    "relative_jacobian",
    "relative_placement",
    "total_mass",
]
