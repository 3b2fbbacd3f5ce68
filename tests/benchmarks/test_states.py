"""States repeat, are valid, and the end frames are on different limbs."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest

from surefoot.benchmarks.states import end_frames, random_states
from surefoot.robot.load import load


def test_the_same_seed_gives_the_same_states():
    robot = load("g1")
    first, again, other = (random_states(robot, 5, np.random.default_rng(seed)) for seed in (3, 3, 4))
    for name in ("q", "v", "a", "tau"):
        assert (getattr(first, name) == getattr(again, name)).all()
        assert (getattr(first, name) != getattr(other, name)).any()
    assert all(pin.isNormalized(robot.model, q, 1e-12) for q in first.q)
    assert first.of(("q", "tau"))[1] is first.tau
    assert len(first) == 5


@pytest.mark.parametrize("name", ["g1", "talos", "anymal", "hexapod"])
def test_end_frames_are_ends_of_different_limbs(name):
    robot = load(name)
    bodies = [robot.body_of(frame) for frame in end_frames(robot)]
    assert len(set(bodies)) == 4
    assert not set(bodies) & {int(parent) for parent in robot.tree.parents}


def test_hands_and_feet_of_a_humanoid():
    assert {x.split("_")[0] + x[-5:] for x in end_frames(load("g1"))} == {
        "left_hand", "right_hand", "left_link", "right_link",
    }  # fmt: skip


def test_small_robots_have_fewer():
    assert end_frames(load("pendulum")) == ("bob",)
    assert len(end_frames(load("coil:3"))) == 3
