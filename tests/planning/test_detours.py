"""Ways round obstacles: wide enough, no longer than needed, and none where there is none."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

import surefoot as sf
from surefoot.geometry import Box
from surefoot.motion import Obstacle, World
from surefoot.planning import Limits, StancePlanner, audit_plan
from surefoot.planning.detours import Detours
from surefoot.robot import placement

START, GOAL, RADIUS, HEIGHT = np.zeros(2), np.array([0.0, 1.0]), 0.25, 0.1


def _box(width: float, height: float = 0.5, x: float = 0.0) -> Obstacle:
    return Obstacle(f"box at {x}", Box((width, 0.1, height)), placement((x, 0.5, 0.5 * height)))


def test_ways_keep_their_distance_and_are_short() -> None:
    detours = Detours(World(obstacles=(_box(0.6, x=0.1),)), START, GOAL, RADIUS, HEIGHT)
    assert detours.needed
    way = np.concatenate([[START], detours.corners(START)])
    np.testing.assert_array_equal(way[-1], GOAL)
    dense = np.concatenate([a + np.linspace(0.0, 1.0, 50)[:, None] * (b - a) for a, b in pairwise(way)])
    off = np.linalg.norm(np.maximum(np.abs(dense - [0.1, 0.5]) - [0.3, 0.05], 0.0), axis=1)
    assert off.min() > RADIUS - 0.05, "half a cell less, and the corners of a grid"
    assert dense[:, 0].min() < -0.4, "the side that is nearer"
    length = np.linalg.norm(np.diff(way, axis=0), axis=1).sum()
    assert 1.2 < length < 1.7
    for k in range(len(way) - 1):
        place, left = detours.next(way[k])
        rest = np.linalg.norm(np.diff(way[k + 1 :], axis=0), axis=1).sum()
        np.testing.assert_allclose(place, way[k + 1])
        assert left == pytest.approx(rest, rel=0.1, abs=0.06)
    blocked, _ = detours.next(np.array([0.1, 0.42]))
    assert np.linalg.norm(blocked - [0.1, 0.42]) > 0.1, "from among the obstacles to where it is free"


def test_no_way_round_is_looked_for_where_none_is_needed_or_known() -> None:
    for thing in (_box(0.3, 0.01), _box(8.0), _box(0.2, x=1.0), replace(_box(0.4), touchable=True)):
        assert not Detours(World(obstacles=(thing,)), START, GOAL, RADIUS, HEIGHT).needed


@pytest.mark.slow
@pytest.mark.parametrize("width", [0.1, 0.8])
def test_a_hexapod_goes_round_what_stands_in_its_way(width: float) -> None:
    robot = sf.load("hexapod")
    planner = StancePlanner(robot, World(obstacles=(_box(width),)))
    plan = planner.plan(np.array(robot.home), (0.0, 1.0, 0.0), limits=Limits(stances=150))
    assert plan.solved, plan.reason
    assert audit_plan(plan).passed
    middles = np.array([plan.graph.feet(move.after)[:, :2].mean(axis=0) for move in plan.moves])
    assert np.abs(middles[:, 0]).max() > 0.3
