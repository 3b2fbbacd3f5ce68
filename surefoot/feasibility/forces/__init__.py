"""Contact wrenches, balances of momentum and energy, and impacts."""

from surefoot.feasibility.forces.balance import check_balance
from surefoot.feasibility.forces.impact import check_impact
from surefoot.feasibility.forces.wrenches import check_wrenches

__all__ = ["check_balance", "check_impact", "check_wrenches"]
