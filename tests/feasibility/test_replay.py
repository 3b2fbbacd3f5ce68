"""Replay in MuJoCo: a squat survives, a lean over the toes does not."""

from __future__ import annotations

import numpy as np

from surefoot.feasibility import audit
from surefoot.geometry import Box
from surefoot.motion import Obstacle, Trajectory, World
from surefoot.robot import placement
from tests.feasibility.good_motions import loaded, squat


def test_a_squat_is_replayed_to_its_end() -> None:
    result = audit(squat("g1", 200.0, 2.0), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert result.replay.survived
    assert np.nanmax(result.replay.base_error) < 0.01
    assert result.replay.joint_error.max() < 0.02
    assert result.passed


def test_a_robot_that_leans_too_far_falls_and_the_time_is_told() -> None:
    result = audit(squat("g1", 200.0, 6.0, 0.08, 0.0, 0.13), loaded("g1"), collisions=False)
    assert result.replay is not None
    assert not result.replay.survived
    assert 0.5 < result.replay.until < 6.0
    assert not result.passed


def test_obstacles_that_are_hit_are_told() -> None:
    """An arm turns into a box that stands beside its hand."""
    robot = loaded("panda")
    time = np.linspace(0.0, 1.0, 101)
    q = np.tile(robot.home, (101, 1))
    q[:, 0] += 0.6 * np.sin(0.5 * np.pi * time) ** 2
    hand = robot.placements(q[70])["panda_hand"][:3, 3]
    box = Obstacle("box", Box((0.1, 0.1, 0.4)), placement(hand))
    motion = Trajectory.of(robot, time + 5.0, q)
    free, hit = (audit(motion, robot, World(ground=(), obstacles=things)).replay for things in ((), (box,)))
    assert free is not None
    assert "box" not in free.note
    assert hit is not None
    assert "and box from 5." in hit.note
