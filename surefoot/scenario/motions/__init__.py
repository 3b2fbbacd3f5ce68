"""Motions that are planned before a run: one file for each kind of `[motion]`."""

from collections.abc import Mapping

from surefoot.scenario.motions.plan import Plan, PlannedFollower, Planner
from surefoot.scenario.registry import imported

__all__ = ["MOTIONS", "Plan", "PlannedFollower", "Planner", "planner_of"]

MOTIONS: Mapping[str, str] = {
    kind: f"surefoot.scenario.motions.{kind}:{kind}"
    for kind in ("com_rise", "figure_eight", "harvest", "reach", "swing_over")
} | {
    kind: f"surefoot.scenario.motions.optimal:{kind}" for kind in ("swingup", "squat_fast", "jump", "bound", "ocp_walk")
}
"""The planner of each kind of motion."""


def planner_of(kind: str) -> Planner:
    """Import the planner of a kind.

    Args:
        kind: A key of `MOTIONS`.
    """
    planner: Planner = imported(MOTIONS[kind])
    return planner
