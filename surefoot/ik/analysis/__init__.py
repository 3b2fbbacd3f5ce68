"""Manipulability, singularities, postures, workspaces."""

from surefoot.ik.analysis.limb import joints_between
from surefoot.ik.analysis.manipulability import Manipulability, ManipulabilityEllipsoid, manipulability_ellipsoid
from surefoot.ik.analysis.posture import PostureClass, classify_posture
from surefoot.ik.analysis.singularity import SingularityReport, singularity
from surefoot.ik.analysis.standing import standing_posture
from surefoot.ik.analysis.workspace import Workspace, sample_workspace

__all__ = [
    "Manipulability",
    "ManipulabilityEllipsoid",
    "PostureClass",
    "SingularityReport",
    "Workspace",
    "classify_posture",
    "joints_between",
    "manipulability_ellipsoid",
    "sample_workspace",
    "singularity",
    "standing_posture",
]
