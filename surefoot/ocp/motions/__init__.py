"""Optimal-control problems of well-known motions."""

from surefoot.ocp.motions.leaps import bound, jump, squat
from surefoot.ocp.motions.receding import stand, trot
from surefoot.ocp.motions.swingup import swingup
from surefoot.ocp.motions.walk import walk_step

__all__ = ["bound", "jump", "squat", "stand", "swingup", "trot", "walk_step"]
