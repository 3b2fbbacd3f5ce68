"""A walk around obstacles that a push has brought elsewhere: planned anew, around them, within a budget."""

from __future__ import annotations

import numpy as np
import pytest

from surefoot.gait import ReplannedSteps, all_steps
from surefoot.gait.steps import BodyBox, Obstacles
from surefoot.geometry import Box
from surefoot.motion import Obstacle, World
from surefoot.robot import placement
from tests.gait.steps.walks import limits_of, require_lawful, robot_of, standing, step_at

NAME, GOAL = "g1", (3.0, 0.0, 0.0)
WALL = World(obstacles=[Obstacle("wall", Box((0.2, 3.0, 2.0)), placement((1.5, 0.6, 1.0)))])


def touches(source, support) -> bool:
    """Whether the body, or a sole, of the walk from a foot overlaps the wall."""
    limits, obstacles, steps = limits_of(NAME), Obstacles(WALL), all_steps(source, support)
    body = BodyBox.of(robot_of(NAME), limits)
    poses = np.array([[*step.position[:2], step.yaw] for step in (support, *steps)])
    middles = np.column_stack([0.5 * (poses[1:, :2] + poses[:-1, :2]), poses[1:, 2]])
    heights = np.zeros(len(middles))
    gaps = obstacles.sole_gaps(poses[1:], heights, limits), obstacles.body_gaps(middles, heights, body)
    return bool(min(gap.min() for gap in gaps) < 0.0)


@pytest.fixture
def source():
    return ReplannedSteps(robot_of(NAME), WALL, GOAL, standing(NAME), limits_of(NAME))


def test_a_foot_far_off_the_plan_goes_around_the_wall_again(source):
    plan, limits = source.plan, limits_of(NAME)
    pushed = step_at(limits.left, 0.8, 0.9, 0.0)  # in front of the middle of the wall
    assert plan.distance(pushed) > 0.5 * limits.forward
    assert touches(plan, pushed)  # straight back to the plan leads into the wall
    assert not touches(source, pushed)
    assert (source.replanned, source.failed) == (1, 0)
    steps = all_steps(source, pushed)
    require_lawful(limits, pushed, steps)
    assert source.plan is not plan
    assert source.replanned == 1  # the way from there on is the new plan
    middle = 0.5 * (steps[-1].position + steps[-2].position)
    np.testing.assert_allclose(middle[:2], GOAL[:2], atol=0.02)


def test_a_foot_near_the_plan_keeps_it(source):
    plan, limits = source.plan, limits_of(NAME)
    for step in plan.steps:
        x, y = step.position[:2]
        source.upcoming(0.0, step_at(step.foot, x + 0.3 * limits.forward, y, step.yaw), 4)
    assert source.plan is plan
    assert source.replanned == 0


def test_a_search_that_finds_no_way_leaves_the_plan_and_is_not_repeated(source):
    plan, limits = source.plan, limits_of(NAME)
    for shift in (0.0, 0.005):
        source.upcoming(0.0, step_at(limits.left, 1.5 + shift, 1.2, 0.0), 4)  # inside the wall
    assert (source.plan, source.replanned, source.failed) == (plan, 0, 1)
