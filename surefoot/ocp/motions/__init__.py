"""Optimal-control problems of well-known motions."""

from surefoot.ocp.motions.gait import StepFigures, step_figures, walk_on
from surefoot.ocp.motions.leaps import bound, jump, solve_leap, squat
from surefoot.ocp.motions.overstep import DISTANCE, HEIGHT, Overstep, overstep, solve_overstep, step_sizes
from surefoot.ocp.motions.receding import stand, trot
from surefoot.ocp.motions.standing import motion_to_follow, stand_still
from surefoot.ocp.motions.swingup import swingup
from surefoot.ocp.motions.walk import OBJECTIVES, solve_walk, walk_step

__all__ = [
    "DISTANCE",
    "HEIGHT",
    "OBJECTIVES",
    "Overstep",
    "StepFigures",
    "bound",
    "jump",
    "motion_to_follow",
    "overstep",
    "solve_leap",
    "solve_overstep",
    "solve_walk",
    "squat",
    "stand",
    "stand_still",
    "step_figures",
    "step_sizes",
    "swingup",
    "trot",
    "walk_on",
    "walk_step",
]
