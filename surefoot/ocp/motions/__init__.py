"""Optimal-control problems of well-known motions."""

from surefoot.ocp.motions.leaps import bound, jump, squat
from surefoot.ocp.motions.overstep import Overstep, overstep, solve_overstep
from surefoot.ocp.motions.swingup import swingup
from surefoot.ocp.motions.walk import walk_step

__all__ = ["Overstep", "bound", "jump", "overstep", "solve_overstep", "squat", "swingup", "walk_step"]
