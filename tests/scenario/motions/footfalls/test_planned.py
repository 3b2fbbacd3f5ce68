"""Plans of scenarios: what is reported where there is no way, and when a run has not arrived."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import surefoot as sf
from surefoot.geometry import Box
from surefoot.motion import Column, Log, Obstacle, World
from surefoot.planning import StancePlanner, StanceSequence, audit_plan, timed_plan
from surefoot.robot import placement
from surefoot.scenario.motions.footfalls import Steps, footfalls
from surefoot.scenario.motions.footfalls.planned import _judge
from surefoot.scenario.schema import PlannerTable

WALL = World(obstacles=(Obstacle("wall", Box((4.0, 0.4, 1.0)), placement((0.0, 0.6, 0.5))),))


def test_a_way_that_ends_at_a_wall_is_reported_but_not_run(tmp_path: Path) -> None:
    robot = sf.load("hexapod")
    plan = footfalls(PlannerTable(goal=[0.0, 0.5, 0.0], stances=15), robot, WALL, np.array(robot.home), 0)
    assert plan.trouble is not None
    assert "not solved" in plan.trouble
    metrics = plan.metrics
    assert not metrics["solved"]
    assert metrics["moves"] > 0
    assert metrics["stances"] == 2 * metrics["moves"] + 1
    assert metrics["plan_audit_passed"]
    assert metrics["plan_clearance_m"] >= 0.003
    plan.files["stances.json"](tmp_path / "stances.json")
    way = StanceSequence.load(tmp_path / "stances.json")
    assert len(way) == metrics["moves"]
    assert StancePlanner(robot, WALL).follow(way).solved, "the way to the nearest stance can be followed"
    np.testing.assert_allclose(plan.trajectory.q, plan.trajectory.q[:1].repeat(len(plan.trajectory.time), 0))


def test_a_robot_that_cannot_stand_where_it_begins_has_no_way() -> None:
    robot = sf.load("hexapod")
    for world, rise in ((World(), 0.3), (World(ground=()), 0.0)):
        q = np.array(robot.home)
        q[2] += rise
        plan = footfalls(PlannerTable(goal=[0.0, 0.5, 0.0]), robot, world, q, 0)
        assert "not solved" in (plan.trouble or "")
        assert plan.metrics["moves"] == 0
        np.testing.assert_allclose(plan.trajectory.q[-1], q, atol=1e-9)


@pytest.mark.parametrize(("share", "arrived"), [(0.45, True), (0.55, False)])
def test_feet_half_a_reach_off_have_not_arrived(share: float, arrived: bool) -> None:
    robot = sf.load("hexapod")
    planner = StancePlanner(robot, World())
    plan = planner.plan(np.array(robot.home), (0.0, 0.0, 0.0))
    ended = np.array(robot.home)
    ended[1] += share * planner.reach
    time, q = Column("time", "s", np.array([0.0, 1.0])), Column("q", "", np.array([robot.home, ended]))
    log = Log.of(time, q)
    found = _judge(planner, plan, log, Steps(planner.model.chart, timed_plan(plan), None, 0.1))
    assert found.metrics["foot_error_largest_m"] == pytest.approx(share * planner.reach)
    assert (found.trouble is None) == arrived


def test_a_plan_that_keeps_less_than_was_asked_does_not_pass() -> None:
    robot = sf.load("hexapod")
    planner = StancePlanner(robot, World())
    plan = planner.plan(np.array(robot.home), (0.0, 0.05, 0.0))
    audit = audit_plan(plan)
    assert audit.passed
    for name, room in (("balance", audit.balance), ("limits", audit.limits)):
        strict = replace(audit, asked=replace(audit.asked, **{name: room + 0.01}))
        assert not strict.passed
