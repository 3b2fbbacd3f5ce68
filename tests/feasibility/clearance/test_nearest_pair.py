"""The least distance is found from bounds, against measuring everything."""

from __future__ import annotations

import numpy as np
import pytest

import surefoot as sf
from surefoot.collision import ExactCollision
from surefoot.feasibility.clearance.collisions import nearest_pair


@pytest.mark.parametrize("seed", range(3))
def test_the_least_distance_is_that_of_all_postures_and_pairs(seed: int) -> None:
    robot, rng = sf.load("panda"), np.random.default_rng(seed)
    links = ["panda_link0", "panda_link1", "panda_link5", "panda_link7"]
    pairs = [("panda_link0", "panda_link5"), ("panda_link1", "panda_link7"), ("panda_link0", "panda_link7")]
    assert set(links) <= {item.link for item in robot.collisions}
    exact = ExactCollision(robot, pairs)
    q = np.clip(robot.home + rng.normal(0.0, 0.4, (40, robot.nq)), robot.limits.lower, robot.limits.upper)
    truth = exact.distances(q)
    bounds = truth - rng.uniform(0.0, 0.05, truth.shape)
    found = nearest_pair(exact, q, bounds, pairs, 10.0)
    assert found.bound_from == 10.0
    assert found.distance.min() == pytest.approx(truth.min())
    assert np.argmin(found.distance) == np.argmin(truth)
    assert (found.distance <= truth + 1e-12).all()


def test_what_is_farther_than_asked_for_is_a_bound() -> None:
    robot = sf.load("panda")
    pairs = [("panda_link0", "panda_link5")]
    exact = ExactCollision(robot, pairs)
    q = np.tile(robot.home, (3, 1))
    found = nearest_pair(exact, q, np.full((3, 1), 0.01), pairs, 0.05)
    assert exact.distances(q).min() > 0.05
    assert found.distance.min() >= found.bound_from == 0.05


def test_pairs_that_nobody_can_measure_leave_a_bound() -> None:
    robot = sf.load("panda")
    pairs = [("panda_link0", "panda_link5"), ("panda_link5", "heap")]
    exact = ExactCollision(robot, pairs[:1])
    found = nearest_pair(exact, np.tile(robot.home, (2, 1)), np.full((2, 2), 0.02), pairs, 0.05)
    assert found.distance.min() == found.bound_from == 0.02
