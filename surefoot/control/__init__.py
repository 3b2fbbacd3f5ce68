"""Controllers: from a state to what the drives do."""

from surefoot.control.joint_gains import moved_inertia
from surefoot.control.joint_pd import JointPd
from surefoot.control.static_balance import StaticBalance, standing_contacts

__all__ = ["JointPd", "StaticBalance", "moved_inertia", "standing_contacts"]
