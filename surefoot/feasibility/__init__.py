"""The motion audit: is a motion physically possible, by what margin, and where does it break?"""

from surefoot.feasibility.audit import CompletedMotion, audit, complete_motion
from surefoot.feasibility.case import Tolerances
from surefoot.feasibility.items import ITEMS

__all__ = ["ITEMS", "CompletedMotion", "Tolerances", "audit", "complete_motion"]
