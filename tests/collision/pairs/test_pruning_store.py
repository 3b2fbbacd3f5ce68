"""What was searched once is read, and what decides about it makes another key."""

import dataclasses

import numpy as np
import pytest

from surefoot.collision.pairs import pruning as pair_pruning
from surefoot.collision.pairs.pruning import PruningSettings, prune
from surefoot.collision.volumes.motion import VolumeMotion
from tests.collision.examples import capsules, robot_named


@pytest.fixture
def searches(tmp_path, monkeypatch):
    """A cache of its own, and a list that grows with every search."""
    monkeypatch.setenv("SUREFOOT_CACHE", str(tmp_path / "cache"))
    counted, search = [], pair_pruning._statistics
    monkeypatch.setattr(pair_pruning, "_statistics", lambda *given: counted.append(1) or search(*given))
    return counted


def volumes_of(robot):
    return VolumeMotion(robot, capsules(robot))


def test_the_second_time_is_read(searches):
    motion = volumes_of(robot_named("panda"))
    first = prune(motion)
    again = prune(volumes_of(robot_named("panda")))
    assert len(searches) == 1
    assert np.array_equal(first.pairs, again.pairs)
    assert first.reasons == again.reasons


@pytest.mark.parametrize("change", ["samples", "seed", "never_nearer", "near_home", "proof_boxes"])
def test_other_settings_are_another_search(searches, change):
    motion, plain = volumes_of(robot_named("panda")), PruningSettings(samples=64)
    prune(motion, settings=plain)
    prune(motion, settings=dataclasses.replace(plain, **{change: getattr(plain, change) + 1}))
    assert len(searches) == 2


def test_other_volumes_and_pairs_are_another_search(searches):
    robot, few = robot_named("panda"), PruningSettings(samples=64)
    whole = volumes_of(robot)
    prune(whole, settings=few)
    prune(VolumeMotion(robot, whole.volumes[:-1]), settings=few)
    prune(whole, ignored=[frozenset(("panda_link1", "panda_link5"))], settings=few)
    assert len(searches) == 3


def test_other_limits_and_another_home_are_another_search(searches):
    robot, few = robot_named("panda"), PruningSettings(samples=64)
    prune(volumes_of(robot), settings=few)
    narrow = dataclasses.replace(robot.limits, upper=0.9 * np.array(robot.limits.upper))
    for other in (
        dataclasses.replace(robot, limits=narrow),
        dataclasses.replace(robot, home=0.9 * np.array(robot.home)),
    ):
        prune(VolumeMotion(other, volumes_of(robot).volumes), settings=few)
    assert len(searches) == 3
