"""`footfalls`: a plan of stances and of the motions between them, and how the run of it is judged."""

from __future__ import annotations

import time
from contextlib import ExitStack
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.motion import Log, World
from surefoot.planning import (
    SINGLE_MODE,
    Budget,
    Limits,
    Margins,
    Pace,
    Sampling,
    SingleMode,
    StancePlan,
    StancePlanner,
    audit_plan,
    timed_plan,
)
from surefoot.report import DataTable, Outline
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.footfall_pictures import footfall_pictures
from surefoot.scenario.motions.plan import Plan
from surefoot.scenario.motions.stepping import Stepping
from surefoot.scenario.schema import OMPL_NAMES, PlannerTable

__all__ = ["footfalls"]

_ON_GOAL = 0.5  # of the reach of a leg: feet that end farther from their goals are not there


def footfalls(table: PlannerTable, robot: Robot, world: World, q: Array, seed: int) -> Plan:
    """Plan stances and motions.

    Args:
        table: What the scenario says.
        robot: A robot with legs of three joints.
        world: The world.
        q: (nq,) where it stands.
        seed: Of the random numbers.
    """
    began = time.process_time()
    margins = Margins(table.clearance, table.balance, table.limits, swing_height=table.swing_height)
    sampling = Sampling(pitch=table.pitch, edge=table.edge)
    limits = Limits(table.states, table.stances, Budget(table.evaluations))
    with ExitStack() as stack:
        planner = StancePlanner(robot, world, margins, sampling, _single_mode(table.name, stack))
        planner.model.build()
        built = time.process_time()
        found = planner.plan(q, table.goal, seed, limits)
        planned = time.process_time() + _elsewhere(planner)
    timed = timed_plan(found, Pace(table.rate, table.acceleration, profile=table.profile))
    metrics = _metrics(planner, found) | {"planning_time_s": planned - built, "build_time_s": built - began}
    trouble = None if found.solved else f"not solved: {found.reason}"
    if found.solved:
        audit = audit_plan(found)
        metrics |= {"plan_audit_passed": audit.passed, "plan_contact_error_m": audit.contact_error}
        metrics |= {"plan_balance_m": audit.balance, "plan_clearance_m": audit.clearance}
        trouble = None if audit.passed else f"the plan does not pass its audit: {audit}"
    stepping = Stepping(planner.model.chart, timed)
    return Plan(
        timed.trajectory, metrics, trouble, (), lambda _, log: _judge(planner, found, log),
        configuration=stepping.configuration,
    )  # fmt: skip


def _single_mode(name: str, stack: ExitStack) -> SingleMode:
    """The planner of motions inside a stance; OMPL's process ends with the stack."""
    if name in SINGLE_MODE:
        return SINGLE_MODE[name]
    from surefoot.planning.ompl import OmplSingleMode

    return stack.enter_context(OmplSingleMode(OMPL_NAMES[name]))


def _elsewhere(planner: StancePlanner) -> float:
    """Time that was spent in the process of OMPL [s]."""
    return sum(answer.seconds + answer.build_seconds for answer in getattr(planner.single_mode, "answers", ()))


def _metrics(planner: StancePlanner, plan: StancePlan) -> dict[str, Any]:
    statistics = planner.model.statistics
    tried, solved = plan.tried
    return {
        "solved": plan.solved,
        "stances": plan.stances if plan.solved else 0,
        "moves": len(plan.moves) if plan.solved else 0,
        "explored_stances": len(plan.explored),
        "checked_states": statistics.states,
        "checked_edges": statistics.edges,
        "failure_causes": dict(statistics.causes.most_common()),
        "motions_tried": tried,
        "motions_solved": solved,
        **{f"{stage}_time_s": used for stage, used in plan.seconds.items()},
    }


def _judge(planner: StancePlanner, plan: StancePlan, log: Log) -> Findings:
    """Where the feet ended, and where they were to go."""
    names = planner.model.chart.names
    ended = planner.model.chart.state_of(np.asarray(log["q"])[-1])[6:].reshape(-1, 3)
    goal = plan.graph.feet(plan.goal)
    off = np.linalg.norm(ended - goal, axis=1)
    metrics: dict[str, Any] = {"foot_error_mean_m": float(off.mean()), "foot_error_largest_m": float(off.max())}
    level = np.abs(ended[:, 2] - goal[:, 2]) < 0.01
    metrics["feet_at_goal_height"] = int(level.sum())
    trouble = None
    if plan.solved and (off > 2.0 * _ON_GOAL * planner.reach).sum() * 2 >= len(names):
        trouble = f"half of the feet or more ended away from their goals, {off.max():.2f} m at most"
    elif plan.solved and level.sum() * 2 <= len(names):
        trouble = f"only {int(level.sum())} of {len(names)} feet ended at the height of their goals"
    return Findings(metrics, trouble, (), [_table(plan)], _outlines(plan), footfall_pictures(plan))


def _table(plan: StancePlan) -> DataTable:
    rows: list[list[str | float | None]] = []
    names = plan.graph.model.chart.names
    for number, move in enumerate(plan.moves):
        place = plan.graph.footholds.points[move.after[move.leg]]
        rows.append([number + 1, names[move.leg], *(round(float(x), 3) for x in place), move.tries])
    return DataTable("Footfalls", ["move", "leg", "x [m]", "y [m]", "z [m]", "tries"], rows)


def _outlines(plan: StancePlan) -> list[Outline]:
    """A small square round every footfall."""
    size = 0.01
    square = np.array([[-size, -size, 0.002], [size, -size, 0.002], [size, size, 0.002], [-size, size, 0.002]])
    names = plan.graph.model.chart.names
    return [Outline(names[move.leg], plan.graph.footholds.points[move.after[move.leg]] + square) for move in plan.moves]
