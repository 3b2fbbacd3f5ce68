"""Contacts: what the ground can carry before it slips, tips or lets go."""

from surefoot.contact.admissible import (
    Admissible,
    AdmissibleTorques,
    admissible_with_torques,
    admissible_wrenches,
)
from surefoot.contact.cone_dual import faces_of_spans, spans_of_faces
from surefoot.contact.friction_band import FrictionBand, friction_band
from surefoot.contact.friction_cone import FrictionPyramid, friction_cone, friction_pyramid
from surefoot.contact.internal_wrenches import InternalRange, internal_range
from surefoot.contact.margins import (
    Margin,
    contact_margins,
    friction_margin,
    normal_margin,
    pressure_margin,
    torsion_margin,
)
from surefoot.contact.placed_cones import PlacedCones, placed_cones
from surefoot.contact.rectangle_cone import Rectangle, rectangle_of, yaw_bounds
from surefoot.contact.row_lengths import row_lengths
from surefoot.contact.soft_finger import SOFT_FINGER_LAWS, soft_finger, torsion_limit
from surefoot.contact.wrench_cone import WrenchCone, wrench_cone, wrench_spans
from surefoot.contact.zero_moment import support_polygon, zero_moment_point

__all__ = [
    "SOFT_FINGER_LAWS",
    "Admissible",
    "AdmissibleTorques",
    "FrictionBand",
    "FrictionPyramid",
    "InternalRange",
    "Margin",
    "PlacedCones",
    "Rectangle",
    "WrenchCone",
    "admissible_with_torques",
    "admissible_wrenches",
    "contact_margins",
    "faces_of_spans",
    "friction_band",
    "friction_cone",
    "friction_margin",
    "friction_pyramid",
    "internal_range",
    "normal_margin",
    "placed_cones",
    "pressure_margin",
    "rectangle_of",
    "row_lengths",
    "soft_finger",
    "spans_of_faces",
    "support_polygon",
    "torsion_limit",
    "torsion_margin",
    "wrench_cone",
    "wrench_spans",
    "yaw_bounds",
    "zero_moment_point",
]
