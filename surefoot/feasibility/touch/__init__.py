"""When contact surfaces touch the ground, where, and how they move over it."""

from surefoot.feasibility.touch.bodies import body_contacts
from surefoot.feasibility.touch.runs import bridged, runs_of
from surefoot.feasibility.touch.touch import Touch, surface_motions, touch_of

__all__ = ["Touch", "body_contacts", "bridged", "runs_of", "surface_motions", "touch_of"]
