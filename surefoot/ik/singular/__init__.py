"""Motion through singular postures."""

from surefoot.ik.singular.com_rise import ComRise, raise_com
from surefoot.ik.singular.consistent import ArmAndPath, adjugate, attainable_motion, consistent_gain, consistent_motion
from surefoot.ik.singular.path import ConsistentMotion, PathProblem, follow_consistently, path_tangent

__all__ = [
    "ArmAndPath",
    "ComRise",
    "ConsistentMotion",
    "PathProblem",
    "adjugate",
    "attainable_motion",
    "consistent_gain",
    "consistent_motion",
    "follow_consistently",
    "path_tangent",
    "raise_com",
]
