"""Optimal-control problems of well-known motions."""

from surefoot.ocp.motions.leaps import bound, jump, squat
from surefoot.ocp.motions.overstep import DISTANCE, HEIGHT, Overstep, overstep, solve_overstep, step_sizes
from surefoot.ocp.motions.swingup import swingup
from surefoot.ocp.motions.walk import walk_step

__all__ = [
    "DISTANCE",
    "HEIGHT",
    "Overstep",
    "bound",
    "jump",
    "overstep",
    "solve_overstep",
    "squat",
    "step_sizes",
    "swingup",
    "walk_step",
]
