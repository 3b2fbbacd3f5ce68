"""The parts of the audit, in the order of the chain."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from surefoot.feasibility.balance import check_balance
from surefoot.feasibility.case import Case
from surefoot.feasibility.closure import check_closure
from surefoot.feasibility.collisions import check_collisions
from surefoot.feasibility.consistency import check_consistency
from surefoot.feasibility.contact_motion import check_contact_motion
from surefoot.feasibility.impact import check_impact
from surefoot.feasibility.jumps import check_jumps
from surefoot.feasibility.layout import check_layout
from surefoot.feasibility.limits import check_limits
from surefoot.feasibility.series import Series
from surefoot.feasibility.smoothness import check_smoothness
from surefoot.feasibility.wrenches import check_wrenches

__all__ = ["CHECKS"]

CHECKS: Mapping[str, Callable[[Case], list[Series]]] = {
    "layout": check_layout,
    "jumps": check_jumps,
    "consistency": check_consistency,
    "closed chains": check_closure,
    "contact motion": check_contact_motion,
    "limits": check_limits,
    "collision": check_collisions,
    "wrenches": check_wrenches,
    "balance": check_balance,
    "impact": check_impact,
    "smoothness": check_smoothness,
}
