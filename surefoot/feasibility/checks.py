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
from surefoot.feasibility.layout_readings import check_readings
from surefoot.feasibility.limits import check_limits
from surefoot.feasibility.rate_spikes import check_rate_spikes
from surefoot.feasibility.series import Series
from surefoot.feasibility.smoothness import check_smoothness
from surefoot.feasibility.wrenches import check_wrenches

__all__ = ["CHECKS"]


def _check_rates(case: Case) -> list[Series]:
    return [*check_readings(case), *check_consistency(case), *check_rate_spikes(case)]


CHECKS: Mapping[str, Callable[[Case], list[Series]]] = {
    "layout": check_layout,
    "jumps": check_jumps,
    "consistency": _check_rates,
    "closed chains": check_closure,
    "contact motion": check_contact_motion,
    "limits": check_limits,
    "collision": check_collisions,
    "wrenches": check_wrenches,
    "balance": check_balance,
    "impact": check_impact,
    "smoothness": check_smoothness,
}
