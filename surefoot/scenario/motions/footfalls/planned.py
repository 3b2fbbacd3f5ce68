"""`footfalls`: a plan of stances and of the motions between them, and how the run of it is judged."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np

from surefoot.arrays import Array
from surefoot.errors import NotSupportedError
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
    StanceSequence,
    TimedPlan,
    audit_plan,
    timed_plan,
)
from surefoot.planning.multimodal import MultiModalRoadmap, StanceRoadmap
from surefoot.report import DataTable, Outline
from surefoot.robot import Robot
from surefoot.scenario.findings import Findings
from surefoot.scenario.motions.footfalls.pictures import footfall_pictures, footfall_ways
from surefoot.scenario.motions.footfalls.stepping import Steps
from surefoot.scenario.motions.plan import Plan, plan_watcher
from surefoot.scenario.schema import OMPL_NAMES, PlannerTable

_OFF = 0.2  # of the reach of a leg: feet that are farther from their places in the plan are a reason for another
_ON_GOAL = 0.5  # of the reach of a leg: feet that end farther from their goals are not there


def footfalls(table: PlannerTable, robot: Robot, world: World, q: Array, seed: int) -> Plan:
    """Plan stances and motions; joints that begin elsewhere than at home have their home there.

    Args:
        table: What the scenario says.
        robot: A robot with legs.
        world: The world.
        q: (nq,) where it stands.
        seed: Of the random numbers.
    """
    began = time.process_time()
    robot = robot.replace(home=np.concatenate([robot.home[:7], q[7:]]))
    margins = Margins(
        table.clearance, table.balance, table.limits, swing_height=table.swing_height, exact=table.exact,
        resolution=table.resolution,
    )  # fmt: skip
    sampling = Sampling(pitch=table.pitch, edge=table.edge, bases=table.bases)
    limits = Limits(table.states, table.stances, Budget(table.evaluations), table.improve)
    with ExitStack() as stack:
        planner = StancePlanner(robot, world, margins, sampling, _single_mode(table.name, stack))
        planner.model.build()
        built = time.process_time()
        found = _found(table, planner, q, seed, limits)
        planned = time.process_time() + _elsewhere(planner)
    pace = Pace(table.rate, table.acceleration, profile=table.profile, torque=table.torque)
    # the way to a goal that is not reached ends at what is in the way: it is reported, not run
    timed = timed_plan(found if found.solved else replace(found, segments=[]), pace)
    audit = audit_plan(found)
    metrics = _metrics(planner, found) | {
        "planning_time_s": planned - built, "build_time_s": built - began, "plan_audit_passed": audit.passed,
        "plan_contact_error_m": audit.contact_error, "plan_balance_m": audit.balance,
        "plan_clearance_m": audit.clearance,
    }  # fmt: skip
    trouble = None if audit.passed else f"the plan does not pass its audit: {audit}"
    trouble = trouble if found.solved else f"not solved: {found.reason}"
    again = _again(planner, found, pace, seed, limits) if table.replan and found.solved else None
    steps = Steps(planner.model.chart, timed, again, _OFF * planner.reach)
    return Plan(
        timed.trajectory, metrics, trouble, (), lambda _, log: _judge(planner, found, log, steps), now=steps.now,
        files={"stances.json": found.sequence().save, "roadmap.npz": found.roadmap().save},
    )  # fmt: skip


def _found(table: PlannerTable, planner: StancePlanner, q: Array, seed: int, limits: Limits) -> StancePlan:
    """The plan by the search, the roadmaps or the stored stances that the table names."""
    other = "stances_file" if table.stances_file is not None else "search" if table.search == "roadmap" else ""
    if other and (table.region or table.improve or table.roadmap_file is not None):
        raise NotSupportedError(
            f"`planner.{other}` has neither goal regions nor improvement nor saved roadmaps",
            next_step='omit `region`, `improve` and `roadmap_file`, or search with search="best_first"',
        )
    if table.stances_file is not None:
        return planner.follow(StanceSequence.load(table.stances_file), seed, limits)
    if table.search == "roadmap":
        return MultiModalRoadmap(planner, q, table.goal, seed, limits).solve()
    known = None if table.roadmap_file is None else StanceRoadmap.load(table.roadmap_file)
    watcher = plan_watcher.get()
    found = planner.plan(
        q, table.goal, seed, limits, region=table.region, roadmap=known,
        progress=None if watcher is None else lambda plan, share: watcher(share, footfall_ways(plan)),
    )  # fmt: skip
    if watcher is not None:
        watcher(float(found.solved), footfall_ways(found))
    return found


def _again(
    planner: StancePlanner, plan: StancePlan, pace: Pace, seed: int, limits: Limits
) -> Callable[[Array], TimedPlan | None]:
    """From where the robot is to the footholds of the goal, by our own planner."""
    goal = plan.graph.feet(plan.goal)[planner.model.feet, :2]

    def again(q: Array) -> TimedPlan | None:
        _, state = planner.empty_plan(q, goal, np.random.default_rng(seed))
        here, margins = planner.model.chart.lift(state[None]), planner.model.margins
        reach, bounds = min(margins.reach, float(here.reach.min())), min(margins.limits, float(here.limits.min()))
        kept = replace(margins, reach=reach, limits=bounds)  # a push may leave legs stretched, or joints at their stops
        own = StancePlanner(planner.model.robot, planner.model.world, kept, planner.sampling)
        found = own.plan(q, goal, seed, limits)
        return timed_plan(found, pace) if found.solved else None

    return again


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
        "stances": plan.stances,
        "moves": len(plan.moves),
        "dropped_moves": plan.dropped,
        "explored_stances": len(plan.explored),
        "checked_states": statistics.states,
        "checked_edges": statistics.edges,
        "failure_causes": dict((+statistics.causes).most_common()),
        "motions_tried": tried,
        "motions_solved": solved,
        **{f"{stage}_time_s": used for stage, used in plan.seconds.items()},
    }


def _judge(planner: StancePlanner, plan: StancePlan, log: Log, steps: Steps) -> Findings:
    """Where the feet ended, and where they were to go."""
    rows = planner.model.feet
    ended = planner.model.chart.state_of(np.asarray(log["q"])[-1])[6:].reshape(-1, 3)[rows]
    goal = plan.graph.feet(plan.goal)[rows]
    off = np.linalg.norm(ended - goal, axis=1)
    metrics: dict[str, Any] = {"foot_error_mean_m": float(off.mean()), "foot_error_largest_m": float(off.max())}
    metrics["replanned_at_s"] = [round(t, 3) for t in steps.times]
    level = np.abs(ended[:, 2] - goal[:, 2]) < 0.01
    metrics["feet_at_goal_height"] = int(level.sum())
    trouble = None
    if plan.solved and (off > _ON_GOAL * planner.reach).sum() * 2 >= len(rows):
        trouble = f"half of the feet or more ended away from their goals, {off.max():.2f} m at most"
    elif plan.solved and level.sum() * 2 <= len(rows):
        trouble = f"only {int(level.sum())} of {len(rows)} feet ended at the height of their goals"
    return Findings(metrics, trouble, (), [_table(plan)], _outlines(plan), footfall_pictures(plan))


def _table(plan: StancePlan) -> DataTable:
    rows: list[list[str | float | None]] = []
    names = plan.graph.model.chart.names
    for number, move in enumerate(plan.moves):
        place = plan.graph.feet(move.after)[move.leg] - [0.0, 0.0, plan.graph.model.radii[move.leg]]
        if move.after[move.leg] >= 0:
            place = plan.graph.footholds.points[move.after[move.leg]]
        rows.append([number + 1, names[move.leg], *(round(float(x), 3) for x in place), move.tries])
    return DataTable("Footfalls", ["move", "leg", "x [m]", "y [m]", "z [m]", "tries"], rows)


def _outlines(plan: StancePlan) -> list[Outline]:
    """A small square round every footfall."""
    size = 0.01
    square = np.array([[-size, -size, 0.002], [size, -size, 0.002], [size, size, 0.002], [-size, size, 0.002]])
    names = plan.graph.model.chart.names
    return [
        Outline(names[move.leg], plan.graph.footholds.points[move.after[move.leg]] + square)
        for move in plan.moves
        if move.after[move.leg] >= 0
    ]
