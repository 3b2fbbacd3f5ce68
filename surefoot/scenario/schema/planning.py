"""The `[planner]` table of a scenario file: where feet are to go, and how the way is planned."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from surefoot.scenario.schema.kinds import NotNegative, Positive, Vector
from surefoot.scenario.table import Table

SingleModeName = Literal[
    "connect", "bidirectional", "sbl", "stride", "kpiece", "lbkpiece", "rrt_connect", "lazy_rrt", "rrt", "rrt_star",
    "bfmt", "prm", "est",
]  # fmt: skip
OMPL_NAMES = {
    "sbl": "SBL", "stride": "STRIDE", "kpiece": "KPIECE1", "lbkpiece": "LBKPIECE1", "rrt_connect": "RRTConnect",
    "lazy_rrt": "LazyRRT", "rrt": "RRT", "rrt_star": "RRTstar", "bfmt": "BFMT", "prm": "PRM", "est": "EST",
}  # fmt: skip
"""Names of planners in scenarios → in OMPL."""


class PlannerTable(Table):
    """`[planner]`: stances and motions are planned before the run, for the controller `follow`.

    Args:
        goal: By how much all feet are to go, x and y [m], and turn about the base [rad].
        region: How far feet may end from their goals [m].
        name: Planner of the motions inside a stance: "connect" tries straight edges and swings first, "bidirectional"
            searches at once; the others are OMPL's (`pip install surefoot[ompl]`).
        evaluations: Budget of one motion inside a stance: how many states may be checked.
        search: "best_first" explores stances in the order of their costs, "roadmap" is Multi-Modal-PRM.
        stances_file: A stance sequence that an earlier run wrote (`stances.json`), to be followed in place of a search.
        roadmap_file: Stances that an earlier run in the same world wrote (`roadmap.npz`), from which the search begins.
        improve: Whether to spend what is left of the budget on a plan with fewer moves.
        replan: Whether to plan anew when feet have come too far from the plan.
        states: Budget: how many states may be checked.
        stances: Budget: how many stances may be explored.
        bases: Random base poses that are tried for each stance.
        resolution: Distance of the states that are looked at on edges [m].
        pitch: Distance of footholds, as a share of the reach of a leg.
        edge: Distance of footholds from edges [m].
        clearance: What the robot keeps from the world and from itself [m].
        balance: What the centre of mass keeps from the border of its support [m].
        limits: What joints keep from their limits [rad]; balls that roll and the feedback of a run use up a part of it.
        exact: Whether support over ground at several heights holds all that friction allows, at 0.1 s a region.
        swing_height: Height of swinging feet over the ground [m].
        rate: Largest joint rate, as a share of what the drives can do.
        acceleration: Largest joint acceleration [rad/s²].
        torque: Share of the torque limits that "fastest" may use; omitted: no limit.
        profile: "fastest" runs each piece as fast as rates and accelerations allow, "gentle" without jumps of either.
    """

    goal: Vector
    region: NotNegative = 0.0
    name: SingleModeName = "connect"
    evaluations: Annotated[int, Field(ge=1, le=10**8)] = 4_000
    search: Literal["best_first", "roadmap"] = "best_first"
    stances_file: str | None = None
    roadmap_file: str | None = None
    improve: bool = False
    replan: bool = False
    states: Annotated[int, Field(ge=1, le=10**10)] = 20_000_000
    stances: Annotated[int, Field(ge=1, le=10**6)] = 1_000
    bases: Annotated[int, Field(ge=1, le=10**5)] = 96
    resolution: Annotated[float, Field(ge=1e-4)] = 0.01
    pitch: Positive = 0.15
    edge: NotNegative = 0.02
    clearance: Positive = 0.003
    balance: NotNegative = 0.012
    limits: NotNegative = 0.08
    exact: bool = False
    swing_height: Positive = 0.012
    rate: Annotated[float, Field(gt=0.0, le=1.0)] = 0.6
    acceleration: Positive = 40.0
    torque: Annotated[float | None, Field(gt=0.0, le=1.0)] = None
    profile: Literal["fastest", "gentle"] = "fastest"
