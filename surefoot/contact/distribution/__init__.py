"""Wrench distribution: ways to share a load among contacts, side by side.

Nenchev & Konno 2019, sections 3.5, 3.6 and 5.10. Wrenches act on the robot at the contact points, in world axes, linear
part first; the load is what they must add up to about the CoM.
"""

from surefoot.contact.distribution.compare import DistributionRow, compare_distributions
from surefoot.contact.distribution.duality import (
    HARD,
    LimbStatics,
    contact_bases,
    dual_null_space,
    limb_statics,
    weighted_inverse,
)
from surefoot.contact.distribution.loops import LoopLimb, LoopStatics, arm_allocation, loop_statics
from surefoot.contact.distribution.methods import METHODS, distribute, hand_tracking, internal_part
from surefoot.contact.distribution.posture import RestPosture, rest_posture
from surefoot.contact.distribution.stance import Stance, stance_of
from surefoot.contact.distribution.virtual_linkage import grasp_description, linkage_matrix

__all__ = [
    "HARD",
    "METHODS",
    "DistributionRow",
    "LimbStatics",
    "LoopLimb",
    "LoopStatics",
    "RestPosture",
    "Stance",
    "arm_allocation",
    "compare_distributions",
    "contact_bases",
    "distribute",
    "dual_null_space",
    "grasp_description",
    "hand_tracking",
    "internal_part",
    "limb_statics",
    "linkage_matrix",
    "loop_statics",
    "rest_posture",
    "stance_of",
    "weighted_inverse",
]
