"""Kinematics of trees: placements, velocities, accelerations, Jacobians, centre of mass.

Plain functions over `surefoot.ops` of a `Tree`, q, v and a, for one state; `surefoot.compiler` makes kernels of them.
`Configuration` keeps their results for one robot and one q.
"""

from surefoot.kinematics.com import com, com_bias, com_jacobian, com_velocity, total_mass
from surefoot.kinematics.configuration import Configuration
from surefoot.kinematics.counts import OperationCounts, operation_counts
from surefoot.kinematics.fk import PLACEMENTS, body_placements
from surefoot.kinematics.frames import (
    REFERENCES,
    Frame,
    Reference,
    contact_frame,
    frame_acceleration,
    frame_bias_acceleration,
    frame_of,
    frame_placement,
    frame_velocity,
)
from surefoot.kinematics.jacobian import (
    BodyJacobian,
    analytic_jacobian,
    body_jacobians,
    frame_jacobian,
    relative_jacobian,
)
from surefoot.kinematics.manifold import configuration_rate, integrate
from surefoot.kinematics.volume_distance import VolumeDistance, volume_distance

__all__ = [
    "PLACEMENTS",
    "REFERENCES",
    "BodyJacobian",
    "Configuration",
    "Frame",
    "OperationCounts",
    "Reference",
    "VolumeDistance",
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
    "frame_jacobian",
    "frame_of",
    "frame_placement",
    "frame_velocity",
    "integrate",
    "operation_counts",
    "relative_jacobian",
    "total_mass",
    "volume_distance",
]
