"""Contacts: what the ground can carry before it slips, tips or lets go."""

from surefoot.contact.admissible import (
    Admissible,
    AdmissibleTorques,
    admissible_with_torques,
    admissible_wrenches,
    row_lengths,
)
from surefoot.contact.cone_dual import faces_of_spans, spans_of_faces
from surefoot.contact.cone_solver import ConeForces
from surefoot.contact.friction import (
    friction_band,
    friction_cone,
    friction_pyramid,
    soft_finger,
    torsion_limit,
)
from surefoot.contact.internal_wrenches import InternalRange, internal_range
from surefoot.contact.margins import Margin, contact_margins
from surefoot.contact.static_stability import StaticStability, static_stability, support_region
from surefoot.contact.wrench_cone import PlacedCones, WrenchCone, outer_corners, placed_cones, wrench_cone, yaw_bounds
from surefoot.contact.zero_moment import contact_placements, sum_wrenches, support_polygon, zero_moment_point

__all__ = [
    "Admissible",
    "AdmissibleTorques",
    "ConeForces",
    "InternalRange",
    "Margin",
    "PlacedCones",
    "StaticStability",
    "WrenchCone",
    "admissible_with_torques",
    "admissible_wrenches",
    "contact_margins",
    "contact_placements",
    "faces_of_spans",
    "friction_band",
    "friction_cone",
    "friction_pyramid",
    "internal_range",
    "outer_corners",
    "placed_cones",
    "row_lengths",
    "soft_finger",
    "spans_of_faces",
    "static_stability",
    "sum_wrenches",
    "support_polygon",
    "support_region",
    "torsion_limit",
    "wrench_cone",
    "yaw_bounds",
    "zero_moment_point",
]
