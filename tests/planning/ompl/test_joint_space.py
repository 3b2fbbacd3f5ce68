"""An arm among obstacles, planned by OMPL in its process with kernels of its own."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.collision import CollisionModel
from surefoot.errors import NotSupportedError
from surefoot.geometry import Box
from surefoot.ik.timing import effort_limits
from surefoot.motion import Obstacle
from surefoot.motion.timing import PathLimits, path_through, time_path
from surefoot.planning.ompl import OmplWorker, Query, joint_space
from surefoot.robot import placement

pytest.importorskip("ompl")


def test_an_arm_goes_around_a_box_and_its_motion_is_timed() -> None:
    robot = sf.load("arm4")
    start, goal = np.array([0.6, 0.3, 0.3, 0.2]), np.array([-0.6, -0.3, -0.3, -0.2])
    hand = robot.placements(np.array([0.0, 0.0, 0.0, 0.0]))[robot.link_names[-1]][:3, 3]
    world = sf.World(ground=(), obstacles=(Obstacle("box", Box((0.08, 0.4, 0.08)), placement(hand)),))
    model = CollisionModel(robot, world, margin=0.01)
    straight = start + np.linspace(0.0, 1.0, 200)[:, None] * (goal - start)
    assert np.any(model.in_collision(straight))
    bounds = np.maximum(robot.limits.lower, -2.5), np.minimum(robot.limits.upper, 2.5)
    with OmplWorker(joint_space, robot, world) as worker:
        plan = worker.plan(Query(start, goal, *bounds, planner="RRTConnect", seed=1, evaluations=20_000))
    assert plan.success
    shares = np.linspace(0.0, 1.0, 100)[:, None]
    dense = np.vstack([a + shares * (b - a) for a, b in zip(plan.path[:-1], plan.path[1:], strict=True)])
    assert not np.any(model.in_collision(dense, margin=0.009))
    # the same path with rounded corners, as fast as the drives allow
    timing = time_path(path_through(robot, plan.path, deviation=0.005), PathLimits(rows=[effort_limits(robot)]))
    assert timing.success
    assert not np.any(model.in_collision(timing.trajectory(0.01).q, margin=0.002))


def test_floating_bases_are_refused() -> None:
    with pytest.raises(NotSupportedError, match="vector space"):
        joint_space(sf.load("hexapod"))
