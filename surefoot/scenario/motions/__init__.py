"""Motions that are planned before a run: one file for each kind of `[motion]`."""

from collections.abc import Mapping

from surefoot.scenario.motions.com_rise import com_rise
from surefoot.scenario.motions.figure_eight import figure_eight
from surefoot.scenario.motions.harvest import harvest
from surefoot.scenario.motions.plan import Plan, PlannedFollower, Planner, Verdict
from surefoot.scenario.motions.reach import reach
from surefoot.scenario.motions.swing_over import swing_over

__all__ = ["MOTIONS", "Plan", "PlannedFollower", "Planner", "Verdict"]

MOTIONS: Mapping[str, Planner] = {
    "com_rise": com_rise,
    "figure_eight": figure_eight,
    "harvest": harvest,
    "reach": reach,
    "swing_over": swing_over,
}
