"""When contact surfaces touch the ground, where, and how they move over it."""

from surefoot.feasibility.touch.runs import bridged, runs_of
from surefoot.feasibility.touch.surfaces import SurfaceMotion, surface_motion
from surefoot.feasibility.touch.touch import Touch, surface_motions, touch_of

__all__ = ["SurfaceMotion", "Touch", "bridged", "runs_of", "surface_motion", "surface_motions", "touch_of"]
