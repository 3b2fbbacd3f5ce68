"""Motions that are planned before a run: one file for each kind of `[motion]`."""

from collections.abc import Mapping

from surefoot.scenario.motions.com_rise import com_rise
from surefoot.scenario.motions.figure_eight import figure_eight
from surefoot.scenario.motions.harvest import harvest
from surefoot.scenario.motions.plan import Plan, PlannedFollower, Planner, Verdict

__all__ = ["MOTIONS", "Plan", "PlannedFollower", "Planner", "Verdict"]

MOTIONS: Mapping[str, Planner] = {"com_rise": com_rise, "figure_eight": figure_eight, "harvest": harvest}
