"""Motions that are planned before a run: one file for each kind of `[motion]`."""

from collections.abc import Mapping

from surefoot.scenario.motions.plan import Plan, PlannedFollower, Planner, Verdict

__all__ = ["MOTIONS", "Plan", "PlannedFollower", "Planner", "Verdict"]

MOTIONS: Mapping[str, Planner] = {}
