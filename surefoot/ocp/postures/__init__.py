"""Constraints on postures: distances of bodies and obstacles, and kernels for rows that need no rates."""

from surefoot.ocp.postures.clearance import (
    Pair,
    VolumePair,
    distance_block,
    distances,
    leg_volumes,
    near_volumes,
    obstacle_rows,
    volumes_of_pair,
)
from surefoot.ocp.postures.rows import JoinedKernels, PostureRows, stage_kernels

__all__ = [
    "JoinedKernels",
    "Pair",
    "PostureRows",
    "VolumePair",
    "distance_block",
    "distances",
    "leg_volumes",
    "near_volumes",
    "obstacle_rows",
    "stage_kernels",
    "volumes_of_pair",
]
