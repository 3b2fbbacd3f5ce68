"""Motions that are planned before a run: one file for each kind of `[motion]`."""

from collections.abc import Mapping

from surefoot.arrays import Array
from surefoot.motion import World
from surefoot.robot import Robot
from surefoot.scenario.motions.plan import Plan, Planned, PlannedFollower, Planner, ServoLead, plan_of, watch_plans
from surefoot.scenario.registry import imported
from surefoot.scenario.schema import PlannerTable

__all__ = [
    "MOTIONS",
    "Plan",
    "Planned",
    "PlannedFollower",
    "Planner",
    "ServoLead",
    "plan_footfalls",
    "plan_of",
    "planner_of",
    "watch_plans",
]

MOTIONS: Mapping[str, str] = {
    kind: f"surefoot.scenario.motions.{kind}:{kind}"
    for kind in ("com_rise", "figure_eight", "harvest", "reach", "swing_over", "synergies")
} | {
    kind: f"surefoot.scenario.motions.optimal:{kind}"
    for kind in ("swingup", "squat_fast", "jump", "bound", "ocp_walk", "overstep")
}
"""The planner of each kind of motion."""


def plan_footfalls(table: PlannerTable, robot: Robot, world: World, q: Array, seed: int) -> Plan:
    """Plan stances and motions; the planner is imported on first use.

    Args:
        table: What the scenario says.
        robot: A robot with legs of three joints.
        world: The world.
        q: (nq,) where it stands.
        seed: Of the random numbers.
    """
    plan: Plan = imported("surefoot.scenario.motions.footfalls:footfalls")(table, robot, world, q, seed)
    return plan


def planner_of(kind: str) -> Planner:
    """Import the planner of a kind.

    Args:
        kind: A key of `MOTIONS`.
    """
    planner: Planner = imported(MOTIONS[kind])
    return planner
