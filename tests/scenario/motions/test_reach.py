"""Hands under a table: the plan keeps its promises, the run follows, and what cannot be is said."""

from __future__ import annotations

import json

import numpy as np
import pytest

import surefoot as sf
from surefoot.errors import NotSupportedError, UnknownNameError
from surefoot.motion import World
from surefoot.scenario import build_world
from surefoot.scenario.catalogue import overridden, read_scenario
from surefoot.scenario.motions import planner_of
from surefoot.scenario.run import run_scenario
from surefoot.scenario.schema import MotionTable


def table(**given: object) -> MotionTable:
    return MotionTable.model_validate({"kind": "reach", **given})


def test_a_small_humanoid_reaches_without_a_table() -> None:
    """Without meshes nothing is fitted: quick, and every promise of the plan can be looked at."""
    robot = sf.load("small-humanoid")
    hand = "left_grip"
    start = robot.placements(robot.home)[hand][:3, 3]
    goal = start + np.array([0.03, 0.01, 0.04])
    plan = planner_of("reach")(table(hands={hand: tuple(goal)}, duration=1.0, hold=0.3), robot, World())
    assert plan.trouble is None
    last = robot.placements(plan.trajectory.q[-1])
    assert np.linalg.norm(last[hand][:3, 3] - goal) < 2e-3
    before, after = robot.contact_corners(robot.home), robot.contact_corners(plan.trajectory.q[-1])
    assert all(np.abs(before[name] - after[name]).max() < 1e-3 for name in before)
    assert plan.metrics["support_margin_plan_m"] > 0.0
    assert plan.trajectory.v is not None
    assert np.abs(plan.trajectory.v).max() < 0.6


def test_what_cannot_be_reached_is_said() -> None:
    robot = sf.load("small-humanoid")
    plan = planner_of("reach")(table(hands={"left_grip": (2.0, 0.0, 0.3)}, duration=0.5, hold=0.1), robot, World())
    assert plan.trouble is not None
    assert "short of their targets" in plan.trouble


def test_odd_requests_are_refused() -> None:
    with pytest.raises(NotSupportedError):
        planner_of("reach")(table(hands={"tool0": (0.1, 0.0, 0.3)}), sf.load("ur5"), World())
    with pytest.raises(UnknownNameError):
        planner_of("reach")(table(hands={"third": (0.1, 0.0, 0.3)}), sf.load("small-humanoid"), World())


@pytest.mark.slow
def test_the_table_is_what_makes_it_hard() -> None:
    scenario = overridden(read_scenario("reach"), [])
    robot = sf.load("g1")
    plan = planner_of("reach")(scenario.motion, robot, build_world(scenario.world, robot))
    assert plan.trouble is None
    assert plan.metrics["gap_unaware_m"] < -0.01
    assert plan.metrics["gap_plan_m"] > 0.0


@pytest.mark.slow
def test_the_run_passes(tmp_path) -> None:
    result = run_scenario("reach", out=tmp_path / "run")
    assert result.passed, result.verdict
    metrics = json.loads((tmp_path / "run" / "metrics.json").read_text())
    assert metrics["hand_error_run_m"] < 0.01
    assert metrics["gap_run_m"] > 0.0
    assert metrics["slip_m"] < 0.002
