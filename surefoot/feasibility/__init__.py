"""The motion audit: is a motion physically possible, by what margin, and where does it break?"""

from surefoot.feasibility.audit_items import ITEMS
from surefoot.feasibility.case import Case
from surefoot.feasibility.read_motion import GivenMotion, read_motion
from surefoot.feasibility.run_audit import audit
from surefoot.feasibility.tolerances import Tolerances

__all__ = ["ITEMS", "Case", "GivenMotion", "Tolerances", "audit", "read_motion"]
